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
