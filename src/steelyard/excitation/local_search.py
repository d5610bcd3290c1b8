"""One local search: where it starts, the way to an optimum nearby, and the judgement of what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import NoSolutionError
from steelyard.excitation.interior_point import (
    Iterate,
    LinearLimits,
    linear_limits,
    minimise_within_limits,
)
from steelyard.excitation.objective import CONDITIONS, ClearanceBarrier, Objective, ObjectiveStage
from steelyard.excitation.problem import DesignProblem, Ranges, ranges_of
from steelyard.excitation.unknowns import Unknowns, unknowns_of
from steelyard.identifiable import Criterion, score
from steelyard.motion import LinearMotion, extent

# The judgement of a motion: what it is worth, and how far it stays from every limit.

FINER = 4
"""How many times finer than while searching clearance and torque are looked at."""
KEPT_DISTANCE = 0.8
"""Share of the required distance that must be kept between the samples of the search."""


class SmallestMargins(NamedTuple):
    """The smallest margin of each kind; infinite where nothing is limited or checked.

    Attributes:
        position: for all time, rad or m.
        velocity: for all time, rad/s or m/s.
        acceleration: for all time, rad/s² or m/s².
        torque: at samples, N·m or N.
        clearance: smallest distance less the required one, at samples, m.
    """

    position: float
    velocity: float
    acceleration: float = np.inf
    torque: float = np.inf
    clearance: float = np.inf


@dataclass(frozen=True, eq=False)
class MotionJudgement:
    """What a motion is worth.

    Attributes:
        value: of the problem's criterion, Coulomb friction with sign(v).
        cond: condition number of the base regressor, in SI units.
        cond_normalised: the same with columns of unit length.
        rms_deviation: root mean square of the base parameters' standard deviations at the problem's torque
            noise (of one unit where none is stated), in SI units.
        margins: how far it stays from every limit.
        kept: whether no margin is negative, a fifth of the required distance being allowed for what lies
            between the samples.
    """

    value: float
    cond: float
    cond_normalised: float
    rms_deviation: float
    margins: SmallestMargins
    kept: bool


def judge(objective: Objective, motion: LinearMotion) -> MotionJudgement:
    """Judge a motion.

    Args:
        objective: of the problem.
        motion: of its family.
    """
    problem = objective.problem
    information = objective.information(motion)
    groupings = problem.base.matrix
    value = score(problem.criterion, information, groupings=groupings).value
    variance = score(Criterion.A, information).value
    margins = _margins(problem, motion)
    spare = (1.0 - KEPT_DISTANCE) * max(problem.distance, 0.0)
    kept = min(margins[:4]) >= 0.0 and margins.clearance >= -spare
    return MotionJudgement(
        value,
        score(Criterion.COND, information).value,
        score(Criterion.COND_NORMALISED, information).value,
        float(np.sqrt(variance / problem.base.count)),
        margins,
        kept,
    )


def _margins(problem: DesignProblem, motion: LinearMotion) -> SmallestMargins:
    ranges, goes, robot = ranges_of(problem), extent(motion), problem.robot
    furthest = np.maximum(goes.upper - ranges.middle, ranges.middle - goes.lower)
    margins = SmallestMargins(
        position=float((ranges.reach - furthest).min()),
        velocity=float((ranges.velocity - goes.velocity).min()),
        acceleration=float((ranges.acceleration - goes.acceleration).min()),
    )
    samples = FINER * len(problem.clearance_times)
    at = motion.sample(np.linspace(0.0, motion.duration, samples + 1))
    if problem.parameters is not None:
        torque = inverse_dynamics(robot, problem.layout, problem.parameters, at.q, at.v, at.a)
        free = robot.limit_array("effort") - np.abs(torque).max(axis=0)
        margins = margins._replace(torque=float(free.min()))
    if problem.watched is not None:
        nearest = float(problem.watched.distances(at.q).min())
        margins = margins._replace(clearance=nearest - problem.distance)
    return margins


# From a start inside all limits to an optimum nearby, and its judgement

SHARPENING = (ObjectiveStage(4.0, 3e-4), ObjectiveStage(16.0, 3e-5), ObjectiveStage(32.0, 3e-6))
"""Stages for criteria with kinks."""
TIGHTENING = (ObjectiveStage(2.0, 3e-4), ObjectiveStage(2.0, 3e-6))
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
    judgement: MotionJudgement
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
        self.stages: tuple[ObjectiveStage, ...] = SHARPENING if kinks else TIGHTENING

    @cached_property
    def apart(self) -> ClearanceBarrier | None:
        """The barrier of the clearance, where that is checked."""
        if self.problem.watched is None:
            return None
        return ClearanceBarrier(self.problem, self.problem.watched, self.unknowns, self.ranges)

    def function(self, stage: ObjectiveStage) -> Callable[[Array], tuple[float, Array]]:
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
            minimise_within_limits(
                self.function(stage),
                self.limits,
                iterate,
                stage.barrier,
                tolerance=TOLERANCE,
                iterations=STEPS,
            )
        return Local(iterate.x, judge(self.objective, self.unknowns.motion(iterate.x)), iterate.evaluations)


# Where searches start: random motions inside all limits, and mixtures of good ones with random ones.

DRAWS = 12
"""Random motions of which the best is a start."""
SHRINKS = 25
"""How often a motion that is not allowed is made smaller before it is given up."""
MIXED = 0.03, 0.4
"""Smallest and largest share of a random motion in a mixture."""
POSES = 200
"""Random poses among which one is looked for that is clear of everything."""
ATTEMPTS = 20
"""Random motions that are tried before a problem is called infeasible."""


def fresh_start(searcher: Searcher, rng: np.random.Generator) -> Array:
    """The best of some random motions that are allowed.

    Args:
        searcher: of the problem.
        rng: source of the motions.

    Returns:
        Unknowns, shape (nv, n), dimensionless.

    Raises:
        NoSolutionError: none of the motions is allowed.
    """
    f = searcher.function(searcher.stages[0])
    best, least, allowed = None, np.inf, 0
    for draw in range(DRAWS + ATTEMPTS):
        if allowed >= DRAWS or (draw >= DRAWS and best is not None):
            break
        x = random_unknowns(searcher, rng)
        if x is not None:
            allowed += 1
            value = f(x)[0]
            if value < least:
                best, least = x, value
    if best is None:
        raise NoSolutionError(
            "no random motion, however small, keeps all limits and shows every column.",
            place=f"robot '{searcher.problem.robot.name}'",
            remedy="Widen the limits, give the motion more freedom, or ask about fewer parameters.",
        )
    return best


def random_unknowns(searcher: Searcher, rng: np.random.Generator) -> Array | None:
    """A random motion about the start, or about a random pose, as large as the limits allow.

    Args:
        searcher: of the problem.
        rng: source of the motion.

    Returns:
        Unknowns, shape (nv, n), dimensionless; None where even a tiny motion is not allowed.
    """
    still = np.zeros(searcher.unknowns.shape)
    if searcher.problem.start is None:
        still = searcher.unknowns.still(clear_pose(searcher.problem, searcher, rng))
    way = rng.standard_normal(searcher.unknowns.shape)
    way *= rng.uniform(0.6, 0.95) * room(searcher, still, way)[:, None]
    for _ in range(SHRINKS):
        if searcher.allows(still + way):
            return still + way
        way = 0.8 * way
    return None


def mixed_start(searcher: Searcher, elite: Sequence[Array], rng: np.random.Generator) -> Array | None:
    """A good motion on the way to a random one: a convex combination keeps the linear limits.

    Args:
        searcher: of the problem.
        elite: unknowns of good motions, best first, each shape (nv, n), dimensionless.
        rng: source of the choice.

    Returns:
        Unknowns, shape (nv, n), dimensionless; None where no mixture is allowed.
    """
    good = elite[min(int(rng.exponential(1.0)), len(elite) - 1)]
    other = random_unknowns(searcher, rng)
    share = float(np.exp(rng.uniform(*np.log(MIXED))))
    if other is None:
        return None
    for _ in range(SHRINKS):
        mixture = (1.0 - share) * good + share * other
        if searcher.allows(mixture):
            return mixture
        share *= 0.7
    return None


def room(searcher: Searcher, still: Array, way: Array) -> Array:
    """How far each joint can go until its first linear limit.

    Args:
        searcher: of the problem.
        still: unknowns inside the limits, shape (nv, n), dimensionless.
        way: change of them, shape (nv, n), dimensionless.

    Returns:
        Factors on the way, shape (nv,), dimensionless.
    """
    y, dy = searcher.limits.values(still), searcher.limits.change(way)
    return np.asarray(1.0 / np.maximum(dy / (1.0 - y), -dy / (1.0 + y)).max(axis=1))


def clear_pose(problem: DesignProblem, searcher: Searcher, rng: np.random.Generator) -> Array:
    """A random pose within the inner half of the ranges that is clear of everything.

    Args:
        problem: the question.
        searcher: of it.
        rng: source of the pose.

    Returns:
        q, shape (nv,), rad or m.

    Raises:
        NoSolutionError: none is; names the pair that is too near most often.
    """
    ranges = searcher.ranges
    if problem.watched is None:
        return ranges.middle + 0.5 * ranges.reach * rng.uniform(-1.0, 1.0, len(ranges.reach))
    poses = ranges.middle + 0.5 * ranges.reach * rng.uniform(-1.0, 1.0, (POSES, len(ranges.reach)))
    near = problem.watched.distances(poses) <= problem.distance
    clear = np.flatnonzero(~near.any(axis=1))
    if not clear.size:
        worst = int(near.sum(axis=0).argmax())
        raise NoSolutionError(
            f"none of {POSES} random poses keeps {problem.distance:g} m from everything.",
            place=problem.watched.pairs[worst].name,
            remedy="Move the obstacle or the tool, or let the pair touch.",
        )
    return np.asarray(poses[clear[0]])
