"""What a run of a learning robot is made of, as a page tells it: moves, knowledge, events and times."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.finding import Severity


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    STOPPED = "stopped"
    BROKEN = "broken assumption"


class MoveKind(StrEnum):
    """What a robot does for a while."""

    PLAN = "plan"
    BRAKE = "brake"
    REST = "rest"


@dataclass(frozen=True)
class LeastMargin:
    """The least that was proven to be left of one kind of limit.

    Attributes:
        kind: of the limit, such as `torque` or `clearance`.
        name: of the joint, or of the pair that stays apart.
        margin: what is left at least, in `unit`.
        unit: of the margin.
    """

    kind: str
    name: str
    margin: float
    unit: str


@dataclass(frozen=True)
class OnlineMove:
    """What the robot did between two instants, and what was proven of it beforehand.

    Attributes:
        start: s.
        end: s.
        kind: what it was.
        condition: condition number of the payload's regressor along it; None where it was not looked at.
        seconds: what planning and proving took, s.
        refused: candidates that could not be certified before this one was.
        margins: the least that was proven to be left of each kind of limit; empty where nothing was.
    """

    start: float
    end: float
    kind: MoveKind
    condition: float | None = None
    seconds: float = 0.0
    refused: int = 0
    margins: tuple[LeastMargin, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.start <= self.end < np.inf:
            raise InputError(f"lasts from {self.start} to {self.end} s.", place="move")


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known of the payload from an instant on; arrays are read-only.

    Attributes:
        time: from when on, s.
        lower: lower bounds, minus infinity where there is none, shape (p,), SI.
        upper: upper bounds, infinity where there is none, shape (p,), SI.
        seconds: what finding the bounds took, s.
        rows: equations they were found from; 0 for what was known before.
    """

    time: float
    lower: Array
    upper: Array
    seconds: float = 0.0
    rows: int = 0

    def __post_init__(self) -> None:
        lower = checked("lower", self.lower, ("p",), finite=False)
        upper = checked("upper", self.upper, lower.shape, finite=False)
        # Written so that NaN is refused too.
        if not (lower <= upper).all():
            raise InputError("must not lie above the upper bounds.", place="knowledge, lower")
        object.__setattr__(self, "lower", read_only(lower))
        object.__setattr__(self, "upper", read_only(upper))


@dataclass(frozen=True)
class OnlineEvent:
    """Something worth telling that happened during a run.

    Attributes:
        time: when, s.
        severity: how much it matters.
        sentence: what happened.
    """

    time: float
    severity: Severity
    sentence: str


@dataclass(frozen=True)
class StepTime:
    """How long a repeated step took.

    Attributes:
        name: of the step, such as `plan and certify`.
        median: s.
        worst: s.
    """

    name: str
    median: float
    worst: float
