"""What the sensors of one run make of the truth, cycle by cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.robot import Robot
from steelyard.simulate.readings import encoder_steps, torque_constants, torque_steps
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import Specimen


class Encoders(NamedTuple):
    """Encoder and differentiator of every joint in numbers, and what they showed last.

    Attributes:
        step: Δ, shape (nv,), rad or m; zero for an exact encoder.
        cycle: time between readings, s.
        lag: T of the differentiator, s.
        q: positions, shape (nv,), rad or m.
        v: velocities, shape (nv,), rad/s or m/s.
        readings: how many cycles were read, shape (1,), dimensionless.
    """

    step: Array
    cycle: float
    lag: float
    q: Array
    v: Array
    readings: IntArray


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
        nv = robot.nv
        self._noise = specimen.noise
        self._rng = rng
        self._bias = specimen.bias
        self._torque_step = torque_steps(preset, robot)
        self._constant = torque_constants(preset, robot)
        self._current_step = np.full(nv, preset.current_quantum)
        self.encoders = Encoders(
            encoder_steps(preset, robot),
            1.0 / preset.rate,
            preset.velocity_lag,
            np.zeros(nv),
            np.zeros(nv),
            np.zeros(1, dtype=np.int64),
        )
        """Encoders and differentiators as kernels see them."""

    def state(self, q: Array) -> tuple[Array, Array]:
        """Read the encoders, once per cycle.

        Args:
            q: true positions, shape (nv,), rad or m.

        Returns:
            Measured positions, shape (nv,), rad or m; and velocities, shape (nv,), rad/s or m/s.
        """
        read_state(self.encoders, np.array(q, dtype=float))
        return self.encoders.q.copy(), self.encoders.v.copy()

    def torque(self, tau: Array) -> tuple[Array, Array | None]:
        """Read the torque meter, once per cycle.

        Args:
            tau: what the drives believe to exert, shape (nv,), N·m or N.

        Returns:
            Measured torques, shape (nv,), N·m or N; and measured currents, shape (nv,), A, None without an
            ammeter.
        """
        noise = np.zeros(len(tau))
        if self._rng is not None and self._noise.any():
            noise = self._noise * self._rng.standard_normal(len(tau))
        return self.noisy_torque(tau, noise)

    def noisy_torque(self, tau: Array, noise: Array) -> tuple[Array, Array | None]:
        """Read the torque meter at one instant or at many, with a noise that is known.

        Args:
            tau: what the drives believe to exert, shape (..., nv), N·m or N.
            noise: of the meter, shape (..., nv), N·m or N.

        Returns:
            Measured torques, shape (..., nv), N·m or N; and measured currents, shape (..., nv), A, None
            without an ammeter.
        """
        seen = tau + self._bias + noise
        if self._constant is None:
            return rounded(seen, self._torque_step), None
        current = rounded(seen / self._constant, self._current_step)
        return self._constant * current, current


def rounded(x: Array, step: Array) -> Array:
    """The nearest multiple of a step; x itself where the step is zero.

    Args:
        x: values, shape (..., n), SI.
        step: their steps, shape (n,), same units as x.

    Returns:
        Rounded values, shape (..., n), same units as x.
    """
    coarse = step > 0.0
    size = np.where(coarse, step, 1.0)
    # Adding zero turns -0.0 into 0.0.
    return np.where(coarse, size * np.rint(x / size) + 0.0, x)


@kernel
def read_state(encoders: Encoders, q: Array) -> None:
    """Read encoders that stand at q: updates their positions and velocities."""
    started = encoders.readings[0] > 0
    for j in range(q.size):
        step = encoders.step[j]
        at = step * np.rint(q[j] / step) + 0.0 if step > 0.0 else q[j]
        if started:
            way = at - encoders.q[j]
            encoders.v[j] = (encoders.lag * encoders.v[j] + way) / (encoders.lag + encoders.cycle)
        encoders.q[j] = at
    encoders.readings[0] += 1
