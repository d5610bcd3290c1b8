"""Joints with several axes as chains of one-axis joints, with frames that weigh nothing between them.

A planar joint is two slides and a turn, a universal joint two turns. Each axis then has a name, limits and a
drive of its own, its rate is the derivative of its coordinate, and everything that works for arms works for
it. The links in between are `virtual`: their ten parameters exist in the layout and are fixed at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import DescriptionError
from steelyard.pose import Pose
from steelyard.robot.joint import JointKind, Limits
from steelyard.robot.raw import RawJoint, RawLink

Chain = tuple[list[RawLink], list[RawJoint]]


def chained(joints: Sequence[RawJoint]) -> Chain:
    """Joints between the same two links, one after the other.

    Args:
        joints: from the parent outwards, all with the same parent and child; the placement of each is in the
            child frame of the one before.

    Returns:
        The virtual links between them, and the joints, tied to those.

    Raises:
        DescriptionError: the joints connect different links.
    """
    first, last = joints[0], joints[-1]
    for joint in joints:
        if (joint.parent, joint.child) != (first.parent, first.child):
            raise DescriptionError(
                f"joint '{joint.name}' connects other links than '{first.name}'.", place=joint.place
            )
    between = [RawLink(f"{first.child}/{j.name}", j.place, None, (), virtual=True) for j in joints[:-1]]
    names = [first.parent, *(link.name for link in between), last.child]
    return between, [
        replace(joint, parent=parent, child=child)
        for joint, parent, child in zip(joints, names, names[1:], strict=False)
    ]


def planar(joint: RawJoint) -> Chain:
    """A planar joint: slides along two directions across the joint's axis, then a turn about it.

    The directions are the joint frame's x and y where the axis is z; otherwise they are carried along by the
    smallest rotation that takes z to the axis.

    Args:
        joint: the joint; its axis is the normal of the plane, its drive sits at all three axes, and its
            limits are not used, since one pair of numbers cannot bound three coordinates.

    Returns:
        Two virtual links and the joints `<name>_x`, `<name>_y` and `<name>_angle`, without limits.
    """
    x, y = _across(joint.axis)
    free = replace(joint, limits=Limits())
    return chained(
        [
            replace(free, name=f"{joint.name}_x", kind=JointKind.PRISMATIC, axis=x),
            replace(
                free, name=f"{joint.name}_y", kind=JointKind.PRISMATIC, axis=y, placement=Pose.identity()
            ),
            replace(free, name=f"{joint.name}_angle", kind=JointKind.CONTINUOUS, placement=Pose.identity()),
        ]
    )


def _across(axis: Array) -> tuple[Array, Array]:
    """Where the smallest rotation from z to the axis takes x and y."""
    ax, ay, az = axis
    if az < -1.0 + 1e-12:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    x = np.array([1.0 - ax * ax / (1.0 + az), -ax * ay / (1.0 + az), -ax])
    y = np.array([-ax * ay / (1.0 + az), 1.0 - ay * ay / (1.0 + az), -ay])
    return x / np.linalg.norm(x), y / np.linalg.norm(y)
