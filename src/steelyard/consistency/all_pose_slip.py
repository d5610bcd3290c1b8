"""What the rounding of axes and rotations in a description can change, bounded from above.

Axes are of unit length and rotations orthogonal up to a rounding. The proofs are about the mechanism that has
them exactly, with the axes made unit and the rotations nearest to the stated ones; these bounds are zero
where the description is exact, as it is for right angles.
"""

from __future__ import annotations

import numpy as np

from steelyard.consistency.all_pose_forms import exact
from steelyard.robot import Joint


def unit_slip(joint: Joint) -> float:
    """How far the stated motion s may be from that of an axis of unit length, in norm.

    Args:
        joint: the joint.

    Returns:
        A bound, SI; zero where the axis is exact.
    """
    u = exact(joint.axis)
    return 1.01 * float(abs(u @ u - 1)) * (1.0 + abs(joint.pitch))


def link_slip(joint: Joint) -> float:
    """How far the form of one of the ten numbers may be from that of an axis of unit length, in norm.

    Args:
        joint: the joint that moves the link.

    Returns:
        A bound, SI; zero where the axis is exact.
    """
    # V = w + s v has a norm of at most 2 + |pitch| as a map of z, and no term's matrix exceeds one.
    return 4.0 * (2.0 + abs(joint.pitch)) * unit_slip(joint)


def rotation_slip(joint: Joint) -> float:
    """How far the stated rotation may be from a rotation, in norm.

    Args:
        joint: the joint.

    Returns:
        A bound, dimensionless; zero where the rotation is exact.
    """
    R = exact(joint.placement.rotation)
    off = R.T @ R - exact(np.eye(3))
    # The singular values s of R have |s - 1| <= |s² - 1|.
    return 1.01 * float(sum(abs(x) for x in off.ravel()))


def passing_slip(joint: Joint, parent: Joint) -> float:
    """How far a form that passes a joint may be from that of exact axes and rotations, in norm.

    Args:
        joint: the joint, whose form is written in the coordinates of its parent link.
        parent: the joint that moves the parent link.

    Returns:
        A bound, SI; zero where axes and rotations are exact.
    """
    reach = 1.0 + float(np.linalg.norm(joint.placement.translation))
    size = 1.0 + reach * (2.0 + abs(parent.pitch))
    change = reach * (2.0 + abs(parent.pitch)) * rotation_slip(joint) + reach * unit_slip(parent)
    return 8.0 * 1.01 * (2.0 * size + change) * change
