"""The plan of least cost that is certified, found within a budget (Zhang et al. 2025, eqs. (28) and (29)).

Optimise, then certify: a local search over cheap sampled margins proposes a plan, the certifier proves it or
says what is missing, the margins give way and the search goes on; then it starts elsewhere. What is returned
is the best plan with a certificate, so no quality of the search is ever needed for safety.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.limits import NotCertifiedError
from steelyard.motion import RecedingPlan, RecedingPlans
from steelyard.safe_learning.planning.certificate import PlanCertificate
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.safe_learning.planning.cost import FamilyCost, PlanCost
from steelyard.safe_learning.planning.margins import PlanMargins

# The search for a plan of least cost within sampled margins, which may be stopped at any moment.

MOST_LOOKS = 15
"""Plans looked at in one descent; those that need more seldom come to anything."""
KEPT = 1e-4
"""How far a sampled limit may be missed, over its size, by a plan that is worth a certificate."""
_PRECISE = 1e-3
"""Change of the cost at which a descent ends."""


class Spent(Exception):  # noqa: N818 (a signal, not an error)
    """The budget is spent."""


@dataclass(eq=False)
class Clock:
    """How much a search may still spend; counted in evaluations it ends the same on every machine.

    Attributes:
        budget: wall time, s; None for no limit.
        evaluations: plans to look at; None for no limit.
        spent: plans looked at so far.
        began: reading of the clock at the start, s.
    """

    budget: float | None
    evaluations: int | None
    spent: int = 0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        if self.budget is None and self.evaluations is None:
            raise InputError("state a time, a number of evaluations, or both.", place="budget")
        if self.budget is not None and not self.budget > 0.0:
            raise InputError(f"must be positive, got {self.budget} s.", place="budget")
        if self.evaluations is not None and self.evaluations < 1:
            raise InputError(f"must be at least 1, got {self.evaluations}.", place="evaluations")
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time so far, s."""
        return time.perf_counter() - self.began

    def left(self, reserve: float = 0.0) -> bool:
        """Whether anything is left.

        Args:
            reserve: time that must be left over, s.

        Returns:
            Whether neither the time nor the evaluations are spent.
        """
        in_time = self.budget is None or self.seconds + reserve < self.budget
        return in_time and (self.evaluations is None or self.spent < self.evaluations)

    def spend(self, evaluations: int, reserve: float) -> None:
        """Count plans that are about to be looked at.

        Args:
            evaluations: how many.
            reserve: time that must be left over, s.

        Raises:
            Spent: nothing is left.
        """
        if not self.left(reserve):
            raise Spent
        self.spent += evaluations


class Descent(NamedTuple):
    """Where a descent has come to.

    Attributes:
        parameter: k, shape (nv,), dimensionless.
        cost: of the plan, dimensionless.
        missed: by how much a sampled limit is missed, `KEPT` where none is, dimensionless.
    """

    parameter: Array
    cost: float
    missed: float

    @property
    def kept(self) -> bool:
        """Whether the plan keeps every sampled limit."""
        return self.missed <= KEPT


@dataclass(eq=False)
class PlanSearch:
    """Descents from several starts over one family.

    Attributes:
        cost: what is to be small.
        margins: what is to stay positive.
        clock: what may be spent.
        reserve: time to be left over for a certificate, s.
    """

    cost: FamilyCost
    margins: PlanMargins
    clock: Clock
    reserve: float = 0.0

    def screened(self, draws: Array) -> Array:
        """Order starts: those that keep all limits by their cost, then the others by what they miss.

        Args:
            draws: k of each start, shape (K, nv), dimensionless.

        Returns:
            The same starts, the best first, shape (K, nv), dimensionless.

        Raises:
            Spent: nothing is left.
        """
        self.clock.spend(len(draws), self.reserve)
        missed = np.maximum(-self.margins.values(draws).min(axis=1), 0.0)
        return draws[np.lexsort((self.cost.values(draws), missed))]

    def descend(self, start: Array) -> Descent:
        """Go down from a start, which may miss limits.

        Args:
            start: k, shape (nv,), dimensionless.

        Returns:
            The best plan on the way that keeps every sampled limit, or else the one that misses least.
        """
        best = Descent(start, np.inf, np.inf)
        looks = 0
        memory: dict[bytes, tuple[float, Array]] = {}

        def looked_at(k: Array) -> tuple[float, Array]:
            nonlocal best, looks
            key = k.tobytes()
            if key not in memory:
                self.clock.spend(1, self.reserve)
                looks += 1
                if looks > MOST_LOOKS:
                    raise Spent
                inside = np.clip(k, -1.0, 1.0)[None]
                cost, margins = float(self.cost.values(inside)[0]), self.margins.values(inside)[0]
                here = Descent(inside[0], cost, max(-float(margins.min()), KEPT))
                if (here.missed, here.cost) < (best.missed, best.cost):
                    best = here
                memory.clear()
                memory[key] = cost, margins
            return memory[key]

        with suppress(Spent):
            minimize(
                lambda k: looked_at(k)[0],
                start,
                jac=self.cost.gradient,
                bounds=[(-1.0, 1.0)] * len(start),
                constraints={
                    "type": "ineq",
                    "fun": lambda k: looked_at(k)[1],
                    "jac": self.margins.slopes,
                },
                method="SLSQP",
                options={"maxiter": MOST_LOOKS, "ftol": _PRECISE},
            )
        return best


# One question to a planner on its way to an answer: propose, certify, leave more room, start elsewhere.

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
        """The first certified plan among evenly drawn ones: what Zhang et al. (2025) compare with.

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
