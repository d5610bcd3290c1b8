"""What is done to an object to see how it moves: it is dropped, pushed, swung."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, SolverError
from steelyard.files import FilePath
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.simulate.object_motion import ObjectMotion
from steelyard.simulate.object_scene import STEP, Hinge, object_scene

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
