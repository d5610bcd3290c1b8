"""How much a joint's inertia changes with the pose of the arm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control.arm_law import described_model
from steelyard.dynamics import mass_matrix
from steelyard.robot import Robot


def inertia_range(robot: Robot, poses: ArrayLike) -> Array:
    r"""Least and most inertia that each joint shows at some poses, by the robot's description.

    What a joint's drive has to move is $1 / (M^{-1})_{jj}$ where all other joints give way, and $M_{jj}$
    where they are held; feedback on the others is between the two.

    Args:
        robot: the robot, with rotor inertias where they are known.
        poses: joint positions, shape (N, nv), rad or m.

    Returns:
        The least $1 / (M^{-1})_{jj}$ and the most $M_{jj}$ of each joint, shape (nv, 2), kg·m² or kg.

    Raises:
        DescriptionError: a link states no inertial.
    """
    robot.require_arm()
    layout, phi = described_model(robot)
    M = mass_matrix(robot, layout, phi, checked("poses", poses, ("N", robot.nv)))
    held = np.diagonal(M, axis1=1, axis2=2)
    # Equal for a joint that stands alone, where rounding must not put them out of order.
    free = np.minimum(1.0 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2), held)
    return np.stack([free.min(axis=0), held.max(axis=0)], axis=1)
