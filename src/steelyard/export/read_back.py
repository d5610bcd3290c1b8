r"""A written model read by another's code and compared: torque for torque, friction for friction.

Pinocchio reads the URDF and MuJoCo the MJCF. Both must ask for the torques the parameter vector asks for, at
random states and within `TOLERANCE`, in all that their format carries: links, and in MJCF also viscous
friction and the rotor. Coulomb friction is compared as the number it is. Joints that mimic others are
compared as if they were free, which is the stronger test.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
import pinocchio as pin  # type: ignore[import-untyped]
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.dynamics import rigid_torque
from steelyard.errors import SteelyardError
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot

TOLERANCE = 1e-9
"""Largest difference of a joint's torque, relative to the largest of that joint."""
FLOOR = 1e-12
"""The same relative to the largest torque of any joint: round-off travels along the chain."""
STATES = 16
"""Random states at which torques are compared."""


class ReadBackError(SteelyardError, RuntimeError):
    """A model that was written does not say what it should when another program reads it."""


def check_urdf(content: bytes, robot: Robot, layout: Layout, parameters: ArrayLike) -> float:
    """Read a URDF with Pinocchio and compare it.

    Args:
        content: the URDF.
        robot: the robot it should describe, with its drives.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.

    Returns:
        Largest difference of torque, relative to the largest torque of the joint, dimensionless.

    Raises:
        ReadBackError: Pinocchio refuses it, or finds other joints, torques or friction.
    """
    free = robot.untied
    try:
        model = pin.buildModelFromXML(content.decode())
    except (ValueError, RuntimeError) as error:
        raise ReadBackError(f"Pinocchio refuses it: {error}", place="URDF") from error
    _same_names("URDF", robot, list(model.names)[1:])
    model.gravity.linear = np.array(robot.gravity)
    joints = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    order = np.concatenate([np.arange(joint.idx_v, joint.idx_v + joint.nv) for joint in joints])
    for found, name in ((model.damping, "viscous"), (model.upperDryFrictionLimit, "coulomb")):
        _same_numbers("URDF", name, robot, np.asarray(found)[order])
    data = model.createData()
    q, v, a = _states(free)
    tau = np.empty(v.shape)
    for n in range(STATES):
        at = np.empty(model.nq)
        for joint, own in zip(joints, _own(free, q[n]), strict=True):
            at[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(own[0]), np.sin(own[0])] if (joint.nq, own.size) == (2, 1) else own
            )
        rates = np.empty((2, model.nv))
        rates[:, order] = v[n], a[n]
        tau[n] = pin.rnea(model, data, at, rates[0], rates[1])[order]
    return _compared("URDF", free, rigid_torque(free, layout, parameters, q, v, a), tau)


def check_mjcf(content: bytes, robot: Robot, layout: Layout, parameters: ArrayLike) -> float:
    """Read an MJCF with MuJoCo and compare it.

    Args:
        content: the MJCF.
        robot: the robot it should describe, with its drives.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.

    Returns:
        Largest difference of torque, relative to the largest torque of the joint, dimensionless.

    Raises:
        ReadBackError: MuJoCo refuses it, or finds other joints, torques or friction.
    """
    free = robot.untied
    try:
        model = mujoco.MjModel.from_xml_string(content.decode())
    except ValueError as error:
        raise ReadBackError(f"MuJoCo refuses it: {error}", place="MJCF") from error
    _same_names("MJCF", robot, [model.joint(k).name for k in range(model.njnt)])
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    joints = [model.joint(name) for name in robot.joint_names]
    order = np.concatenate(
        [np.arange(j.dofadr[0], j.dofadr[0] + k.kind.nv) for j, k in zip(joints, free.joints, strict=True)]
    )
    found = (model.dof_damping, "viscous"), (model.dof_frictionloss, "coulomb"), (model.dof_armature, "rotor")
    for numbers, name in found:
        _same_numbers("MJCF", name, robot, numbers[order])
    data = mujoco.MjData(model)
    q, v, a = _states(free)
    tau = np.empty(v.shape)
    for n in range(STATES):
        for found_joint, joint, own in zip(joints, free.joints, _own(free, q[n]), strict=True):
            start = found_joint.qposadr[0]
            data.qpos[start : start + joint.nq] = _mujoco_position(joint, own)
        twist, rates = _mujoco_rates(free, q[n], v[n], a[n])
        data.qvel[order], data.qacc[order] = rates
        mujoco.mj_inverse(model, data)
        tau[n] = twist.T @ data.qfrc_inverse[order]
    drive = np.array([[_term(j, "viscous"), _term(j, "rotor")] for j in free.joints for _ in range(j.nv)])
    wanted = rigid_torque(free, layout, parameters, q, v, a) + drive[:, 0] * v + drive[:, 1] * a
    return _compared("MJCF", free, wanted, tau)


