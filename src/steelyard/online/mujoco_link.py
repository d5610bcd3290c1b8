"""A simulated robot behind a `Link`: MuJoCo's arm, with sensors as wrong as they are allowed to be."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.online.link import Reading
from steelyard.robot import Robot
from steelyard.simulate import Plant

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


class MuJoCoLink:
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

    def read(self) -> Reading:
        """The state, as its sensors show it."""
        now = self._count * self._cycle
        if self._wall_clock:
            if self._count == 0:
                self._start = time.monotonic()
            time.sleep(max(0.0, self._start + now - time.monotonic()))
        q, v, tau = self._plant.q, self._plant.v, self._tau
        if self._errors.pattern == "none":
            return Reading(now, q, v, tau)
        e_q, e_v, e_tau = self._drawn()
        dq, dv, a = self._bounds
        return Reading(
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
