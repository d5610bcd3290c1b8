"""Random trees for the tests, as Robot objects and as URDF text; the same seed gives the same robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from steelyard.drive import DRIVE_TERMS, Drive
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.pose import Pose
from steelyard.robot import (
    Box,
    Cylinder,
    FixedLink,
    Geometry,
    Joint,
    JointKind,
    Limits,
    Link,
    MeshFile,
    Robot,
    Sphere,
)
from steelyard.robot.link import Shape

SOLID = ("solid",)
ANY = ("solid", "solid", "planar", "rod", "point")
QUARTER_TURNS = np.pi / 2 * np.arange(-1, 3)


def random_robot(
    rng: np.random.Generator, *, bodies: int | None = None, shapes: Sequence[str] = ANY, fixed: bool = True
) -> Robot:
    """Draw a tree of 1 to 12 bodies under a gravity of any direction.

    Args:
        rng: source of randomness.
        bodies: number of moving links; drawn when not given.
        shapes: which kinds of bodies the links are drawn from, see `random_body`.
        fixed: whether some links carry further links bolted to them.
    """
    count = int(rng.integers(1, 13)) if bodies is None else bodies
    joints, links = [], []
    for i in range(count):
        # Half of the links continue the last one, the rest branch off anywhere.
        parent = i - 1 if rng.random() < 0.5 else int(rng.integers(-1, i))
        joints.append(_joint(rng, f"joint{i}", parent))
        links.append(_link(rng, f"link{i}", shapes, fixed))
    direction = rng.standard_normal(3)
    return Robot(
        name="tree",
        base=_link(rng, "base", shapes, fixed),
        joints=tuple(joints),
        links=tuple(links),
        gravity=9.81 * direction / np.linalg.norm(direction),
        source="a seed",
    )


def random_robot_on(base: str, rng: np.random.Generator, *, shapes: Sequence[str] = ANY) -> Robot:
    """Draw a tree on a `fixed` base, a `floating` one, or with a joint `floating in mid-tree`.

    The base `screws and balls` stands for a fixed one whose joints are helical, spherical and others.
    """
    if base == "screws and balls":
        return _with_screws_and_balls(rng, random_robot(rng, shapes=shapes, bodies=int(rng.integers(2, 8))))
    if base == "floating in mid-tree":
        robot = random_robot(rng, shapes=shapes, bodies=5)
        free = Joint("free", JointKind.FLOATING, 1, robot.joints[2].placement, np.array([0.0, 0.0, 1.0]))
        joints = (*robot.joints[:2], free, *robot.joints[3:])
        return Robot("tree", robot.base, joints, robot.links, robot.gravity)
    robot = random_robot(rng, shapes=shapes)
    return robot.floating() if base == "floating" else robot


def _with_screws_and_balls(rng: np.random.Generator, robot: Robot) -> Robot:
    """At least one joint becomes helical and one spherical."""
    kinds = rng.permutation(
        [JointKind.HELICAL, JointKind.SPHERICAL, *rng.choice(list(JointKind)[:5], len(robot.joints) - 2)]
    )
    joints = [
        replace(
            joint,
            kind=JointKind(kind),
            limits=Limits(),
            pitch=float(rng.uniform(-0.3, 0.3)) if kind == JointKind.HELICAL else 0.0,
        )
        for joint, kind in zip(robot.joints, kinds, strict=True)
    ]
    return replace(robot, joints=tuple(joints))


def random_states(rng: np.random.Generator, robot: Robot, count: int) -> tuple[np.ndarray, ...]:
    """Positions (count, nq), velocities and accelerations (count, nv), of order one to three."""
    blocks = [rng.uniform(-3, 3, (count, joint.nq)) for joint in robot.joints]
    for block in blocks:
        if block.shape[1] > 1:
            block[:, -4:] /= np.linalg.norm(block[:, -4:], axis=1, keepdims=True)  # a quaternion
    v, a = rng.uniform(-2, 2, (count, robot.nv)), rng.uniform(-6, 6, (count, robot.nv))
    return np.hstack(blocks), v, a


def link_parameters(robot: Robot) -> np.ndarray:
    """Ten nominal parameters per moving link, shape (nb, 10), SI."""
    return np.array([link.body.parameters for link in robot.links if link.body is not None])


def random_pose(rng: np.random.Generator) -> Pose:
    """Any pose, often one that makes axes meet or run parallel."""
    rotation = [np.zeros(3), rng.choice(QUARTER_TURNS, 3), rng.uniform(-3, 3, 3), rng.uniform(-3, 3, 3)]
    offset = [np.zeros(3), rng.choice([0.0, 0.3], 3), rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 3)]
    return Pose(pin.rpy.rpyToMatrix(rotation[rng.integers(4)]), offset[rng.integers(4)])


def _joint(rng: np.random.Generator, name: str, parent: int) -> Joint:
    kind = JointKind(rng.choice(["revolute", "revolute", "continuous", "prismatic"]))
    axis = np.sign(rng.standard_normal()) * np.eye(3)[rng.integers(3)] + 0.0
    if rng.random() < 0.5:
        axis = rng.standard_normal(3)
        axis /= np.linalg.norm(axis)
    lower, upper = np.sort(rng.uniform(-3, 3, 2)).tolist()
    bounded = {} if kind is JointKind.CONTINUOUS else {"lower": lower, "upper": upper}
    limits = Limits(**bounded, velocity=float(rng.uniform(1, 5)), effort=float(rng.uniform(10, 100)))
    values = {
        term.name: float(rng.uniform(-2 if term.signed else 0, 2))
        for term in DRIVE_TERMS
        if rng.random() < 0.6
    }
    return Joint(name, kind, parent, random_pose(rng), axis, limits, Drive(**values))


def _link(rng: np.random.Generator, name: str, shapes: Sequence[str], fixed: bool) -> Link:
    bolted = []
    if fixed and rng.random() < 0.4:
        for k in range(rng.integers(1, 4)):
            body = None if k and rng.random() < 0.3 else random_body(rng, shape=rng.choice(shapes))
            bolted.append(FixedLink(f"{name}_part{k}", random_pose(rng), body))
    own = None if bolted and rng.random() < 0.2 else random_body(rng, shape=rng.choice(shapes))
    collision = [Geometry(_shape(rng), random_pose(rng)) for _ in range(rng.integers(0, 3))]
    return Link(name, own, tuple(bolted), tuple(collision))


def _shape(rng: np.random.Generator) -> Shape:
    x, y, z = rng.uniform(0.01, 0.2, 3).tolist()
    shapes = [Sphere(x), Box(x, y, z), Cylinder(x, y), MeshFile("part.stl", (x, y, z))]
    return shapes[rng.integers(len(shapes))]


def urdf_text(robot: Robot) -> str:
    """The robot as URDF, its fixed links chained one on the other and its joints hung on the last of them.

    Gravity, rotor inertia and offset have no place in a URDF and are left out.
    """
    parts = [_urdf_link(link.name, link.own, link.collision) for link in (robot.base, *robot.links)]
    for link in (robot.base, *robot.links):
        last = _Hook(link.name, Pose.identity())
        for part in link.fixed:
            placement = last.pose.inverse() @ part.placement
            parts.append(_urdf_link(part.name, part.body, ()))
            parts.append(_urdf_joint(f"{part.name}_weld", "fixed", last.name, part.name, placement, ""))
            last = _Hook(part.name, part.placement)
    for joint, link in zip(robot.joints, robot.links, strict=True):
        hook = _last_fixed(robot.base if joint.parent < 0 else robot.links[joint.parent])
        limits = {"velocity": joint.limits.velocity, "effort": joint.limits.effort}
        if joint.kind is not JointKind.CONTINUOUS:
            limits |= {"lower": joint.limits.lower, "upper": joint.limits.upper}
        inside = f'  <axis xyz="{_words(joint.axis)}"/>\n  <limit {_attributes(limits)}/>\n'
        drive = {"damping": joint.drive.viscous, "friction": joint.drive.coulomb}
        if stated := {key: value for key, value in drive.items() if value is not None}:
            inside += f"  <dynamics {_attributes(stated)}/>\n"
        placement = hook.pose.inverse() @ joint.placement
        parts.append(_urdf_joint(joint.name, joint.kind.value, hook.name, link.name, placement, inside))
    return f'<?xml version="1.0"?>\n<robot name="{robot.name}">\n{"".join(parts)}</robot>\n'


@dataclass(frozen=True)
class _Hook:
    """A link to hang something on, and its pose in the moving link that carries it."""

    name: str
    pose: Pose


def _last_fixed(link: Link) -> _Hook:
    return (
        _Hook(link.fixed[-1].name, link.fixed[-1].placement)
        if link.fixed
        else _Hook(link.name, Pose.identity())
    )


def _words(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def _attributes(values: dict[str, float]) -> str:
    return " ".join(f'{key}="{value!r}"' for key, value in values.items())


def _origin(pose: Pose) -> str:
    rpy = pin.rpy.matrixToRpy(pose.rotation.copy())
    return f'<origin xyz="{_words(pose.translation)}" rpy="{_words(rpy)}"/>'


def _urdf_joint(name: str, kind: str, parent: str, child: str, placement: Pose, inside: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}">\n  {_origin(placement)}\n'
        f'  <parent link="{parent}"/>\n  <child link="{child}"/>\n{inside}</joint>\n'
    )


def _urdf_link(name: str, body: Body | None, collision: Sequence[Geometry]) -> str:
    inside = ""
    if body is not None:
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        pose = Pose(pin.rpy.rpyToMatrix(np.array([0.4, -0.7, 1.1])), body.com)  # axes of its own
        tensor = pose.rotation.T @ body.inertia @ pose.rotation
        values = tensor[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].tolist()
        inside = (
            f'  <inertial>\n    {_origin(pose)}\n    <mass value="{body.mass!r}"/>\n'
            f"    <inertia {_attributes(dict(zip(keys, values, strict=True)))}/>\n  </inertial>\n"
        )
    for item in collision:
        shape = f"<geometry>{_urdf_shape(item.shape)}</geometry>"
        inside += f"  <collision>{_origin(item.pose)}{shape}</collision>\n"
    return f'<link name="{name}">\n{inside}</link>\n'


def _urdf_shape(shape: Shape) -> str:
    match shape:
        case Sphere(radius):
            return f'<sphere radius="{radius!r}"/>'
        case Box(x, y, z):
            return f'<box size="{_words((x, y, z))}"/>'
        case Cylinder(radius, length):
            return f'<cylinder radius="{radius!r}" length="{length!r}"/>'
        case MeshFile(file, scale):
            return f'<mesh filename="{file}" scale="{_words(scale)}"/>'
