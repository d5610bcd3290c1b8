"""Motions, points and torques of trees in forty digits, written in world coordinates as textbooks state them.

Every number of the description and every coefficient is taken for what it is, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import mpmath
import numpy as np

from steelyard.motion import FourierMotion
from steelyard.robot import JointKind, Robot

DIGITS = 40
Vector = np.ndarray


def exact(values: object) -> Vector:
    """Doubles as forty-digit numbers, same shape and unit."""
    return np.vectorize(mpmath.mpf, otypes=[object])(np.asarray(values, dtype=np.float64))


def fourier_state(motion: FourierMotion, t: mpmath.mpf) -> tuple[Vector, Vector, Vector]:
    """Position, velocity and acceleration of a Fourier series, each (nv,)."""
    w = 2 * mpmath.pi / mpmath.mpf(motion.period)
    q, v, a = exact(motion.offset), exact(0 * motion.offset), exact(0 * motion.offset)
    for k in range(motion.harmonics):
        wl = w * (k + 1)
        s, c = mpmath.sin(wl * t), mpmath.cos(wl * t)
        sine, cosine = exact(motion.sine[:, k]), exact(motion.cosine[:, k])
        q = q + sine * (s / wl) - cosine * (c / wl)
        v = v + sine * c + cosine * s
        a = a - sine * (wl * s) + cosine * (wl * c)
    return q, v, a


def poses(robot: Robot, q: Sequence[mpmath.mpf]) -> list[tuple[Vector, Vector, Vector]]:
    """Rotation, origin and joint axis of every link in the base frame."""
    found: list[tuple[Vector, Vector, Vector]] = []
    for joint, x in zip(robot.joints, q, strict=True):
        R, p = (exact(np.eye(3)), exact(np.zeros(3))) if joint.parent < 0 else found[joint.parent][:2]
        p, R = p + R @ exact(joint.placement.translation), R @ exact(joint.placement.rotation)
        u = exact(joint.axis)
        along = R @ u
        if joint.kind is JointKind.PRISMATIC:
            p = p + along * x
        else:
            p = p + along * (x * mpmath.mpf(joint.pitch))
            keep = np.outer(u, u)
            turn = (exact(np.eye(3)) - keep) * mpmath.cos(x) + skew(u) * mpmath.sin(x) + keep
            R = R @ turn
        found.append((R, p, along))
    return found


def skew(u: Vector) -> Vector:
    """The matrix of u ×."""
    zero = mpmath.mpf(0)
    return np.array([[zero, -u[2], u[1]], [u[2], zero, -u[0]], [-u[1], u[0], zero]], dtype=object)


def torques(robot: Robot, bodies: Vector, q: Vector, v: Vector, a: Vector) -> list[mpmath.mpf]:
    """Torques of the rigid links: each joint does the work of all forces that move the links beyond it."""
    where, motions, work = poses(robot, q), [], [mpmath.mpf(0)] * len(robot.joints)
    g = exact(robot.gravity)
    still = (exact(np.zeros(3)),) * 4
    for i, (joint, phi) in enumerate(zip(robot.joints, exact(bodies), strict=True)):
        R, p, axis = where[i]
        p_0 = still[0] if joint.parent < 0 else where[joint.parent][1]
        w_0, b_0, d_0 = still[:3] if joint.parent < 0 else motions[joint.parent]
        turn, slide = _rates(joint.kind, joint.pitch, axis)
        arm, o, u = p - p_0, turn * v[i], slide * v[i]
        w = w_0 + o
        b = b_0 + np.cross(w_0, o) + turn * a[i]
        d = d_0 + np.cross(b_0, arm) + np.cross(w_0, np.cross(w_0, arm)) + 2 * np.cross(w_0, u) + slide * a[i]
        motions.append((w, b, d))
        m, h = phi[0], R @ phi[1:4]
        xx, xy, yy, xz, yz, zz = phi[4:]
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object) @ R.T
        force = (d - g) * m + np.cross(b, h) + np.cross(w, np.cross(w, h))
        moment = np.cross(h, d - g) + J @ b + np.cross(w, J @ w)
        k = i
        while k >= 0:
            turn, slide = _rates(robot.joints[k].kind, robot.joints[k].pitch, where[k][2])
            lever = np.cross(p - where[k][1], force)
            work[k] += slide @ force + turn @ (moment + lever)
            k = robot.joints[k].parent
    return work


def _rates(kind: JointKind, pitch: float, axis: Vector) -> tuple[Vector, Vector]:
    """What a unit velocity turns about and slides along."""
    if kind is JointKind.PRISMATIC:
        return axis * mpmath.mpf(0), axis
    return axis, axis * mpmath.mpf(pitch)
