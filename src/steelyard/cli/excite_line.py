"""From a wish to a motion with its certificate: what `steelyard excite` does, step by step."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.cli.excite_jerk import keep_jerk
from steelyard.cli.excite_posed import posed
from steelyard.cli.excite_primitives import chosen_primitives
from steelyard.cli.excite_progress import search_progress
from steelyard.cli.excite_proof import Designed, looked_again, proof_of
from steelyard.cli.excite_wish import Wish, require_known
from steelyard.cli.output import say
from steelyard.cli.robot_argument import given_robot
from steelyard.excitation import Budget, DesignProblem, design, fourier_family, judged_again, spline_family
from steelyard.identifiability import Criterion
from steelyard.limits import MotionLimits
from steelyard.motion import LinearMotion
from steelyard.recording import require_readable_logs
from steelyard.robot import Robot

__all__ = ["Designed", "Wish", "designed", "designed_for"]

ROOM, LEAST_ROOM = 1.3, 1e-3
"""How far apart the search keeps things, by the distance asked for, and beyond that, m."""


def designed(wish: Wish) -> Designed:
    """Pose the problem, search or choose, and prove."""
    require_known(wish)
    require_readable_logs(wish.after)
    robot = given_robot(
        wish.robot, wish.gravity, wish.lock, wish.tool_frame, arguments=wish.arguments, stated=wish
    )
    return chosen_primitives(robot, wish) if wish.family == "primitives" else designed_for(robot, wish)


def designed_for(robot: Robot, wish: Wish) -> Designed:
    """Search a family with coefficients, for a robot that is there already."""
    jerk = wish.largest_jerk(robot)
    asked = posed(robot, wish)
    limits = asked.limits
    problem = DesignProblem(
        robot=limits.robot,
        family=_family(wish, limits.robot),
        layout=asked.layout,
        base=asked.base,
        start=asked.start,
        criterion=Criterion(wish.criterion),
        recorded=asked.recorded,
        clearance=limits.clearance,
        distance=_sought_distance(limits, asked.start),
        acceleration="acceleration" not in wish.without,
        parameters=limits.parameters,
    )
    with search_progress(wish.criterion, wish.budget) as tell:
        budget = Budget(None if wish.rounds is not None else wish.budget, wish.rounds)
        found = design(problem, budget, np.random.default_rng(wish.seed), progress=tell)
    say(f"2  {found.rounds} local searches; {wish.criterion} {found.value:.4g}, cond {found.cond:.4g}")
    kept = keep_jerk(found.motion, robot, jerk)
    if kept.slower > 1.0:
        found = judged_again(problem, found, kept.motion)
        say(f"   {kept.findings[0]}")
        say(f"   {wish.criterion} {found.value:.4g}, cond {found.cond:.4g} of the slower motion")
    proof = proof_of(limits, kept.motion, wish)
    look = looked_again(limits, kept.motion, proof)
    told = (*asked.findings, *kept.findings)
    return Designed(wish, robot, found, kept, limits, proof, look, findings=told)


def _sought_distance(limits: MotionLimits, start: Array | None) -> float:
    """A little more than is asked for, so that the proof has room between the samples of the search."""
    more = ROOM * limits.distance + LEAST_ROOM
    if limits.clearance is None or start is None or not limits.clearance.pairs:
        return more
    at_start = float(limits.clearance.distances(start[None]).min())
    return max(limits.distance, min(more, 0.95 * at_start))


def _family(wish: Wish, robot: Robot) -> LinearMotion:
    if wish.family == "fourier":
        return fourier_family(robot, wish.harmonics, wish.period)
    return spline_family(robot, wish.pieces, wish.period)
