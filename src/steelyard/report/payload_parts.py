"""What a payload's page is made of: a number with its interval, another answer, a trial beside another."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.payload import DecidedBy


@dataclass(frozen=True)
class PayloadNumber:
    """One number of a payload.

    Attributes:
        name: one of `payload.QUANTITIES` or `inertia.PARAMETER_NAMES`.
        unit: its unit.
        value: the estimate, in its unit.
        lower: lower end of the 95 % interval, in its unit.
        upper: upper end, in its unit.
        decided: what decided it; None where that was not asked.
    """

    name: str
    unit: str
    value: float
    lower: float
    upper: float
    decided: DecidedBy | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InputError(f"ends at {self.upper} before it begins.", place=f"interval of {self.name}")

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the same unit."""
        return (self.upper - self.lower) / 2.0


@dataclass(frozen=True, eq=False)
class GainAnswer:
    """The payload as other drive gains give it.

    Attributes:
        name: whose gains they are.
        mass: kg.
        com: centre of mass in the payload's frame, shape (3,), m.
    """

    name: str
    mass: float
    com: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", read_only(checked("com", self.com, (3,))))


@dataclass(frozen=True)
class TrialOutcome:
    """How far the asset moved from another object in the same trial.

    Attributes:
        trial: what was done, such as `drop`.
        other: what it was compared with, such as `the true object`.
        seconds: how long both were watched, s.
        distance: largest distance of their frames' origins, m.
        angle: largest angle between their frames, rad.
        periods: time of a swing of the asset and of the other, s; None where nothing swings.
    """

    trial: str
    other: str
    seconds: float
    distance: float
    angle: float
    periods: tuple[float, float] | None = None
