"""One local search: from a start inside all limits to an optimum nearby, and its judgement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array
from steelyard.excitation.apart import ApartBarrier
from steelyard.excitation.interior_point import Iterate, minimise
from steelyard.excitation.judgement import Judgement, judge
from steelyard.excitation.linear_limits import LinearLimits, linear_limits
from steelyard.excitation.objective import Objective, Stage
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.ranges import Ranges, ranges_of
from steelyard.excitation.surrogate import CONDITIONS
from steelyard.excitation.unknowns import Unknowns, unknowns_of
from steelyard.identifiability import Criterion

SHARPENING = (Stage(4.0, 3e-4), Stage(16.0, 3e-5), Stage(32.0, 3e-6))
"""Stages for criteria with kinks."""
TIGHTENING = (Stage(2.0, 3e-4), Stage(2.0, 3e-6))
"""Stages for criteria without, whose power does not matter."""
TOLERANCE = 1e-4
"""Relative gain that is worth another step."""
STEPS = 150
"""Most steps in a stage."""


@dataclass(frozen=True, eq=False)
class Local:
    """The end of a local search.

    Attributes:
        x: unknowns, shape (nv, n), dimensionless.
        judgement: of the motion.
        evaluations: of the objective and its gradient.
    """

    x: Array
    judgement: Judgement
    evaluations: int


class Searcher:
    """Everything a local search needs, made once for a problem.

    Attributes:
        problem: the question.
        ranges: of its joints.
        unknowns: what is moved.
        limits: linear ones, for all time.
        objective: the criterion.
        stages: of a search from scratch.
    """

    def __init__(self, problem: DesignProblem, code: str = "generic") -> None:
        self.problem = problem
        self.ranges: Ranges = ranges_of(problem)
        self.unknowns: Unknowns = unknowns_of(problem, self.ranges)
        self.limits: LinearLimits = linear_limits(self.unknowns, self.ranges)
        self.objective = Objective(problem, self.unknowns, code)
        kinks = problem.criterion in (*CONDITIONS, Criterion.E)
        self.stages: tuple[Stage, ...] = SHARPENING if kinks else TIGHTENING

    @cached_property
    def apart(self) -> ApartBarrier | None:
        """The barrier of the clearance, where that is checked."""
        if self.problem.watched is None:
            return None
        return ApartBarrier(self.problem, self.problem.watched, self.unknowns, self.ranges)

    def function(self, stage: Stage) -> Callable[[Array], tuple[float, Array]]:
        """What a stage minimises: the surrogate and the barriers of limits that are not linear.

        Args:
            stage: how sharp to look.

        Returns:
            A function from unknowns of shape (nv, n) to its value and gradient.
        """
        apart = self.apart
        if apart is None:
            return lambda x: self.objective.gradient(x, stage)

        def f(x: Array) -> tuple[float, Array]:
            near, push = apart.gradient(x)
            if not np.isfinite(near):
                return np.inf, push
            value, g = self.objective.gradient(x, stage)
            return value + stage.barrier * near, g + stage.barrier * push

        return f

    def allows(self, x: Array) -> bool:
        """Whether unknowns are strictly inside all limits, and their motion shows every column.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            True where a local search can start.
        """
        if np.abs(self.limits.values(x)).max() >= 1.0:
            return False
        return bool(np.isfinite(self.function(self.stages[0])(x)[0]))

    def search(self, x: Array, first_stage: int = 0) -> Local:
        """Search from a start.

        Args:
            x: unknowns that are allowed, shape (nv, n), dimensionless.
            first_stage: which stage to begin with.

        Returns:
            Where the search ends.
        """
        iterate = Iterate(x)
        for stage in self.stages[first_stage:]:
            minimise(
                self.function(stage),
                self.limits,
                iterate,
                stage.barrier,
                tolerance=TOLERANCE,
                iterations=STEPS,
            )
        return Local(iterate.x, judge(self.objective, self.unknowns.motion(iterate.x)), iterate.evaluations)
