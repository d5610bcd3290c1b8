"""Problems that cannot have a solution, told before anything is searched."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import NoSolutionError
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.ranges import ranges_of

TOOL = "tool"


def refuse_infeasible(problem: DesignProblem) -> None:
    """Refuse a problem whose start, limits or tool allow no motion.

    Args:
        problem: the question.

    Raises:
        NoSolutionError: says why, and names the joint or the pair of shapes.
    """
    ranges_of(problem)
    _refuse_blind(problem)
    _refuse_tool_inside(problem)
    if problem.start is not None:
        _refuse_start_too_near(problem, problem.start)
        _refuse_start_too_heavy(problem, problem.start)


def _refuse_blind(problem: DesignProblem) -> None:
    rows = len(problem.times) * problem.robot.nv
    if rows < problem.base.count and problem.recorded is None:
        raise NoSolutionError(
            f"{rows} equations at {len(problem.times)} samples cannot show {problem.base.count} parameters.",
            place="rate",
            remedy="Sample more often, or move for longer.",
        )


def _refuse_tool_inside(problem: DesignProblem) -> None:
    """A tool that overlaps the robot at rest was left out of the clearance; here that is no way to build."""
    for pair in () if problem.clearance is None else problem.clearance.excluded:
        if TOOL in pair.owners:
            raise NoSolutionError(
                "the tool is inside the robot, at rest or at every position looked at.",
                place=pair.name,
                remedy="Place it elsewhere (--tool-frame), check its unit (--tool-scale), or cut off its "
                "shape what lies inside the robot.",
            )


def _refuse_start_too_near(problem: DesignProblem, start: Array) -> None:
    if problem.watched is None:
        return
    distances = problem.watched.distances(start)[0]
    worst = int(distances.argmin())
    if distances[worst] <= problem.distance:
        away = f"{1e3 * distances[worst]:.3g} mm apart"
        if distances[worst] < 0.0:
            away = f"overlapping by {-1e3 * distances[worst]:.3g} mm"
        raise NoSolutionError(
            f"{away} at the start, where more than {1e3 * problem.distance:g} mm are required.",
            place=problem.watched.pairs[worst].name,
            remedy="Start elsewhere, leave the start free, or ask for a smaller distance.",
            evidence={"distance": float(distances[worst]), "required": problem.distance},
        )


def _refuse_start_too_heavy(problem: DesignProblem, start: Array) -> None:
    if problem.parameters is None:
        return
    rest = np.zeros(problem.robot.nv)
    torque = inverse_dynamics(
        problem.robot, problem.layout, problem.parameters, start[None], rest[None], rest[None]
    )[0]
    free = problem.torque_share * problem.robot.limit_array("effort") - np.abs(torque)
    worst = int(free.argmin())
    if free[worst] <= 0.0:
        joint = problem.robot.joints[worst]
        raise NoSolutionError(
            f"holding the start takes {abs(torque[worst]):.4g} {joint.effort_unit}, over "
            f"{100 * problem.torque_share:g} % of its limit of {joint.limits.effort:g} {joint.effort_unit}.",
            place=f"joint '{joint.name}'",
            remedy="Start elsewhere, or leave the start free.",
        )
