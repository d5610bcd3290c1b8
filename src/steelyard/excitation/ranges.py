"""What every joint may do in a design: finite ranges, also where a description states none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.excitation.problem import DesignProblem
from steelyard.motion import UNLIMITED_SLIDE, UNLIMITED_TURN
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of the joints, about their middles.

    Attributes:
        middle: shape (nv,), rad or m.
        reach: half the range, shape (nv,), rad or m.
        velocity: limits, infinite where none is stated, shape (nv,), rad/s or m/s.
        acceleration: limits, infinite where none counts, shape (nv,), rad/s² or m/s².
        speed: a typical speed, finite, shape (nv,), rad/s or m/s.
    """

    middle: Array
    reach: Array
    velocity: Array
    acceleration: Array
    speed: Array


def ranges_of(problem: DesignProblem) -> Ranges:
    """Collect the ranges of a problem's joints.

    Args:
        problem: the question.

    Returns:
        The ranges.

    Raises:
        NoSolutionError: a joint cannot move at all, or the start is not strictly inside the limits.
    """
    robot = problem.robot
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    if problem.start is not None:
        _refuse_start_outside(robot, problem.start)
    far = np.array([UNLIMITED_TURN if joint.kind.rotates else UNLIMITED_SLIDE for joint in robot.joints])
    about = problem.start
    if about is None:
        about = np.where(np.isfinite(lower), lower + far, np.where(np.isfinite(upper), upper - far, 0.0))
    lower = np.where(np.isfinite(lower), lower, about - far)
    upper = np.where(np.isfinite(upper), upper, about + far)
    velocity = robot.limit_array("velocity")
    acceleration = robot.limit_array("acceleration")
    if not problem.acceleration:
        acceleration = np.full(robot.nv, np.inf)
    for j, joint in enumerate(robot.joints):
        if not (lower[j] < upper[j] and velocity[j] > 0.0 and acceleration[j] > 0.0):
            raise NoSolutionError(
                "its limits leave no motion.",
                place=f"joint '{joint.name}'",
                remedy="Lock it (--lock), or widen them (--limits).",
            )
    reach = 0.5 * (upper - lower)
    natural = 2.0 * math.pi / problem.family.duration * reach
    speed = np.minimum(velocity, 3.0 * natural)
    return Ranges(0.5 * (lower + upper), reach, velocity, acceleration, speed)


def _refuse_start_outside(robot: Robot, start: Array) -> None:
    for joint, q in zip(robot.joints, start, strict=True):
        low, high = joint.limits.lower, joint.limits.upper
        if not low < q < high:
            raise NoSolutionError(
                f"it starts at {q:.6g} {joint.position_unit}, which is not strictly inside its limits "
                f"[{low:.6g}, {high:.6g}].",
                place=f"joint '{joint.name}'",
                remedy="Start elsewhere, or leave the start free.",
                evidence={"joint": joint.name, "start": float(q), "lower": low, "upper": high},
            )
