"""A robot of joints with one coordinate each as flat arrays, the form the kernels of this room read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray, read_only
from steelyard.robot import Robot


class Arm(NamedTuple):
    r"""A tree of joints with one coordinate each.

    Each places its link at $R(q) = R_1 + \cos q\,R_c + \sin q\,R_s$, $p(q) = p_0 + q\,p_1$.

    Attributes:
        parent: index of the parent link, -1 for the base, shape (n,), dimensionless.
        moves: whether joint j moves link i, shape (n, n), dimensionless.
        rotations: R_1, R_c and R_s, shape (n, 3, 3, 3), dimensionless.
        offsets: p_0 and p_1, shape (n, 2, 3), m and dimensionless.
        axes: s, linear part first, shape (n, 6), dimensionless.
    """

    parent: IntArray
    moves: BoolArray
    rotations: Array
    offsets: Array
    axes: Array


def arm_of(robot: Robot) -> Arm:
    """The arrays of a robot.

    Args:
        robot: the robot.

    Returns:
        Its arrays, read-only.

    Raises:
        DescriptionError: a joint floats, is spherical or mimics another.
    """
    robot.require_arm()
    n = len(robot.joints)
    parent = np.array([joint.parent for joint in robot.joints], dtype=np.int64)
    moves = np.zeros((n, n), dtype=np.bool_)
    rotations, offsets, axes = np.zeros((n, 3, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 6))
    for i, joint in enumerate(robot.joints):
        R, u = joint.placement.rotation, joint.axis
        moves[i] = moves[joint.parent] if joint.parent >= 0 else False
        moves[i, i] = True
        offsets[i, 0] = joint.placement.translation
        if joint.kind.rotates:
            rotations[i] = R @ np.outer(u, u), R - R @ np.outer(u, u), R @ np.cross(np.eye(3), u)
            axes[i] = [*(joint.pitch * u), *u]
        else:
            rotations[i, 0] = R
            axes[i, :3] = u
        offsets[i, 1] = R @ axes[i, :3]
    return Arm(read_only(parent), read_only(moves), read_only(rotations), read_only(offsets), read_only(axes))
