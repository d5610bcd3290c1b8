"""A Robot as a MuJoCo model: the same bodies and joints, no contacts, no damping, no limits."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from llvmlite import binding
from numba import types

from steelyard.arrays import Array
from steelyard.errors import DescriptionError, InputError
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import JointKind, Link, Robot

_CARRIED, _SITE = "carried", "sensor"
_SAME = 1e-12  # what MuJoCo's own normalising of axes and quaternions may change


def mujoco_model(robot: Robot, sensor: str | None = None) -> Any:
    """Build the model; body i + 1 is named `link<i>` and its joint `joint<i>`, i being the robot's index.

    Rotor inertia becomes MuJoCo's armature; friction is left out, it is applied as a force. MuJoCo's compiler
    refuses point masses and massless links, whose dynamics it computes well, and judges the triangle
    inequality to the last bit. So it compiles unit bodies at the right places, the true masses and principal
    moments are written into the model, and what MuJoCo derives from them is computed again.

    With a sensor, the link that it sits on is cut there in two that are welded together, its outer part named
    `carried`, on which all that moves beyond hangs. MuJoCo's own sensors of force and torque, in this order,
    tell what passes between the two.

    Args:
        robot: the robot; every moving link must state a possible inertial.
        sensor: name of the link in whose frame a force-torque sensor sits; None for none.

    Returns:
        The `mujoco.MjModel`.

    Raises:
        DescriptionError: a link states no inertial or an impossible one, nothing resists a joint, a joint is
            helical, or the robot is no arm.
    """
    robot.require_arm()
    _refuse_screws(robot)
    bodies = [_body(link) for link in robot.links]
    carried, sensed = None, -1
    if sensor is not None:
        parted = robot.parted(sensor)
        carried, sensed = parted.carried, parted.link
        if parted.arm is None or carried is None:
            side = "carries" if carried is None else "sits on"
            raise DescriptionError(
                f"no inertial is stated of what the sensor {side}, so that it cannot be simulated.",
                place=f"link '{sensor}'",
                remedy="Give it a load to hold (--payload), or choose another frame.",
            )
        bodies[sensed] = parted.arm
    spec = mujoco.MjSpec()
    spec.modelname = robot.name
    spec.compiler.degree = False
    spec.compiler.autolimits = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.option.gravity = robot.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    off = mujoco.mjtDisableBit
    spec.option.disableflags = int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_AUTORESET)
    parents: list[Any] = []
    for i, (joint, body) in enumerate(zip(robot.joints, bodies, strict=True)):
        part = (parents[joint.parent] if joint.parent >= 0 else spec.worldbody).add_body(
            name=f"link{i}",
            pos=joint.placement.translation,
            quat=quaternion(joint.placement.rotation),
            mass=1.0,
            inertia=np.ones(3),
            ipos=body.com,
            iquat=quaternion(body.principal_axes().rotation),
            explicitinertial=True,
        )
        turning, sliding = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
        part.add_joint(
            name=f"joint{i}",
            type=turning if joint.kind.rotates else sliding,
            axis=joint.axis,
            armature=joint.drive.rotor or 0.0,
        )
        if sensor is not None and carried is not None and i == sensed:
            part = _with_sensor(spec, part, robot.frame(sensor).placement, carried)
        parents.append(part)
    model = spec.compile()
    named = {f"link{i}": body for i, body in enumerate(bodies)}
    if carried is not None:
        named[_CARRIED] = carried
    for name, body in named.items():
        index = model.body(name).id
        model.body_mass[index] = body.mass
        model.body_inertia[index] = np.maximum(body.principal_axes().moments, 0.0)
    _check_resistance(model, robot)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    _check_bodies(model, named)
    return model


def _with_sensor(spec: Any, link: Any, placement: Pose, carried: Body) -> Any:
    """The outer part of a link, welded to it, with sensors of what passes between the two."""
    outer = link.add_body(
        name=_CARRIED,
        mass=1.0,
        inertia=np.ones(3),
        ipos=carried.com,
        iquat=quaternion(carried.principal_axes().rotation),
        explicitinertial=True,
    )
    outer.add_site(name=_SITE, pos=placement.translation, quat=quaternion(placement.rotation))
    for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=_SITE)
    return outer


def _refuse_screws(robot: Robot) -> None:
    for joint in robot.joints:
        if joint.kind is JointKind.HELICAL:
            raise DescriptionError(
                "it is helical, a joint that the simulator does not have.",
                place=f"joint '{joint.name}'",
                remedy=f"Hold it still with --lock {joint.name}=….",
            )


def _body(link: Link) -> Body:
    body = link.body
    if body is None:
        raise DescriptionError(
            "no inertial is stated, so it cannot be simulated.",
            place=f"link '{link.name}'",
            remedy="Add an <inertial>; no number is invented here.",
        )
    verdict = body.consistency
    if not verdict.consistent:
        why = " ".join(str(reason) for reason in verdict.reasons)
        raise DescriptionError(
            f"its inertia is physically impossible, so it cannot be simulated. {why}",
            place=f"link '{link.name}'",
            evidence={"reasons": verdict.reasons},
        )
    return body


def quaternion(rotation: Array) -> Array:
    """A rotation as MuJoCo writes it.

    Args:
        rotation: shape (3, 3), dimensionless.

    Returns:
        The quaternion, real part first, shape (4,), dimensionless.
    """
    found = np.empty(4)
    mujoco.mju_mat2Quat(found, rotation.ravel())
    return found


def _check_resistance(model: Any, robot: Robot) -> None:
    """Refuse a robot whose mass matrix is singular: a force would accelerate a joint without bound."""
    data = mujoco.MjData(model)
    mujoco.mj_fwdPosition(model, data)
    M = np.empty((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    for i, joint in enumerate(robot.joints):
        resistance = float(M.diagonal()[model.joint(f"joint{i}").dofadr[0]])
        if resistance <= 0.0:
            raise DescriptionError(
                "nothing that it moves has inertia about its axis, so its acceleration is undefined.",
                place=f"joint '{joint.name}'",
                remedy="State the mass of its links, or a rotor inertia.",
            )


def _check_bodies(model: Any, bodies: Mapping[str, Body]) -> None:
    """Compare every mass, centre and tensor that stands in the model with the robot's."""
    for name, body in bodies.items():
        part = model.body(name)
        flat = np.empty(9)
        mujoco.mju_quat2Mat(flat, part.iquat)
        R = flat.reshape(3, 3)
        tensor = R @ np.diag(part.inertia) @ R.T
        scale = max(float(np.abs(body.inertia).max()), np.finfo(float).tiny)
        if (
            float(part.mass[0]) != body.mass
            or not np.array_equal(part.ipos, body.com)
            or float(np.abs(tensor - body.inertia).max()) > _SAME * scale
        ):
            raise DescriptionError(
                "the simulator changed its inertia.",
                place=f"body '{name}'",
                evidence={"mass": part.mass, "com": part.ipos, "inertia": tensor},
            )