def _term(joint: Joint, name: str) -> float:
    return joint.drive.value(name) or 0.0


def _states(free: Robot) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (STATES, free.nq))
    at = 0
    for joint in free.joints:
        if joint.nq > 1:
            turn = rng.standard_normal((STATES, 4))
            q[:, at + joint.nq - 4 : at + joint.nq] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        at += joint.nq
    return q, rng.standard_normal((STATES, free.nv)), 3.0 * rng.standard_normal((STATES, free.nv))


def _own(free: Robot, q: Array) -> list[Array]:
    """The coordinates of each joint."""
    return np.split(q, np.cumsum([joint.nq for joint in free.joints])[:-1])


def _mujoco_position(joint: Joint, own: Array) -> Array:
    """A joint's coordinates as MuJoCo writes them: w first, and a free body's pose in the world."""
    if joint.kind.nv == 1:
        return own
    X = joint.placement @ joint.motion(own) if joint.kind is JointKind.FLOATING else joint.motion(own)
    x, y, z, w = X.quaternion
    turn = np.array([w, x, y, z])
    return np.concatenate((X.translation, turn)) if joint.kind is JointKind.FLOATING else turn


def _mujoco_rates(free: Robot, q: Array, v: Array, a: Array) -> tuple[Array, tuple[Array, Array]]:
    """The map from our rates to MuJoCo's, and those; a free body's linear velocity is in the world's axes."""
    twist, qvel, qacc = np.eye(free.nv), v.copy(), a.copy()
    k = 0
    for joint, own in zip(free.joints, _own(free, q), strict=True):
        if joint.kind is JointKind.FLOATING:
            X: Pose = joint.placement @ joint.motion(own)
            line = slice(k, k + 3)
            twist[line, line] = X.rotation
            qvel[line] = X.rotation @ v[line]
            qacc[line] = X.rotation @ (a[line] + np.cross(v[k + 3 : k + 6], v[line]))
        k += joint.nv
    return twist, (qvel, qacc)


def _same_names(place: str, robot: Robot, found: Sequence[str]) -> None:
    if set(found) != set(robot.joint_names):
        raise ReadBackError(
            f"has the joints {sorted(found)}, the robot {sorted(robot.joint_names)}.", place=place
        )


def _same_numbers(place: str, term: str, robot: Robot, found: Array) -> None:
    wanted = np.array([_term(joint, term) for joint in robot.joints for _ in range(joint.kind.nv)])
    if not np.array_equal(found, wanted):
        raise ReadBackError(f"states a {term} friction or inertia of {found}, not {wanted}.", place=place)


def _compared(place: str, free: Robot, wanted: Array, found: Array) -> float:
    scale = np.abs(wanted).max(axis=0)
    off = np.abs(found - wanted).max(axis=0)
    allowed = TOLERANCE * scale + FLOOR * scale.max()
    if not (off <= allowed).all():
        worst = int(np.argmax(off - allowed))
        names = [joint.name for joint in free.joints for _ in range(joint.nv)]
        raise ReadBackError(
            f"read back, it asks joint '{names[worst]}' for torques that differ by {off[worst]:.3g} of "
            f"{scale[worst]:.3g} N·m or N.",
            place=place,
            evidence={"difference": off, "scale": scale},
        )
    seen = scale > 0.0
    return float((off[seen] / scale[seen]).max(initial=0.0))
