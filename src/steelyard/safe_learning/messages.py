"""What executor and replanner tell each other: a move with its proof, a request for one, and the reply."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.control import RobustTracking
from steelyard.limits import Scene
from steelyard.motion import MotionSample, RecedingPlan
from steelyard.recording import Recording
from steelyard.safe_learning.checker import PlanCheck
from steelyard.safe_learning.planning.certificate import PlanCertificate
from steelyard.uncertainty import PayloadBox, RecursiveBounds

# What the fast side is given to drive: a plan, the law it was proven for, and the proof.


@dataclass(frozen=True, eq=False)
class Move:
    """A plan with its law and its proof; one is never driven without the others.

    Attributes:
        plan: where to go, and how to stop.
        load: what is taken for granted of the load.
        law: what computes the torques, for every such load.
        certificate: that the robot keeps every limit under this law, to the end of the stop.
        condition: number of the load's regressor along the plan, dimensionless; None for a stop.
        refused: plans that were found and could not be proven, in words.
        check: what the independent check of the certificate found to be left; None where it is still to come.
    """

    plan: RecedingPlan
    load: PayloadBox
    law: RobustTracking
    certificate: PlanCertificate
    condition: float | None = None
    refused: tuple[str, ...] = ()
    check: PlanCheck | None = None

    @cached_property
    def reference(self) -> MotionSample:
        """The plan at every cycle of its law, the end of the stop included."""
        cycle = self.law.cycle
        assert cycle is not None  # a setting makes laws for its own cycle
        count = round(self.plan.motion.duration / cycle)
        return self.plan.motion.sample(np.minimum(np.arange(count + 1) * cycle, self.plan.motion.duration))

    @property
    def switch_cycle(self) -> int:
        """The cycle at which the next plan takes over."""
        assert self.law.cycle is not None
        return round(self.plan.switch / self.law.cycle)


# What the slow side of the loop is asked, and what it answers; both travel between processes.


class PlanRequest(NamedTuple):
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
class PlanReply:
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
