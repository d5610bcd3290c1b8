"""What the sensors of one run make of the truth, cycle by cycle; play between a joint and its encoder."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.compiled import kernel
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.simulation.sensor import RobotSample, SensorPreset, effort_limits

# What a reading is worth: steps of encoders and meters, and the torque of an ampere.


def encoder_steps(preset: SensorPreset, robot: Robot) -> Array:
    """The step of every encoder.

    Returns:
        Steps, shape (nv,), rad or m; zero for exact encoders.
    """
    turning = np.array([joint.kind.rotates for joint in robot.joints])
    return preset.encoder * np.where(turning, 1.0, preset.travel_per_radian)


def torque_steps(preset: SensorPreset, robot: Robot) -> Array:
    """The quantum of every torque meter.

    Returns:
        Steps, shape (nv,), N·m or N; zero for exact meters.

    Raises:
        DescriptionError: the quantum is a share of an effort limit that a joint does not state.
    """
    if preset.torque_quantum == 0.0:
        return np.zeros(robot.nv)
    return preset.torque_quantum * effort_limits(robot, f"sensor preset '{preset.name}'")


def torque_per_ampere(preset: SensorPreset, robot: Robot) -> Array | None:
    """The torque that every drive takes an ampere for.

    Returns:
        K, shape (nv,), N·m/A or N/A; None where there is no ammeter.

    Raises:
        InputError: the preset states them for another number of joints.
        DescriptionError: they follow from an effort limit that a joint does not state.
    """
    if preset.torque_constants:
        stated = len(preset.torque_constants)
        if stated != robot.nv:
            raise InputError(
                f"states torque constants of {stated} joints, '{robot.name}' has {robot.nv}.",
                place=f"sensor preset '{preset.name}'",
                remedy="Choose a preset that scales with the robot, such as 'low-cost'.",
            )
        return np.array(preset.torque_constants)
    if preset.current_at_limit == 0.0:
        return None
    return effort_limits(robot, f"sensor preset '{preset.name}'") / preset.current_at_limit


# Play between a joint and its encoder.


class PlayGear:
    r"""An encoder that the joint drags along through a gear with play b.

    $$\theta \leftarrow \min\big(\max(\theta,\; q - b/2),\; q + b/2\big)$$

    The encoder rests while the joint crosses the gap, and follows at b/2 behind it afterwards: after each
    reversal the first b of the motion is not seen. This is the rate-independent play of the encoder's own
    gear, which is lightly loaded; the torque does not pass through it, so there is no impact and no free
    flight of the motor, and the arm's dynamics are those without play.

    Args:
        gap: b, shape (nv,), rad or m.
        q: where the joints stand, in the middle of their gaps, shape (nv,), rad or m.
    """

    def __init__(self, gap: Array, q: Array) -> None:
        self.half = 0.5 * gap
        """b/2, shape (nv,), rad or m."""
        self.position = np.array(q)
        """Where the encoders stand, updated in place, shape (nv,), rad or m."""

    def follow(self, q: Array) -> None:
        """Drag the encoders to where the joints now stand.

        Args:
            q: joint positions, shape (nv,), rad or m.
        """
        drag(self.position, np.array(q, dtype=float), self.half)


@kernel
def drag(encoder: Array, q: Array, half: Array) -> None:
    """Move encoders with the joints, at most half a gap behind them."""
    for j in range(q.size):
        encoder[j] = min(max(encoder[j], q[j] - half[j]), q[j] + half[j])


def checked_gap(robot: Robot, backlash: ArrayLike) -> Array:
    """The play of every joint's encoder, checked.

    Args:
        robot: the robot.
        backlash: b, one for all joints or one each, shape () or (nv,), rad or m.

    Returns:
        b, shape (nv,), rad or m.

    Raises:
        InputError: one is negative or not finite, or their number is wrong.
    """
    raw = np.asarray(backlash)
    gap = np.broadcast_to(checked("backlash", raw, () if raw.ndim == 0 else (robot.nv,)), (robot.nv,))
    if (gap < 0.0).any():
        j = int(np.argmax(gap < 0.0))
        joint = robot.joints[j]
        raise InputError(
            f"must not be negative, got {gap[j]:g} {joint.position_unit} at joint '{joint.name}'.",
            place="backlash",
        )
    return read_only(gap)


# The sensors of one run, cycle by cycle


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
        self, preset: SensorPreset, robot: Robot, specimen: RobotSample, rng: np.random.Generator | None
    ) -> None:
        nv = robot.nv
        self._noise = specimen.noise
        self._rng = rng
        self._bias = specimen.bias
        self._torque_step = torque_steps(preset, robot)
        self._constant = torque_per_ampere(preset, robot)
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
