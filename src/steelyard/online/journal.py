"""What is written down on the way: events, moves that were driven, and what was known when."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.finding import Severity
from steelyard.online.noted_move import NotedMove
from steelyard.uncertainty import PayloadBox


@dataclass(frozen=True)
class Event:
    """Something that happened on the way.

    Attributes:
        time: by the robot's clock, s.
        severity: how bad it is.
        sentence: what happened.
    """

    time: float
    severity: Severity
    sentence: str


PLAN, BRAKE = "plan", "brake"
"""What a driven move was."""


@dataclass(frozen=True, eq=False)
class DrivenMove:
    """A move and when it was driven.

    Attributes:
        move: the move.
        first: cycle at which it began.
        cycles: how many of its cycles were driven.
        offset: which of its own cycles was the first.
        stopped: whether it was driven to the end of its stop.
    """

    move: NotedMove
    first: int
    cycles: int
    offset: int = 0
    stopped: bool = False

    @property
    def kind(self) -> str:
        """`BRAKE` where it was driven to the end of its stop, otherwise `PLAN`."""
        return BRAKE if self.stopped else PLAN


@dataclass(frozen=True, eq=False)
class Known:
    """What was known of the load from some time on.

    Attributes:
        time: when it was found, by the robot's clock, s.
        box: what the load can be.
        rows: how many equations had been absorbed.
        bounds_seconds: what it took to find, s.
        plan_seconds: what the plan that came with it took, with its proof, s.
        check_seconds: what the independent check of that proof took, s.
    """

    time: float
    box: PayloadBox
    rows: int
    bounds_seconds: float = 0.0
    plan_seconds: float = 0.0
    check_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """What the whole answer took, s."""
        return self.bounds_seconds + self.plan_seconds + self.check_seconds
