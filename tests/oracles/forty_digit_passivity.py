"""The torque of a passivity-based law and the curve it follows in forty digits, as textbooks state them.

Torques of the velocities are a quadratic form of them; `C(q, v) v_a` is its polar form, so every product of
two velocities stands here as half the sum of its two mixed ones.
"""

from __future__ import annotations

import mpmath
import numpy as np

from enclosure.forty_digits import Vector, exact, poses
from steelyard.robot import Robot


def reference_torques(
    robot: Robot, bodies: np.ndarray, q: Vector, v: Vector, v_a: Vector, a_a: Vector
) -> np.ndarray:
    """H a_a + C(q, v) v_a + g for turning joints, one row of torques for each set of bodies (S, nb, 10)."""
    where, motions = poses(robot, q), []
    nothing, g = exact(np.zeros(3)), exact(robot.gravity)
    half = mpmath.mpf(1) / 2
    work = exact(np.zeros((len(bodies), robot.nv)))
    inertias = exact(bodies)
    for i, joint in enumerate(robot.joints):
        R, p, axis = where[i]
        if joint.parent < 0:
            p_0, w_0, u_0, b_0, d_0 = (nothing,) * 5
        else:
            p_0, (w_0, u_0, b_0, d_0) = where[joint.parent][1], motions[joint.parent]
        arm, o, o_a = p - p_0, axis * v[i], axis * v_a[i]
        w, u = w_0 + o, u_0 + o_a
        b = b_0 + (cross(w_0, o_a) + cross(u_0, o)) * half + axis * a_a[i]
        d = d_0 + cross(b_0, arm) + (cross(w_0, cross(u_0, arm)) + cross(u_0, cross(w_0, arm))) * half
        motions.append((w, u, b, d))
        for s in range(len(bodies)):
            m, h = inertias[s, i, 0], R @ inertias[s, i, 1:4]
            xx, xy, yy, xz, yz, zz = inertias[s, i, 4:]
            J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object) @ R.T
            force = (d - g) * m + cross(b, h) + (cross(w, cross(u, h)) + cross(u, cross(w, h))) * half
            moment = cross(h, d - g) + J @ b + (cross(w, J @ u) + cross(u, J @ w)) * half
            k = i
            while k >= 0:
                work[s, k] += where[k][2] @ (moment + cross(p - where[k][1], force))
                k = robot.joints[k].parent
    return work


def cross(x: Vector, y: Vector) -> Vector:
    """The product of two vectors, each (3,)."""
    return np.array(
        [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]], dtype=object
    )


def bezier_derivative(control: np.ndarray, duration: float, t: mpmath.mpf, order: int) -> Vector:
    """A derivative of a Bezier curve with control points (nv, n + 1), by Bernstein's polynomials."""
    c, T = exact(control), mpmath.mpf(duration)
    for _ in range(order):
        c = (c[:, 1:] - c[:, :-1]) * ((c.shape[1] - 1) / T)
    n, s = c.shape[1] - 1, t / T
    return sum(c[:, i] * (mpmath.binomial(n, i) * s**i * (1 - s) ** (n - i)) for i in range(n + 1))
