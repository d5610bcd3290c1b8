"""What is done to an object to see how it moves: it is dropped, pushed, swung; and how two motions differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError, SolverError
from steelyard.files import FilePath
from steelyard.inertia import Body, MujocoPrincipal
from steelyard.pose import Pose
from steelyard.robot import STANDARD_GRAVITY

# How an object moved, how two motions differ, and how long a swing takes.


@dataclass(frozen=True, eq=False)
class ObjectMotion:
    """The path of an object's frame in the world.

    Attributes:
        time: increasing, shape (N,), s.
        position: of the frame's origin, shape (N, 3), m.
        quaternion: x, y, z, w of the frame's axes, of unit length, shape (N, 4), dimensionless.
    """

    time: Array
    position: Array
    quaternion: Array

    def __post_init__(self) -> None:
        t = checked("time", self.time, ("N",))
        object.__setattr__(self, "time", read_only(t))
        keep_checked(self, (len(t), 3), "position")
        keep_checked(self, (len(t), 4), "quaternion")

    def swing_period(self) -> float:
        """The time an object that turns about a fixed axis takes to come back, averaged over its swings.

        It passes the middle of its range in one direction once a period, whatever its amplitude.

        Returns:
            The period, s.

        Raises:
            InputError: it does not swing to and fro twice.
        """
        turn = _turn(np.broadcast_to(self.quaternion[:1], self.quaternion.shape), self.quaternion)
        axis = turn[np.argmax(np.linalg.norm(turn[:, :3], axis=1)), :3]
        angle = np.unwrap(2.0 * np.arctan2(turn[:, :3] @ axis / (np.linalg.norm(axis) or 1.0), turn[:, 3]))
        offset = angle - 0.5 * (angle.max() + angle.min())
        before = np.flatnonzero((offset[:-1] < 0.0) & (offset[1:] >= 0.0))
        if len(before) < 2:
            raise InputError(
                "shows no two swings in the same direction.",
                place="motion",
                remedy="Let it swing for longer.",
            )
        share = offset[before] / (offset[before] - offset[before + 1])
        passed = self.time[before] + share * (self.time[before + 1] - self.time[before])
        return float((passed[-1] - passed[0]) / (len(passed) - 1))

    def compared_with(self, other: ObjectMotion) -> MotionDifference:
        """How far apart two objects are that did the same trial.

        Args:
            other: motion of the other, such as the true object, at the same times.

        Returns:
            Distances and angles over time.

        Raises:
            InputError: the motions were not sampled at the same times.
        """
        if not np.array_equal(self.time, other.time):
            raise InputError("the motions were not sampled at the same times.", place="other")
        distance = np.linalg.norm(self.position - other.position, axis=1)
        turn = _turn(self.quaternion, other.quaternion)
        angle = 2.0 * np.arctan2(np.linalg.norm(turn[:, :3], axis=1), np.abs(turn[:, 3]))
        return MotionDifference(self.time, read_only(distance), read_only(angle))


@dataclass(frozen=True, eq=False)
class MotionDifference:
    """How far apart two motions are.

    Attributes:
        time: shape (N,), s.
        position: distance of the origins, shape (N,), m.
        angle: of the rotation from one to the other, shape (N,), rad.
    """

    time: Array
    position: Array
    angle: Array

    @property
    def largest_position(self) -> float:
        """The largest distance, m."""
        return float(self.position.max())

    @property
    def largest_angle(self) -> float:
        """The largest angle, rad."""
        return float(self.angle.max())


def _turn(start: Array, end: Array) -> Array:
    """The quaternion of the rotation from one to the other, start^-1 end, shape (N, 4)."""
    v, w = start[:, :3], start[:, 3:]
    V, W = end[:, :3], end[:, 3:]
    return np.hstack((w * V - W * v - np.cross(v, V), w * W + (v * V).sum(axis=1, keepdims=True)))


# An asset in MuJoCo: alone in space, above a floor, or on a hinge, with its own inertia or another's.

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


# The trials: drop, push, swing

DEEPEST = 1e-6
"""How deep an object may stand in the floor when a trial begins, m."""


@dataclass(frozen=True, eq=False)
class Drop:
    """An object let go above the floor z = 0.

    Attributes:
        start: X_WO, where its frame is at first.
        velocity: of its frame's origin in the world, shape (3,), m/s.
        spin: its angular velocity in the world's axes, shape (3,), rad/s.
    """

    start: Pose
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    spin: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        _keep(self, velocity=self.velocity, spin=self.spin)


@dataclass(frozen=True, eq=False)
class Push:
    """A force for a while on a point of an object at rest, afloat without gravity or standing on the floor.

    Attributes:
        point: where it is pushed, in its frame, shape (3,), m.
        force: in the world's axes, shape (3,), N.
        seconds: how long the force lasts, s.
        start: X_WO, where its frame is at first.
        floor: whether it stands on the floor z = 0 under gravity.
    """

    point: Array
    force: Array
    seconds: float
    start: Pose = field(default_factory=Pose.identity)
    floor: bool = False

    def __post_init__(self) -> None:
        _keep(self, point=self.point, force=self.force)
        if not 0.0 <= self.seconds < np.inf:
            raise InputError(f"must not be negative, got {self.seconds}.", place="seconds")


@dataclass(frozen=True, eq=False)
class Swing:
    """A pendulum: an object let go on a hinge without friction.

    Attributes:
        point: of the hinge, in the object's frame, shape (3,), m.
        axis: of the hinge, in the object's frame, shape (3,), dimensionless.
        start: X_WO, where its frame is at first.
    """

    point: Array
    axis: Array
    start: Pose = field(default_factory=Pose.identity)

    def __post_init__(self) -> None:
        _keep(self, point=self.point, axis=self.axis)
        if not self.axis.any():
            raise InputError("must not be zero.", place="axis")


Trial = Drop | Push | Swing


def run_trial(
    asset: FilePath, trial: Trial, *, seconds: float = 2.0, body: Body | None = None
) -> ObjectMotion:
    """Run a trial in MuJoCo.

    Given the true body, the same shapes move as the true object would: what then differs is the inertia.

    Args:
        asset: an MJCF file with one body, such as `object.xml` of an asset folder.
        trial: what is done to it.
        seconds: how long it is watched, s.
        body: the inertia it has, in its frame; None for the one that the file states.

    Returns:
        The motion of its frame, at every step.

    Raises:
        InputError: the asset cannot be read, the body is impossible, or the object begins inside the floor.
        SolverError: the simulation diverged.
    """
    if not STEP <= seconds < np.inf:
        raise InputError(f"must be at least a step of {STEP:g} s, got {seconds}.", place="seconds")
    on_floor = isinstance(trial, Drop) or (isinstance(trial, Push) and trial.floor)
    model = object_scene(
        asset,
        trial.start,
        body=body,
        hinge=Hinge(trial.point, trial.axis) if isinstance(trial, Swing) else None,
        gravity=on_floor or isinstance(trial, Swing),
        floor=on_floor,
    )
    data = mujoco.MjData(model)
    if isinstance(trial, Drop):
        data.qvel[:] = (*trial.velocity, *trial.start.rotation.T @ trial.spin)
    mujoco.mj_forward(model, data)
    _refuse_inside_floor(data)
    steps = round(seconds / STEP)
    poses = np.empty((steps + 1, 7))
    for k in range(steps + 1):
        mujoco.mj_kinematics(model, data)
        poses[k] = (*data.xpos[1], *data.xquat[1])
        if isinstance(trial, Push):
            data.xfrc_applied[1] = _wrench(trial, data, k)
        mujoco.mj_step(model, data)
    if not np.isfinite(poses).all():
        raise SolverError("the simulation diverged.", place="trial")
    return ObjectMotion(np.arange(steps + 1, dtype=np.float64) * STEP, poses[:, :3], poses[:, [4, 5, 6, 3]])


def _wrench(push: Push, data: Any, step: int) -> Array:
    """Force and torque about the centre of mass; a pulse that ends within a step keeps its impulse.

    The torque is held over a step, in which the point moves on: it is that of the middle of the step.
    """
    share = min(push.seconds / STEP - step, 1.0)
    if share <= 0.0:
        return np.zeros(6)
    F = share * push.force
    R = data.xmat[1].reshape(3, 3)
    lever = data.xpos[1] + R @ push.point - data.xipos[1]
    lever += 0.5 * STEP * np.cross(R @ data.qvel[3:], lever)
    return np.concatenate((F, np.cross(lever, F)))


def _refuse_inside_floor(data: Any) -> None:
    depth = max((-float(contact.dist) for contact in data.contact[: data.ncon]), default=0.0)
    if depth > DEEPEST:
        raise InputError(
            f"begins {1e3 * depth:.3g} mm inside the floor.", place="start", remedy="Begin higher."
        )


def _keep(trial: Trial, **vectors: ArrayLike) -> None:
    for name, vector in vectors.items():
        object.__setattr__(trial, name, read_only(checked(name, vector, (3,))))


# One drop, one push and one swing that suit the size and weight of an asset.

CLEARANCE = 0.1
"""How far above the floor nothing of a dropped object reaches down, m."""
TILT = (0.4, 0.3, 0.2)
"""Roll, pitch and yaw in which an object is dropped, rad: nothing that is square to its axes lands flat."""
PULSE = 0.1
"""How long an object is pushed with its own weight, s."""
SWING_ANGLE = 0.5
"""How far from hanging straight down a swing begins, rad."""


def standard_trials(asset: FilePath) -> dict[str, Trial]:
    """Trials for an asset, to be done by it and by the true object alike.

    It is dropped tilted; pushed afloat, half its radius off its centre of mass; and swung about the x axis
    through a point one radius above that centre.

    Args:
        asset: an MJCF file with one body.

    Returns:
        The trials `drop`, `push` and `swing`.

    Raises:
        InputError: the file cannot be read or does not hold one body.
    """
    model = object_scene(asset, Pose.identity())
    com, mass = model.body_ipos[1], float(model.body_mass[1])
    reach = np.linalg.norm(model.geom_pos - com, axis=1) + model.geom_rbound
    radius = float(reach.max())
    tilt = Pose.from_rpy(TILT)
    height = np.array([0.0, 0.0, radius + CLEARANCE]) - tilt.rotation @ com
    weight = mass * float(np.linalg.norm(STANDARD_GRAVITY))
    x, y, z = np.eye(3)
    return {
        "drop": Drop(Pose(tilt.rotation, height)),
        "push": Push(com + 0.5 * radius * y, weight * x, PULSE),
        "swing": Swing(com + radius * z, x, Pose.from_rpy((SWING_ANGLE, 0.0, 0.0))),
    }
