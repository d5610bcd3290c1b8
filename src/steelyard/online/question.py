"""What the slow side of the loop is asked, and what it answers; both travel between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from steelyard.arrays import Array
from steelyard.limits import Scene
from steelyard.motion import RecedingPlan
from steelyard.online.move import Move
from steelyard.recording import Recording
from steelyard.uncertainty import RecursiveBounds


class Question(NamedTuple):
    """What the slow side is asked at a change of plans.

    Attributes:
        knowledge: what is known of the load.
        recording: what was measured since then; None where there is nothing new.
        acceleration: what no joint exceeded meanwhile, shape (nv,), rad/s² or m/s².
        start: where the robot stands, shape (nv,), rad or m; or the plan that is driven now; None where no
            plan is wanted.
        scene: what stands around it; None where it is as before.
        seed: of the search.
    """

    knowledge: RecursiveBounds
    recording: Recording | None
    acceleration: Array
    start: Array | RecedingPlan | None
    scene: Scene | None
    seed: int


@dataclass(frozen=True, eq=False)
class Answer:
    """What the slow side found.

    Attributes:
        knowledge: what is known of the load now; None where the data contradicts all that was assumed.
        move: where to go next, under a law for the new knowledge; None where nothing was proven.
        reason: why there is no move or no knowledge; empty where there are.
        bounds_seconds: what the bounds took, s.
        plan_seconds: what plan and proof took, s.
        check_seconds: what the independent check of the proof took, s.
        refuted: whether a plan was found whose proof the check refused: a defect, not a lack of plans.
    """

    knowledge: RecursiveBounds | None
    move: Move | None
    reason: str
    bounds_seconds: float
    plan_seconds: float
    check_seconds: float = 0.0
    refuted: bool = False
