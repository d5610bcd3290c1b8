"""What an identification phase leaves behind for the task that follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.motion import MotionSample


@dataclass(frozen=True, eq=False)
class Identified:
    """Bounds on the ten numbers of the end effector, and how they came about. Arrays are read-only.

    Attributes:
        lower: in the frame of the last link, shape (10,), SI.
        upper: shape (10,), SI.
        times: when the bounds changed, from the beginning of the phase, shape (k,), s.
        masses: lower end, middle and upper end of the mass from then on, shape (k, 3), kg.
        condition: 2-norm condition number of the momentum rows Y of the ten numbers.
        unsafe: what went wrong during the phase; empty where nothing did.
    """

    lower: Array
    upper: Array
    times: Array
    masses: Array
    condition: float
    unsafe: str = ""

    def __post_init__(self) -> None:
        k = len(checked("times", self.times, ("k",)))
        for name, shape in (("lower", (10,)), ("upper", (10,)), ("times", (k,)), ("masses", (k, 3))):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))

    @property
    def centre(self) -> Array:
        """Middle of the bounds, shape (10,), SI."""
        return np.asarray(0.5 * (self.lower + self.upper))

    @property
    def half_width(self) -> Array:
        """Half their width, shape (10,), SI."""
        return np.asarray(0.5 * (self.upper - self.lower))


@dataclass(frozen=True, eq=False)
class Phase:
    """An identification phase.

    Attributes:
        identified: what it found.
        reference: what was driven, at every cycle.
    """

    identified: Identified
    reference: MotionSample
