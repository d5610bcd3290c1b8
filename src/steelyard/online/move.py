"""What the fast side is given to drive: a plan, the law it was proven for, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.control import RobustTracking
from steelyard.motion import MotionSample, RecedingPlan
from steelyard.online.check_plan import PlanCheck
from steelyard.online.plan_certificate import PlanCertificate
from steelyard.uncertainty import PayloadBox


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
