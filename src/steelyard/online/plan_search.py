"""The search for a plan of least cost within sampled margins, which may be stopped at any moment."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.online.plan_cost import FamilyCost
from steelyard.online.plan_margins import PlanMargins

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
