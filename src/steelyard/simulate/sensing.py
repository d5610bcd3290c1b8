"""What the sensors of one run make of the truth, cycle by cycle."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.robot import Robot
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import Specimen, effort_limits


class JointSensors:
    """Encoder, differentiator and torque meter of every joint; remembers the last position and velocity.

    Args:
        preset: what the sensors are like.
        robot: the robot.
        specimen: what was drawn for this run.
        rng: source of the torque's noise; None where there is none.
    """

    def __init__(
        self, preset: SensorPreset, robot: Robot, specimen: Specimen, rng: np.random.Generator | None
    ) -> None:
        turning = np.array([joint.kind.rotates for joint in robot.joints])
        self._step = preset.encoder * np.where(turning, 1.0, preset.travel_per_radian)
        self._cycle = 1.0 / preset.rate
        self._lag = preset.velocity_lag
        self._specimen = specimen
        self._rng = rng
        L = effort_limits(robot, f"sensor preset '{preset.name}'") if preset.scaled else np.zeros(robot.nv)
        self._torque_step = preset.torque_quantum * L
        self._constant = L / preset.current_at_limit if preset.current_at_limit else None
        self._current_step = np.full(len(L), preset.current_quantum)
        self._last: tuple[Array, Array] | None = None

    def state(self, q: Array) -> tuple[Array, Array]:
        """Read the encoders, once per cycle.

        Args:
            q: true positions, shape (nv,), rad or m.

        Returns:
            Measured positions, shape (nv,), rad or m; and velocities, shape (nv,), rad/s or m/s.
        """
        at = rounded(q, self._step)
        if self._last is None:
            speed = np.zeros(len(at))
        else:
            before, v = self._last
            speed = (self._lag * v + at - before) / (self._lag + self._cycle)
        self._last = at, speed
        return at, speed

    def torque(self, tau: Array) -> tuple[Array, Array | None]:
        """Read the torque meter, once per cycle.

        Args:
            tau: what the drives believe to exert, shape (nv,), N·m or N.

        Returns:
            Measured torques, shape (nv,), N·m or N; and measured currents, shape (nv,), A, None without an
            ammeter.
        """
        seen = tau + self._specimen.bias
        if self._rng is not None and self._specimen.noise.any():
            seen = seen + self._specimen.noise * self._rng.standard_normal(len(tau))
        if self._constant is None:
            return rounded(seen, self._torque_step), None
        current = rounded(seen / self._constant, self._current_step)
        return self._constant * current, current


def rounded(x: Array, step: Array) -> Array:
    """The nearest multiple of a step; x itself where the step is zero.

    Args:
        x: values, shape (n,), SI.
        step: their steps, shape (n,), same units as x.

    Returns:
        Rounded values, shape (n,), same units as x.
    """
    coarse = step > 0.0
    size = np.where(coarse, step, 1.0)
    # Adding zero turns -0.0 into 0.0.
    return np.where(coarse, size * np.rint(x / size) + 0.0, x)
