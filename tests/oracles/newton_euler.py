"""Newton's and Euler's laws for one sample of a tree, written in world coordinates as textbooks state them.

The kernels work in body frames and share nothing with this file; it is slow and meant to be read.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from steelyard.robot import Joint, JointKind, Robot

Vector = np.ndarray


def world_poses(robot: Robot, q: Vector) -> list[tuple[Vector, Vector]]:
    """Rotation (3, 3) and origin (3,), m, of every moving link in the base frame."""
    poses: list[tuple[Vector, Vector]] = []
    at = 0
    for joint in robot.joints:
        R, p = poses[joint.parent] if joint.parent >= 0 else (np.eye(3), np.zeros(3))
        p = p + R @ joint.placement.translation
        R = R @ joint.placement.rotation
        if joint.kind is JointKind.FLOATING:
            turned = Rotation.from_quat(q[at + 3 : at + 7]).as_matrix()
            poses.append((R @ turned, p + R @ q[at : at + 3]))
        elif joint.kind is JointKind.PRISMATIC:
            poses.append((R, p + R @ (q[at] * joint.axis)))
        elif joint.kind is JointKind.SPHERICAL:
            poses.append((R @ Rotation.from_quat(q[at : at + 4]).as_matrix(), p))
        else:
            turned = Rotation.from_rotvec(q[at] * joint.axis).as_matrix()
            poses.append((R @ turned, p + R @ (joint.pitch * q[at] * joint.axis)))
        at += joint.kind.nq
    return poses


def newton_euler(robot: Robot, bodies: Vector, q: Vector, v: Vector, a: Vector) -> Vector:
    """Torques (nv,) of the rigid links alone.

    A link has the momentum P = m ṗ + ω × h and, about its frame's origin, the angular momentum
    L = h × ṗ + I ω. Its joint and its children must supply the force Ṗ - m g and the moment
    L̇ + ṗ × P - h × g there; a joint feels the sum of what lies beyond it, along its axes.

    Args:
        robot: the robot.
        bodies: ten parameters per link, possible or not, shape (nb, 10), SI.
        q: joint positions, shape (nq,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        a: joint accelerations, shape (nv,), rad/s² or m/s².
    """
    poses, motions, wrenches, axes = world_poses(robot, q), [], [], []
    at = 0
    for (R, p), joint, (m, hx, hy, hz, xx, xy, yy, xz, yz, zz) in zip(
        poses, robot.joints, bodies, strict=True
    ):
        still = (np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))
        p_0, ṗ_0, p̈_0, ω_0, α_0 = motions[joint.parent] if joint.parent >= 0 else still
        arm = p - p_0
        axes.append(_axes(joint, R))  # each (force direction, moment direction) in the world
        move = slice(at, at + joint.kind.nv)
        at += joint.kind.nv
        u, o = v[move] @ axes[-1][0], v[move] @ axes[-1][1]
        ω = ω_0 + o
        α = α_0 + a[move] @ axes[-1][1] + np.cross(ω_0, o)
        ṗ = ṗ_0 + np.cross(ω_0, arm) + u
        # The axes of a slide turn with the parent; those of a floating body with the body itself.
        turning = ω if joint.kind is JointKind.FLOATING else ω_0
        p̈ = p̈_0 + np.cross(α_0, arm) + np.cross(ω_0, np.cross(ω_0, arm) + u)
        p̈ = p̈ + a[move] @ axes[-1][0] + np.cross(turning, u)
        motions.append((p, ṗ, p̈, ω, α))
        h, I = R @ [hx, hy, hz], R @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ R.T  # noqa: E741
        ḣ = np.cross(ω, h)
        P = m * ṗ + ḣ
        Ṗ = m * p̈ + np.cross(α, h) + np.cross(ω, ḣ)
        L̇ = np.cross(ḣ, ṗ) + np.cross(h, p̈) + I @ α + np.cross(ω, I @ ω)
        wrenches.append((Ṗ - m * robot.gravity, L̇ + np.cross(ṗ, P) - np.cross(h, robot.gravity)))
    torques = []
    for i, joint in reversed(list(enumerate(robot.joints))):
        force, moment = wrenches[i]
        torques.append(axes[i][0] @ force + axes[i][1] @ moment)
        if joint.parent >= 0:
            f, n = wrenches[joint.parent]
            arm = poses[i][1] - poses[joint.parent][1]
            wrenches[joint.parent] = (f + force, n + moment + np.cross(arm, force))
    return np.concatenate(torques[::-1])


def _axes(joint: Joint, R: Vector) -> tuple[Vector, Vector]:
    """Per degree of freedom, the direction it slides along and the one it turns about, each (joint nv, 3)."""
    if joint.kind is JointKind.FLOATING:
        return np.vstack([R.T, np.zeros((3, 3))]), np.vstack([np.zeros((3, 3)), R.T])
    if joint.kind is JointKind.SPHERICAL:
        return np.zeros((3, 3)), R.T
    along, nothing = (R @ joint.axis)[None], np.zeros((1, 3))
    return (along, nothing) if joint.kind is JointKind.PRISMATIC else (joint.pitch * along, along)
