"""Joint positions that bring the grasp to a place, pointing down."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paper_000.arm import GRASP, arm
from steelyard.arrays import Array
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.errors import NoSolutionError
from steelyard.pose import Pose

ELBOW_UP = np.array([0.0, 0.45, np.pi, -1.75, 0.0, -0.95, np.pi])
"""The posture from which every pose is searched, turned about the base."""
_STEPS, _LONGEST, _REACHED = 200, 0.2, 1e-9


def pointing_down(place: ArrayLike, azimuth: float) -> Pose:
    """The grasp pointing down at a place, the handle across the direction of an azimuth.

    Args:
        place: of the grasp in the base frame, shape (3,), m.
        azimuth: about the base's z, rad.

    Returns:
        Its pose.
    """
    c, s = np.cos(azimuth), np.sin(azimuth)
    return Pose(np.array([[-c, -s, 0.0], [-s, c, 0.0], [0.0, 0.0, -1.0]]), np.asarray(place))


def joints_at(wanted: Pose, azimuth: float) -> Array:
    """Joint positions at which the grasp is where it is wanted, by Newton steps.

    What the pose leaves free stays near the posture of the start.

    Args:
        wanted: pose of the grasp in the base frame.
        azimuth: of the posture from which the search starts, rad.

    Returns:
        Joint positions, shape (nv,), rad.

    Raises:
        NoSolutionError: the search does not get there.
    """
    # Joint 1 turns against the base's z.
    start = ELBOW_UP - azimuth * np.eye(7)[0]
    q = start
    for _ in range(_STEPS):
        miss = pose_error(q, wanted)
        if np.abs(miss).max() < _REACHED:
            return np.asarray(q)
        J = frame_jacobian(arm(), q[None], GRASP)[0]
        back = np.linalg.pinv(J)
        step = back @ miss + 0.3 * (np.eye(7) - back @ J) @ (start - q)
        q = q + step * min(1.0, _LONGEST / np.linalg.norm(step))
    raise NoSolutionError(f"is not reached, {np.abs(miss).max():.3g} is missing.", place="wanted")


def pose_error(q: Array, wanted: Pose) -> Array:
    """How far the grasp is from a pose: the way to it, m, and the turn to it as a vector, rad, shape (6,).

    Args:
        q: joint positions, shape (nv,), rad.
        wanted: pose of the grasp in the base frame.

    Returns:
        Way and turn in the base frame, shape (6,), m and rad.
    """
    X = forward_kinematics(arm(), q[None], [GRASP])[0, 0]
    turn = Pose(wanted.rotation @ X[:3, :3].T, np.zeros(3)).quaternion
    sine = np.linalg.norm(turn[:3])
    angle = 2.0 * np.arctan2(sine, turn[3])
    vector = turn[:3] * (angle / sine if sine > 0.0 else 2.0)
    return np.concatenate([wanted.translation - X[:3, 3], vector])
