"""Which robots can be enclosed, and their motion written out for joints that mimic others."""

from __future__ import annotations

from steelyard.enclosure.forms import Forms, MotionForms
from steelyard.errors import InputError, ShapeError
from steelyard.robot import Robot

MOST_CHILDREN = 32
"""Joints that one link may carry; the rounding bounds count on it, as a wrench is the sum of so many."""


def untied_positions(robot: Robot, q: Forms) -> Forms:
    """Check joint positions and write out those of joints that mimic others.

    Args:
        robot: the robot.
        q: joint positions, shape (K, nv), rad or m.

    Returns:
        Positions of every joint, shape (K, nb), rad or m.

    Raises:
        InputError: the robot cannot be enclosed, or the forms are not of its joints.
    """
    _check(robot, q)
    return q if robot.ties is None else q.mapped(robot.ties.positions, robot.ties.offset)


def untied_motion(robot: Robot, motion: MotionForms) -> MotionForms:
    """Check a motion and write out joints that mimic others.

    Args:
        robot: the robot.
        motion: forms, each shape (K, nv), SI.

    Returns:
        Forms of every joint, each shape (K, nb), SI.

    Raises:
        InputError: the robot cannot be enclosed, or the forms are not of its joints.
    """
    q = untied_positions(robot, motion.q)
    if robot.ties is None:
        return motion
    return MotionForms(q, motion.v.mapped(robot.ties.rates), motion.a.mapped(robot.ties.rates))


def _check(robot: Robot, q: Forms) -> None:
    for joint in robot.joints:
        if joint.kind.nv != 1:
            raise InputError(
                f"joint '{joint.name}' is {joint.kind.value}: only joints with one degree of freedom have "
                "forms.",
                place="robot",
                remedy="Fix the base, or lock the joint.",
            )
    parents = [joint.parent for joint in robot.joints]
    if max(map(parents.count, parents)) > MOST_CHILDREN:
        raise InputError(f"a link carries more than {MOST_CHILDREN} joints.", place="robot")
    if q.centre.ndim != 2 or q.centre.shape[1] != robot.nv:
        raise ShapeError(f"expected forms of shape (K, {robot.nv}), got {q.centre.shape}.", place="motion")
