"""One question to a planner on its way to an answer: propose, certify, leave more room, start elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.limits import NotCertifiedError
from steelyard.motion import RecedingPlan, RecedingPlans
from steelyard.online.certify_plan import PlanCertifier
from steelyard.online.plan_certificate import PlanCertificate
from steelyard.online.plan_cost import FamilyCost, PlanCost
from steelyard.online.plan_margins import PlanMargins
from steelyard.online.plan_search import Clock, PlanSearch, Spent

DRAWS = 16
"""Starts drawn at a time, of which the most promising are searched from."""
NEAREST = 0.5
"""How far from a calm stop a start is at least, as a share of the way to one drawn evenly."""
STARTS = 6
"""Starts searched from before others are drawn."""
PROPOSALS = 4
"""Certificates asked for along one start, each after more room was left."""
FIRST_RESERVE = 0.03
"""Time kept for a certificate before one has been timed, s."""
IN_MOTION, AROUND_STEP = 0.5, 0.25
"""How much of the time between instants the room counts at first where plans start in motion (all of it where
they start at rest), and how much less where no plan leaves that room; see `PlanMargins.measure_room`. A plan
that goes on from another begins close to the limits that the other was driven to."""
GAIN = 1e-3
"""By how much a proposal must cost less than the best plan to be worth a certificate."""


@dataclass(frozen=True, eq=False)
class PlannedMove:
    """A plan that may be driven.

    Attributes:
        plan: the plan.
        certificate: the proof of all of it, its stop included.
        cost: what it was chosen by, dimensionless.
        seconds: wall time from question to answer, s.
        evaluations: plans that were looked at.
        tries: certificates that were asked for.
        refused: why some were refused, in the order of time.
    """

    plan: RecedingPlan
    certificate: PlanCertificate
    cost: float
    seconds: float
    evaluations: int
    tries: int
    refused: tuple[str, ...]


@dataclass(eq=False)
class Planning:
    """One question on its way to an answer.

    Attributes:
        certifier: what a plan must keep, and under which law.
        plans: the family to choose from.
        wanted: what it is chosen by.
        clock: how much may still be spent.
        best: the best plan so far, its certificate and its cost; None where there is none yet.
        tries: certificates that were asked for.
        refused: why some were refused.
        in_the_way: how often which limit was.
        reserve: time that a certificate may take, s.
        around: how much of the time between instants the room counts, dimensionless.
    """

    certifier: PlanCertifier
    plans: RecedingPlans
    wanted: PlanCost
    clock: Clock
    best: tuple[RecedingPlan, PlanCertificate, float] | None = None
    tries: int = 0
    refused: list[str] = field(default_factory=list)
    in_the_way: Counter[tuple[str, str]] = field(default_factory=Counter)
    reserve: float = FIRST_RESERVE
    around: float = 1.0

    def __post_init__(self) -> None:
        if self.plans.v.any():
            self.around = IN_MOTION
        self.cost: FamilyCost = self.wanted.of(self.plans)
        self.margins = PlanMargins.of(self.certifier, self.plans)

    def round(self, rng: np.random.Generator) -> None:
        """Search from the most promising of some starts.

        Args:
            rng: source of the starts.

        Raises:
            Spent: nothing is left of the budget.
        """
        calm = self._calm
        far = rng.uniform(-1.0, 1.0, (DRAWS, len(calm)))
        draws = calm + rng.uniform(NEAREST, 1.0, (DRAWS, 1)) * (far - calm)
        search = PlanSearch(self.cost, self.margins, self.clock, self.reserve)
        for start in search.screened(draws)[:STARTS]:
            self._along(search, start)

    @property
    def _calm(self) -> Array:
        """The parameter of a stop at even deceleration, about which plans ask for little torque."""
        plans = self.plans
        middle, half = 0.5 * (plans.lowest + plans.highest), 0.5 * (plans.highest - plans.lowest)
        end = plans.q + 0.5 * plans.duration * plans.v
        return np.clip((end - middle) / np.where(half > 0.0, half, 1.0), -1.0, 1.0)

    def _along(self, search: PlanSearch, start: Array) -> None:
        """Propose, certify, leave other room, and go on from there."""
        k = start
        self.margins.measure_room(k, self.around)
        for _ in range(PROPOSALS):
            search.reserve = self.reserve
            found = search.descend(k)
            k = found.parameter
            if not found.kept:
                self.in_the_way[self.margins.worst(k)] += 1
                if self.around == 0.0:
                    break
                self.around = self.around - AROUND_STEP
                self.margins.measure_room(k, self.around)
            elif self.best is not None and found.cost > self.best[2] - GAIN:
                break
            else:
                refusal = self.certified(k, found.cost)
                if refusal is None:
                    break
                self.margins.learn(refusal)
            if not self.clock.left(self.reserve):
                break
        if not self.clock.left(self.reserve):
            raise Spent

    def certified(self, k: Array, cost: float) -> NotCertifiedError | None:
        """Ask for a certificate, and keep the plan where it is given.

        Args:
            k: parameter of the plan, shape (nv,), dimensionless.
            cost: of the plan, dimensionless.

        Returns:
            Why it was refused; None where it was not.
        """
        plan = self.plans.plan(k)
        began = self.clock.seconds
        self.tries += 1
        try:
            certificate = self.certifier.certify(plan.motion)
        except NotCertifiedError as refusal:
            self.refused.append(
                f"{refusal.kind} of {refusal.name} at {refusal.instant:.3g} s lacks {-refusal.margin:.3g}"
            )
            self.in_the_way[refusal.kind, refusal.name] += 1
            return refusal
        finally:
            self.reserve = max(self.reserve, 1.2 * (self.clock.seconds - began))
        self.best = plan, certificate, cost
        return None

    def answer(self) -> PlannedMove:
        """The best plan.

        Returns:
            It, with its certificate.

        Raises:
            NoSolutionError: there is none; says what was in the way.
        """
        if self.best is None:
            raise self._nothing()
        plan, certificate, cost = self.best
        clock = self.clock
        return PlannedMove(
            plan, certificate, cost, clock.seconds, clock.spent, self.tries, tuple(self.refused)
        )

    def _nothing(self) -> NoSolutionError:
        clock = self.clock
        within = f"{clock.spent} evaluations" if clock.budget is None else f"{clock.budget:g} s"
        how = "no plan was looked at"
        if self.in_the_way:
            (kind, name), times = self.in_the_way.most_common(1)[0]
            how = f"the {kind} of {name} was in the way {times} of {self.in_the_way.total()} times"
        return NoSolutionError(
            f"no plan was certified within {within}: {how}.",
            place="plans",
            remedy="Brake; then allow more time, a shorter reach, a lighter load or a narrower tube.",
            evidence={
                "in the way": {f"{kind} of {name}": n for (kind, name), n in self.in_the_way.items()},
                "tries": self.tries,
                "refused": tuple(self.refused),
            },
        )
