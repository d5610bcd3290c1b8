r"""Poses in which a tool is at a point and points down: damped least squares from many starts at once.

$$\Delta q = J^T (J J^T + \lambda^2 1)^{-1} e$$

with e the way to the point and, for arms that can choose, the turn that brings the tool's axis down.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.motion import UNLIMITED_SLIDE, UNLIMITED_TURN
from steelyard.robot import Robot

STARTS = 24
"""Random poses from which the search begins."""
POINTING = 5
"""Joints from which on an arm can be asked to point its tool down."""
DAMPING = 0.03
"""λ, m or dimensionless."""
CLOSE = 1e-4
"""Distance and turn at which a point counts as reached, m and rad."""
_STEPS, _LONGEST = 120, 0.2
_DOWN = np.array([0.0, 0.0, -1.0])


def joint_ranges(robot: Robot) -> tuple[Array, Array]:
    """Position limits, those that are not stated taken as half a turn or half a metre to either side.

    Args:
        robot: an arm.

    Returns:
        Lower and upper ends, each shape (nv,), rad or m.
    """
    reach = np.array([UNLIMITED_TURN if joint.kind.rotates else UNLIMITED_SLIDE for joint in robot.joints])
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    return np.where(np.isfinite(lower), lower, -reach), np.where(np.isfinite(upper), upper, reach)


def poses_at(robot: Robot, point: ArrayLike, rng: np.random.Generator) -> Array:
    """Find poses in which the tool's origin is at a point, its z axis straight down.

    Arms of fewer than five joints are asked for the point alone. Collisions are not looked at.

    Args:
        robot: an arm.
        point: in the base frame, shape (3,), m.
        rng: source of the poses to start from.

    Returns:
        Poses within the position limits, shape (n, nv), rad or m; none where the point was not reached.
    """
    target = checked("point", point, (3,))
    lower, upper = joint_ranges(robot)
    frame = robot.tool_frame.name
    rows = 6 if robot.nv >= POINTING else 3
    q: Array = rng.uniform(lower, upper, (STARTS, robot.nv))
    for _ in range(_STEPS):
        e = _way(robot, frame, q, target)[:, :rows]
        e *= np.minimum(1.0, _LONGEST / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), _LONGEST))
        J = frame_jacobian(robot, q, frame)[:, :rows]
        damped = J @ J.transpose(0, 2, 1) + DAMPING**2 * np.eye(rows)
        step = J.transpose(0, 2, 1) @ np.linalg.solve(damped, e[:, :, None])
        q = np.clip(q + step[:, :, 0], lower, upper)
    left = _way(robot, frame, q, target)
    reached = np.linalg.norm(left[:, :rows], axis=1) < CLOSE
    return np.asarray(q[reached])


def _way(robot: Robot, frame: str, q: Array, target: Array) -> Array:
    """What is left to go and to turn in each pose, shape (n, 6), m and rad."""
    X = forward_kinematics(robot, q, [frame])[:, 0]
    axis = X[:, :3, 2]
    turn = np.cross(axis, _DOWN)
    # Upside down the cross product vanishes too; any large turn about another axis leaves that pose.
    turn[axis[:, 2] > 0.0] /= np.maximum(np.linalg.norm(turn[axis[:, 2] > 0.0], axis=1, keepdims=True), 1e-3)
    turn[axis[:, 2] > 1.0 - 1e-6] = (1.0, 0.0, 0.0)
    return np.hstack([target - X[:, :3, 3], turn])
