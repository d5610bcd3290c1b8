"""The door to a robot: read its state, send torques, stop it; and a simulated robot behind it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.simulation import Plant

# What a driver of hardware must offer


class JointReading(NamedTuple):
    """What a robot says of itself at the start of a control cycle.

    Attributes:
        time: by the robot's clock, s.
        q: joint positions, shape (nv,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        tau: torques measured over the cycle that has just ended, shape (nv,), N·m or N.
    """

    time: float
    q: Array
    v: Array
    tau: Array


class RobotDriver(Protocol):
    """A robot that is driven by torques, cycle by cycle.

    One cycle is `read`, then `send`; both must return well within the cycle. Nothing else is asked of a
    driver, and nobody but the thread that drives calls it.
    """

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints, in the order of all its vectors."""
        ...

    @property
    def cycle(self) -> float:
        """Length of a control cycle, s."""
        ...

    def read(self) -> JointReading:
        """Wait for the next cycle and say where the robot is."""
        ...

    def send(self, tau: Array) -> None:
        """Command torques until the next cycle.

        Args:
            tau: torques, shape (nv,), N·m or N.
        """
        ...

    def stop(self) -> None:
        """Let the robot's own brakes stop it, now; it takes no torque afterwards."""
        ...


# A simulated robot behind a `RobotDriver`: MuJoCo's arm, with sensors as wrong as they are allowed to be.

PATTERNS = ("none", "even", "edge", "bias")
"""How sensors err within their bounds: not at all, evenly drawn, at either end, always at one end."""

_BLOCK = 256
"""Cycles whose errors are drawn at a time."""


@dataclass(frozen=True, eq=False)
class SensorErrors:
    """How far readings may be off.

    Attributes:
        torque_relative: share of the torque, dimensionless.
        torque_absolute: on top of it, shape () or (nv,), N·m or N.
        velocity: shape () or (nv,), rad/s or m/s.
        position: shape () or (nv,), rad or m.
        pattern: one of `PATTERNS`.
    """

    torque_relative: float = 0.0
    torque_absolute: ArrayLike = 0.0
    velocity: ArrayLike = 0.0
    position: ArrayLike = 0.0
    pattern: str = "even"

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise InputError(f"is none of {', '.join(PATTERNS)}: '{self.pattern}'.", place="pattern")


class MuJoCoDriver:
    """A simulated robot; time passes when a torque is sent.

    Args:
        robot: the true robot, with what it carries.
        q: where it stands, shape (nv,), rad or m.
        cycle: length of a control cycle, s.
        errors: of its sensors.
        rng: source of the sensors' errors; not needed without any.
        wall_clock: whether a cycle takes as long as it says, as on a robot.

    Raises:
        DescriptionError: the robot cannot be simulated.
    """

    def __init__(
        self,
        robot: Robot,
        q: ArrayLike,
        *,
        cycle: float,
        errors: SensorErrors | None = None,
        rng: np.random.Generator | None = None,
        wall_clock: bool = False,
    ) -> None:
        self._plant = Plant(robot)
        self._plant.place(checked("q", q, (robot.nv,)), np.zeros(robot.nv))
        self._cycle, self._errors, self._rng = float(cycle), errors or SensorErrors(pattern="none"), rng
        if self._errors.pattern != "none" and rng is None:
            raise InputError("are drawn, and nothing draws them.", place="errors", remedy="Give an rng.")
        self._bounds = tuple(
            np.broadcast_to(np.asarray(x, dtype=float), (robot.nv,))
            for x in (self._errors.position, self._errors.velocity, self._errors.torque_absolute)
        )
        self._signs = None if self._errors.pattern != "bias" or rng is None else _signs(rng, (3, robot.nv))
        self._count, self._tau, self._stopped = 0, np.zeros(robot.nv), False
        self._block = np.zeros((0, 3, robot.nv))
        self._states: list[tuple[Array, Array, Array]] = []
        self._wall_clock, self._start = wall_clock, 0.0

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self._plant.robot.joint_names

    @property
    def cycle(self) -> float:
        """Length of a control cycle, s."""
        return self._cycle

    @property
    def truth(self) -> tuple[Array, Array, Array]:
        """True q and v at the start of every cycle so far, and the torque over it, each shape (N, nv), SI."""
        columns = zip(*self._states, strict=True)
        q, v, tau = (read_only(np.array(column)) for column in columns)
        return q, v, tau

    def read(self) -> JointReading:
        """The state, as its sensors show it."""
        now = self._count * self._cycle
        if self._wall_clock:
            if self._count == 0:
                self._start = time.monotonic()
            time.sleep(max(0.0, self._start + now - time.monotonic()))
        q, v, tau = self._plant.q, self._plant.v, self._tau
        if self._errors.pattern == "none":
            return JointReading(now, q, v, tau)
        e_q, e_v, e_tau = self._drawn()
        dq, dv, a = self._bounds
        return JointReading(
            now, q + dq * e_q, v + dv * e_v, tau + (self._errors.torque_relative * np.abs(tau) + a) * e_tau
        )

    def send(self, tau: Array) -> None:
        """Move on by one cycle under a torque.

        Args:
            tau: torques, shape (nv,), N·m or N.

        Raises:
            NoSolutionError: the simulation diverged.
        """
        self._count += 1
        if self._stopped:
            return
        self._tau = np.array(tau)
        self._states.append((self._plant.q, self._plant.v, self._tau))
        self._plant.advance(self._tau, self._cycle)

    def stop(self) -> None:
        """Brake: the simulated brakes hold at once."""
        self._stopped, self._tau = True, np.zeros(len(self._tau))
        self._plant.place(self._plant.q, np.zeros(len(self._tau)))

    def becomes(self, robot: Robot) -> None:
        """Go on as another robot in the same state, as when a load is dropped.

        Args:
            robot: with the same joints.
        """
        q, v = self._plant.q, self._plant.v
        self._plant = Plant(robot)
        self._plant.place(q, v)

    def _drawn(self) -> Array:
        """Errors in parts of their bounds, of position, velocity and torque, shape (3, nv)."""
        if self._signs is not None:
            return self._signs
        assert self._rng is not None  # it was asked for
        row = self._count % _BLOCK
        if row == 0:
            shape = (_BLOCK, 3, len(self._tau))
            edge = self._errors.pattern == "edge"
            self._block = _signs(self._rng, shape) if edge else self._rng.uniform(-1.0, 1.0, shape)
        return np.asarray(self._block[row])


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(2.0 * rng.integers(0, 2, shape) - 1.0, dtype=np.float64)
