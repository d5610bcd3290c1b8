"""What a motion is: named joints, a duration, and exact position, velocity and acceleration at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from steelyard.arrays import Array, read_only


@dataclass(frozen=True, eq=False)
class MotionSample:
    """A motion at chosen times.

    Attributes:
        q: joint positions, shape (N, nv), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².
    """

    q: Array
    v: Array
    a: Array

    def __post_init__(self) -> None:
        for name in ("q", "v", "a"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


class Motion(Protocol):
    """A reference for every joint over time; `v` and `a` are the exact derivatives of `q`."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it moves."""
        ...

    @property
    def duration(self) -> float:
        """How long it lasts, s; positive."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of its content."""
        ...

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it.

        Args:
            time: when, shape (N,), s; beyond the duration a periodic motion repeats and another one rests.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        ...


class SmoothMotion(Motion, Protocol):
    """A motion whose derivatives of every order are known and bounded, so that it can be enclosed."""

    @property
    def breaks(self) -> Array:
        """Times from 0 to the duration, increasing, shape (K + 1,), s.

        Between neighbours the motion is analytic and its Taylor series about the middle converges fast.
        """
        ...

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        ...

    def derivative_bounds(self, order: int) -> Array:
        """What the size of a derivative exceeds at no time between two breaks.

        Args:
            order: of the derivative.

        Returns:
            A bound for each piece, shape (K, nv), rad or m over the order's power of s.
        """
        ...
