"""The judgement of a motion: what it is worth, and how far it stays from every limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.dynamics import inverse_dynamics
from steelyard.excitation.objective import Objective
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.ranges import ranges_of
from steelyard.identifiability import Criterion, score
from steelyard.motion import LinearMotion, extent

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
class Judgement:
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


def judge(objective: Objective, motion: LinearMotion) -> Judgement:
    """Judge a motion.

    Args:
        objective: of the problem.
        motion: of its family.

    Returns:
        The judgement.
    """
    problem = objective.problem
    information = objective.information(motion)
    groupings = problem.base.matrix
    value = score(problem.criterion, information, groupings=groupings).value
    variance = score(Criterion.A, information).value
    margins = _margins(problem, motion)
    spare = (1.0 - KEPT_DISTANCE) * max(problem.distance, 0.0)
    kept = min(margins[:4]) >= 0.0 and margins.clearance >= -spare
    return Judgement(
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