# MuJoCo's C functions for compiled code.
#
# Called from Python each of them costs as much again as it computes. A kernel calls them by their names; the
# linker inside Numba is told where they are. So machine code in the cache holds names, and no address of the
# process that compiled it.

_ADDRESS, _INT = types.intp, types.intc
_names: list[str] = []


def _function(name: str, *arguments: Any) -> Any:
    """A C function without a result; the way that Numba's own kernels call LAPACK."""
    _names.append(name)
    return types.ExternalFunction(name, types.void(*arguments))


# All take the addresses of the model and of the data first; mj_rne, mj_solveM and mj_fullM then take one flag
# and the result, the result with its right side and their number, and the result.
mj_kinematics = _function("mj_kinematics", _ADDRESS, _ADDRESS)
mj_comPos = _function("mj_comPos", _ADDRESS, _ADDRESS)
mj_makeM = _function("mj_makeM", _ADDRESS, _ADDRESS)
mj_factorM = _function("mj_factorM", _ADDRESS, _ADDRESS)
mj_comVel = _function("mj_comVel", _ADDRESS, _ADDRESS)
mj_rne = _function("mj_rne", _ADDRESS, _ADDRESS, _INT, _ADDRESS)
mj_solveM = _function("mj_solveM", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _INT)
mj_fullM = _function("mj_fullM", _ADDRESS, _ADDRESS, _ADDRESS)


@cache
def link_mujoco() -> None:
    """Tell the linker where the functions are; to be called before a kernel that uses one.

    Raises:
        InputError: the library is not beside the Python package, or lacks a function.
    """
    folder = Path(mujoco.__file__).parent
    found = [file for pattern in ("libmujoco*", "mujoco*.dll") for file in sorted(folder.rglob(pattern))]
    if not found:
        raise InputError(
            "the library libmujoco is not in this folder.",
            place=str(folder),
            remedy="Install the package mujoco from its wheel, which brings the library.",
        )
    library = ctypes.CDLL(str(found[0]))
    for name in _names:
        function = getattr(library, name, None)
        if function is None:
            raise InputError(
                f"MuJoCo {mujoco.__version__} has no function {name}.",
                place=str(found[0]),
                remedy="Install a version of mujoco that this package allows.",
            )
        binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
