"""An asset in MuJoCo: alone in space, above a floor, or on a hinge, with its own inertia or another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.inertia import Body, MujocoPrincipal
from steelyard.pose import Pose
from steelyard.robot import STANDARD_GRAVITY

STEP = 0.5e-3
"""Step of the integrator, s."""


@dataclass(frozen=True, eq=False)
class Hinge:
    """An axis about which an object turns.

    Attributes:
        point: on it, in the object's frame, shape (3,), m.
        axis: its direction in the object's frame, shape (3,), dimensionless.
    """

    point: Array
    axis: Array


def object_scene(
    asset: FilePath,
    start: Pose,
    *,
    body: Body | None = None,
    hinge: Hinge | None = None,
    gravity: bool = True,
    floor: bool = False,
) -> Any:
    """Put an object into a scene.

    It touches nothing but the floor, which is the plane z = 0 of the world with MuJoCo's own contact.

    Args:
        asset: an MJCF file with one body, such as `object.xml` of an asset folder.
        start: X_WO, where its frame is at first.
        body: the inertia it has, in its frame; None for the one that the file states.
        hinge: the axis it turns about; None where it is free.
        gravity: whether things fall, along -z.
        floor: whether there is a floor.

    Returns:
        The `mujoco.MjModel`; the object is its only body, of index 1.

    Raises:
        InputError: the file cannot be read or does not hold one body, or the body is impossible.
    """
    spec = object_spec(asset)
    part = spec.bodies[1]
    for joint in part.joints:
        spec.delete(joint)
    if hinge is None:
        part.add_freejoint()
    else:
        part.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, pos=hinge.point, axis=hinge.axis)
    part.pos, part.quat = start.translation, start.quaternion[[3, 0, 1, 2]]
    off = mujoco.mjtDisableBit
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = STEP
    spec.option.gravity = STANDARD_GRAVITY if gravity else (0.0, 0.0, 0.0)
    spec.option.disableflags = int(off.mjDSBL_AUTORESET) | (0 if floor else int(off.mjDSBL_CONTACT))
    if floor:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0.0, 0.0, 1.0))
    principal = None if body is None else _principal(body)
    if principal is not None:
        # MuJoCo's compiler refuses flat and point-like bodies, whose motion it computes well.
        part.explicitinertial, part.fullinertia = True, np.full(6, np.nan)
        part.mass, part.inertia = 1.0, np.ones(3)
        part.ipos, part.iquat = principal.ipos, principal.iquat
    model = spec.compile()
    if principal is not None:
        model.body_mass[1] = principal.mass
        model.body_inertia[1] = np.maximum(principal.diaginertia, 0.0)
        mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def object_spec(asset: FilePath) -> Any:
    """Read an asset.

    Args:
        asset: an MJCF file with one body.

    Returns:
        The `mujoco.MjSpec`.

    Raises:
        InputError: the file cannot be read or does not hold one body.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(asset))
    except (ValueError, OSError) as error:
        raise InputError(f"cannot be read by MuJoCo: {error}", place=str(asset)) from error
    bodies = len(spec.bodies) - 1
    if bodies != 1:
        raise InputError(f"holds {bodies} bodies; an object is one.", place=str(asset))
    return spec


def _principal(body: Body) -> MujocoPrincipal:
    if not (body.consistency and body.mass > 0.0):
        why = " ".join(str(reason) for reason in body.consistency.reasons) or "It has no mass."
        raise InputError(f"cannot be simulated: {why}", place="body")
    return MujocoPrincipal.from_body(body)
