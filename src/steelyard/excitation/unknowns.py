"""Families of motions to choose from, and their unknowns: coefficients that meet the conditions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.excitation.problem import DesignProblem, Ranges
from steelyard.motion import FourierMotion, LinearMotion, SplineMotion
from steelyard.robot import Robot

# Families of motions to choose from, each by one of them that stands still, and where they start.

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


# The unknowns of a search: coefficients that meet the conditions, in comparable units.
#
# The coefficients of joint j are $c_j = \bar c_j + s_j D x_j$. Any x meets the linear conditions; a change of
# one in x is a change of about one in the joint's velocity over its limit, in the mean over time, so that a
# search needs no further scaling.

_POINTS = 400


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What a search moves.

    Attributes:
        family: any motion of the family.
        middle: coefficients at x = 0, standing still at the start or amid the ranges, shape (nv, k), SI.
        directions: D, shape (k, n), SI.
        scales: s, shape (nv,), rad/s or m/s.
    """

    family: LinearMotion
    middle: Array
    directions: Array
    scales: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Joints and unknowns of each."""
        return len(self.scales), self.directions.shape[1]

    def coefficients(self, x: Array) -> Array:
        """The coefficients of unknowns.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            c, shape (nv, k), SI.
        """
        return self.middle + self.scales[:, None] * (x @ self.directions.T)

    def still(self, pose: Array) -> Array:
        """The unknowns of standing still.

        Args:
            pose: q, shape (nv,), rad or m.

        Returns:
            x, shape (nv, n), dimensionless; the nearest there is, where the start is given.
        """
        c = standing(self.family, pose)
        apart = (c - self.middle) / self.scales[:, None]
        return np.asarray(np.linalg.lstsq(self.directions, apart.T, rcond=None)[0].T)

    def motion(self, x: Array) -> LinearMotion:
        """The motion of unknowns.

        Args:
            x: unknowns, shape (nv, n), dimensionless.
        """
        return self.family.with_coefficients(self.coefficients(x))


def unknowns_of(problem: DesignProblem, ranges: Ranges) -> Unknowns:
    """Choose the unknowns of a problem.

    Args:
        problem: the question.
        ranges: what its joints may do.
    """
    family, conditions = problem.family, problem.conditions
    Z = conditions.free_directions
    basis = family.basis(np.linspace(0.0, family.duration, _POINTS, endpoint=False))
    Q, V = basis.q @ Z, basis.v @ Z
    ratio = float(np.median(ranges.speed / ranges.reach))
    L = np.linalg.cholesky((V.T @ V + ratio**2 * Q.T @ Q) / _POINTS)
    pose = ranges.middle if problem.start is None else problem.start
    return Unknowns(family, standing(family, pose), np.linalg.solve(L, Z.T).T, ranges.speed)


def standing(family: LinearMotion, pose: Array) -> Array:
    """The coefficients of standing still: a series has its offset, a spline equal control points.

    Args:
        family: any motion of the family.
        pose: q, shape (nv,), rad or m.

    Returns:
        c, shape (nv, k), SI.
    """
    c = np.zeros_like(family.coefficients)
    if family.periodic:
        c[:, 0] = pose
    else:
        c[:] = pose[:, None]
    return c
