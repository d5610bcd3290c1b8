"""From pose to pose: quintic connections between any two states, and pick-and-place through waypoints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.motion.fields import checked_seconds
from steelyard.motion.spline import SplineMotion, bezier


def quintic(
    joints: Sequence[str],
    duration: float,
    start: ArrayLike,
    end: ArrayLike,
    *,
    start_velocity: ArrayLike | None = None,
    start_acceleration: ArrayLike | None = None,
    end_velocity: ArrayLike | None = None,
    end_acceleration: ArrayLike | None = None,
    robot: str = "",
) -> SplineMotion:
    r"""The polynomial of degree 5 between two states; between two poses at rest it has the least jerk.

    With h = T/5, the outer control points of the Bezier curve are

    $$c_0 = q_0,\quad c_1 = c_0 + h v_0,\quad c_2 = 2 c_1 - c_0 + \tfrac{5}{4} h^2 a_0,$$

    and the same backwards from the end.

    Args:
        joints: names of the nv joints.
        duration: T, s.
        start: q at the start, shape (nv,), rad or m.
        end: q at the end, shape (nv,), rad or m.
        start_velocity: v at the start, shape (nv,), rad/s or m/s; None for zero.
        start_acceleration: a at the start, shape (nv,), rad/s² or m/s²; None for zero.
        end_velocity: v at the end, shape (nv,), rad/s or m/s; None for zero.
        end_acceleration: a at the end, shape (nv,), rad/s² or m/s²; None for zero.
        robot: digest of the robot it is made for.

    Returns:
        The motion, a Bezier curve.
    """
    h = checked_seconds("duration", duration) / 5.0
    nv = len(joints)
    given = {
        "start": start,
        "start_velocity": start_velocity,
        "start_acceleration": start_acceleration,
        "end": end,
        "end_velocity": end_velocity,
        "end_acceleration": end_acceleration,
    }
    q0, v0, a0, q1, v1, a1 = (
        np.zeros(nv) if value is None else checked(name, value, (nv,)) for name, value in given.items()
    )
    front = (q0, q0 + h * v0, q0 + 2.0 * h * v0 + 1.25 * h**2 * a0)
    back = (q1 - 2.0 * h * v1 + 1.25 * h**2 * a1, q1 - h * v1, q1)
    return bezier(joints, duration, np.stack((*front, *back), axis=1), robot=robot)


def pick_and_place(
    joints: Sequence[str],
    waypoints: ArrayLike,
    times: ArrayLike,
    *,
    degree: int = 5,
    robot: str = "",
) -> SplineMotion:
    """A spline through waypoints in joint space, at rest at the first and the last (paper 001, 4.4.2).

    The paper's polynomials are cubic. Rest, with zero velocity and acceleration at both ends, asks four
    conditions beyond the waypoints: the quintic spline has room for them, the cubic one gets two more breaks,
    in the middle of the first and of the last stretch. Acceleration is continuous in both.

    Args:
        joints: names of the nv joints.
        waypoints: poses to pass, two or more, shape (n, nv), rad or m.
        times: when, increasing, the first at 0, shape (n,), s.
        degree: 3 or 5.
        robot: digest of the robot it is made for.

    Returns:
        The motion.

    Raises:
        InputError: another degree, or times that do not increase from 0.
    """
    if degree not in (3, 5):
        raise InputError(f"must be 3 or 5, got {degree}.", place="degree")
    poses = checked("waypoints", waypoints, ("n", len(joints)))
    t = checked("times", times, (len(poses),))
    if len(t) < 2 or t[0] != 0.0 or (np.diff(t) <= 0.0).any():
        raise InputError("must be two or more, increase, and start at 0 s.", place="times")
    breaks = t if degree == 5 else _with_inner_breaks(t)
    shape = (len(joints), len(breaks) - 1 + degree)
    curve = SplineMotion(tuple(joints), breaks, np.zeros(shape), degree, robot)
    at, ends = curve.basis(t), curve.basis(t[[0, -1]])
    # The rows of velocity and acceleration are scaled to the size of those of position.
    conditions = np.vstack((at.q, ends.v * t[-1], ends.a * t[-1] ** 2))
    values = np.vstack((poses, np.zeros((4, len(joints)))))
    control = np.linalg.solve(conditions, values).T
    # A clamped spline is at rest exactly where its three outer control points are one.
    control[:, :3], control[:, -3:] = poses[0][:, None], poses[-1][:, None]
    return curve.with_coefficients(control)


def _with_inner_breaks(t: Array) -> Array:
    """The times with two more, (n + 2,), s."""
    if len(t) == 2:
        return np.linspace(0.0, t[1], 4)
    return np.unique(np.concatenate((t, [0.5 * (t[0] + t[1]), 0.5 * (t[-2] + t[-1])])))
