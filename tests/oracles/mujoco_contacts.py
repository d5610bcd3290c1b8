"""MuJoCo as a judge of contact: the shapes of a robot, its tool and a scene, and which of them touch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import mujoco
import numpy as np

from steelyard.limits import Hull, Scene, Zonotope
from steelyard.limits.shapes import Solid
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Geometry, Robot, Sphere
from steelyard.robot.link import Shape

FAR = 10.0
"""Up to which distances are measured, m."""
_NO_FILTER = {"contype": 0, "conaffinity": 0}  # only pairs that are named collide


class MujocoContacts:
    """All pairs that must stay apart: links that are no neighbours, tool and links, all these and obstacles.

    Shapes of the robot that overlap when every joint is at zero are drawn so, and left out.
    """

    def __init__(self, robot: Robot, scene: Scene, tool: Sequence[Geometry] = ()) -> None:
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
        bodies: list[Any] = []
        owners: list[list[str]] = []
        for i, joint in enumerate(robot.joints):
            parent = bodies[joint.parent] if joint.parent >= 0 else spec.worldbody
            body = _add_body(parent, f"link{i}", joint.placement)
            kind = mujoco.mjtJoint.mjJNT_HINGE if joint.kind.rotates else mujoco.mjtJoint.mjJNT_SLIDE
            body.add_joint(name=f"joint{i}", type=kind, axis=joint.axis)
            shapes = robot.links[i].collision
            owners.append([_add(spec, body, f"link{i}.{k}", g.shape, g.pose) for k, g in enumerate(shapes)])
            bodies.append(body)
        frame = robot.tool_frame
        held = [
            _add(spec, bodies[frame.link], f"tool.{k}", g.shape, frame.placement @ g.pose)
            for k, g in enumerate(tool)
        ]
        around = [
            _add(spec, spec.worldbody, f"scene.{k}", o.shape, o.pose) for k, o in enumerate(scene.obstacles)
        ]
        own = [
            pair
            for i, j in combinations(range(robot.nv), 2)
            if robot.joints[j].parent != i and robot.joints[i].parent != j
            for pair in product(owners[i], owners[j])
        ]
        own += [(a, b) for i, names in enumerate(owners) if i != frame.link for a in names for b in held]
        moving = [name for names in (*owners, held) for name in names]
        self._build(spec, own, list(product(moving, around)))

    def _build(self, spec: Any, own: list[tuple[str, str]], outer: list[tuple[str, str]]) -> None:
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        apart = [pair for pair in own if _distance(model, data, pair) > 0.0]
        for a, b in (*apart, *outer):
            spec.add_pair(name=f"{a}-{b}", geomname1=a, geomname2=b)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._pairs = [*apart, *outer]
        nv = self._model.nv
        self._q = np.array([int(self._model.joint(f"joint{i}").qposadr[0]) for i in range(nv)])

    def touching(self, q: np.ndarray) -> np.ndarray:
        """At which positions MuJoCo's collision detection finds an overlap, q of shape (N, nv), rad or m."""
        model, data = self._model, self._data
        found = np.zeros(len(q), dtype=bool)
        for k, at in enumerate(q):
            data.qpos[self._q] = at
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            found[k] = data.ncon > 0
        return found

    def least_distance(self, q: np.ndarray) -> float:
        """The least distance of any pair at any of the positions, q of shape (N, nv), rad or m."""
        least = FAR
        for at in q:
            self._data.qpos[self._q] = at
            mujoco.mj_kinematics(self._model, self._data)
            least = min(least, min((_distance(self._model, self._data, p) for p in self._pairs), default=FAR))
        return least


def _distance(model: Any, data: Any, pair: tuple[str, str]) -> float:
    first, second = (model.geom(name).id for name in pair)
    return float(mujoco.mj_geomDistance(model, data, first, second, FAR, None))


def _add_body(parent: Any, name: str, place: Pose) -> Any:
    return parent.add_body(
        name=name, pos=place.translation, quat=_quaternion(place), mass=1.0, inertia=np.ones(3)
    )


def _add(spec: Any, body: Any, name: str, shape: Solid | Shape, place: Pose) -> str:
    kinds = mujoco.mjtGeom
    where = {"name": name, "pos": place.translation, "quat": _quaternion(place), **_NO_FILTER}
    match shape:
        case Sphere(radius):
            body.add_geom(type=kinds.mjGEOM_SPHERE, size=[radius, 0.0, 0.0], **where)
        case Capsule(radius, length):
            size = [radius, 0.5 * length, 0.0]
            body.add_geom(type=kinds.mjGEOM_CAPSULE, size=size, **where)
        case Cylinder(radius, length):
            size = [radius, 0.5 * length, 0.0]
            body.add_geom(type=kinds.mjGEOM_CYLINDER, size=size, **where)
        case Box(x, y, z):
            size = [0.5 * x, 0.5 * y, 0.5 * z]
            body.add_geom(type=kinds.mjGEOM_BOX, size=size, **where)
        case _:
            spec.add_mesh(name=f"{name} mesh", uservert=_corners(shape).ravel())
            body.add_geom(type=kinds.mjGEOM_MESH, meshname=f"{name} mesh", **where)
    return name


def _corners(shape: Solid | Shape) -> np.ndarray:
    if isinstance(shape, Hull):
        return np.array(shape.points)
    if isinstance(shape, Zonotope):
        signs = np.array(list(product((-1.0, 1.0), repeat=len(shape.generators))))
        return np.asarray(shape.centre + signs @ shape.generators)
    raise TypeError(type(shape).__name__)


def _quaternion(place: Pose) -> np.ndarray:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, place.rotation.ravel())
    return quaternion
