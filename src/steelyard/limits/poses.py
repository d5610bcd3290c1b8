"""Positions to look at before anything moves: the robot at rest, and a fixed set spread over its limits."""

from __future__ import annotations

import numpy as np
import scipy

from steelyard.arrays import Array
from steelyard.robot import Robot

WITHOUT_LIMIT = np.pi
"""How far to either side a joint without limit is looked at, rad or m."""


def rest_pose(robot: Robot) -> Array:
    """The position nearest to zero within the limits; joints with a quaternion are not turned.

    Args:
        robot: the robot.

    Returns:
        q, shape (nq,), rad or m.
    """
    q = []
    for joint in robot.joints:
        if joint.nq == 1:
            q.append([min(max(0.0, joint.limits.lower), joint.limits.upper)])
        elif joint.nq:
            q.append([0.0] * (joint.nq - 1) + [1.0])
    return np.concatenate(q)


def spread_poses(robot: Robot, count: int) -> Array:
    """Positions spread evenly over the limits (Halton's points); the same at every call.

    Args:
        robot: the robot.
        count: how many.

    Returns:
        q, shape (count, nq), rad or m.
    """
    unit = scipy.stats.qmc.Halton(robot.nq, scramble=False).random(count + 1)[1:]
    q = np.empty((count, robot.nq))
    at = 0
    for joint in robot.joints:
        own = unit[:, at : at + joint.nq]
        if joint.nq == 1:
            low, high = max(joint.limits.lower, -WITHOUT_LIMIT), min(joint.limits.upper, WITHOUT_LIMIT)
            q[:, at] = low + own[:, 0] * (high - low)
        elif joint.nq:
            q[:, at : at + joint.nq] = 2.0 * own - 1.0
            turn = scipy.special.ndtri(own[:, -4:])
            q[:, at + joint.nq - 4 : at + joint.nq] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        at += joint.nq
    return q
