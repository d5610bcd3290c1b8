"""The plan of least cost that is certified, found within a budget (paper 000, (28) and (29)).

Optimise, then certify: a local search over cheap sampled margins proposes a plan, the certifier proves it or
says what is missing, the margins give way and the search goes on; then it starts elsewhere. What is returned
is the best plan with a certificate, so no quality of the search is ever needed for safety.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from steelyard.motion import RecedingPlans
from steelyard.online.certify_plan import PlanCertifier
from steelyard.online.plan_cost import PlanCost
from steelyard.online.plan_search import Clock, Spent
from steelyard.online.planning import PlannedMove, Planning

BUDGET = 0.3
"""Wall time of a plan, s."""
LAST_STEP = 0.02
"""What a step that was begun in time may still take, s."""
_OUTWARD = 1.0 + 1e-9
"""Room for the rounding of a certificate."""


@dataclass(frozen=True, eq=False)
class Planner:
    """Chooses plans; it keeps no state between them.

    Attributes:
        certifier: what a plan must keep, and under which law.
        cost: what it is chosen by.
    """

    certifier: PlanCertifier
    cost: PlanCost

    def best(
        self,
        plans: RecedingPlans,
        rng: np.random.Generator,
        *,
        budget: float | None = BUDGET,
        evaluations: int | None = None,
    ) -> PlannedMove:
        """The plan of least cost that could be certified in time.

        Args:
            plans: the family to choose from.
            rng: source of the starts.
            budget: wall time, s; None where evaluations alone are counted, so that the answer is the same on
                every machine.
            evaluations: most plans to look at; None for as many as there is time for.

        Returns:
            The plan with its certificate.

        Raises:
            NoSolutionError: none was certified; says which limit was in the way most often.
            InputError: neither a time nor a number of evaluations was stated, or the cost does not fit.
        """
        work = Planning(self.certifier, self.kept(plans), self.cost, Clock(_searching(budget), evaluations))
        with suppress(Spent):
            while True:
                work.round(rng)
        return work.answer()

    def random(
        self,
        plans: RecedingPlans,
        rng: np.random.Generator,
        *,
        budget: float | None = BUDGET,
        evaluations: int | None = None,
    ) -> PlannedMove:
        """The first certified plan among evenly drawn ones: what paper 000 compares with.

        Args:
            plans: the family to choose from.
            rng: source of the draws.
            budget: wall time, s; None where evaluations alone are counted.
            evaluations: most plans to draw; None for as many as there is time for.

        Returns:
            The plan with its certificate.

        Raises:
            NoSolutionError: none was certified; says which limit was in the way most often.
            InputError: neither a time nor a number of evaluations was stated, or the cost does not fit.
        """
        work = Planning(self.certifier, self.kept(plans), self.cost, Clock(_searching(budget), evaluations))
        while work.best is None and work.clock.left(work.reserve):
            work.clock.spent += 1
            k = rng.uniform(-1.0, 1.0, len(plans.joints))
            work.certified(k, float(work.cost.values(k[None])[0]))
        return work.answer()

    def kept(self, plans: RecedingPlans) -> RecedingPlans:
        """The plans that keep position, velocity and acceleration in the whole tube.

        Args:
            plans: the family.

        Returns:
            The same with fewer ends.

        Raises:
            NoSolutionError: no stop keeps a joint's limits; says which.
        """
        robot, tube = self.certifier.limits.robot, self.certifier.tube
        lower, upper, velocity, acceleration = (
            robot.limit_array(name) for name in ("lower", "upper", "velocity", "acceleration")
        )
        return plans.within(
            lower + _OUTWARD * tube.position,
            upper - _OUTWARD * tube.position,
            velocity - _OUTWARD * tube.velocity,
            acceleration * (2.0 - _OUTWARD),
        )


def _searching(budget: float | None) -> float | None:
    """The part of a budget after which no step is begun."""
    return None if budget is None else max(budget - LAST_STEP, 0.5 * budget)
