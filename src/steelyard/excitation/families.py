"""Families of motions to choose from, each by one of them that stands still, and where they start."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.motion import FourierMotion, SplineMotion
from steelyard.robot import Robot

INSIDE = 0.1
"""Share of a joint's range by which home stays inside its limits."""


def fourier_family(robot: Robot, harmonics: int = 5, period: float = 10.0) -> FourierMotion:
    """All Fourier series of a robot's joints, by one that stands still.

    Args:
        robot: the robot.
        harmonics: L, at least 2; with one, rest leaves no motion.
        period: T, s.

    Returns:
        The series with all coefficients zero.

    Raises:
        InputError: there are too few harmonics.
    """
    if harmonics < 2:
        raise InputError(
            f"a motion that starts at rest needs at least 2, got {harmonics}.", place="harmonics"
        )
    zeros = np.zeros((robot.nv, harmonics))
    return FourierMotion(robot.joint_names, period, np.zeros(robot.nv), zeros, zeros, robot=robot.digest)


def spline_family(robot: Robot, pieces: int = 12, duration: float = 10.0, degree: int = 5) -> SplineMotion:
    """All splines of a robot's joints with equal pieces, by one that stands still.

    Args:
        robot: the robot.
        pieces: how many polynomials follow each other.
        duration: s.
        degree: of the polynomials.

    Returns:
        The spline with all control points zero.
    """
    breaks = np.linspace(0.0, duration, pieces + 1)
    control = np.zeros((robot.nv, pieces + degree))
    return SplineMotion(robot.joint_names, breaks, control, degree, robot=robot.digest)


def home(robot: Robot) -> Array:
    """The pose nearest to zero that lies a tenth of every joint's range inside its limits.

    Args:
        robot: an arm.

    Returns:
        q, shape (nv,), rad or m.
    """
    robot.require_arm()
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    inside = np.where(np.isfinite(upper - lower), INSIDE * (upper - lower), 0.0)
    return np.asarray(np.clip(0.0, lower + inside, upper - inside))
