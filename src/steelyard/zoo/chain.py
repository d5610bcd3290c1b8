"""What the robots of the zoo are written with: tables of numbers that become joints, links and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import InputError
from steelyard.inertia import Body, box, capsule
from steelyard.pose import Pose
from steelyard.robot import (
    Box,
    Capsule,
    FixedLink,
    Geometry,
    Joint,
    JointKind,
    Limits,
    Link,
    Robot,
)

Triple = tuple[float, float, float]
Inertial = tuple[float, Triple, tuple[float, float, float, float, float, float]]
"""Mass [kg]; centre of mass [m]; Ixx, Ixy, Ixz, Iyy, Iyz, Izz about it [kg·m²]: the order of a URDF."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One joint of a chain with the link it moves.

    Attributes:
        joint: the joint's name.
        link: the link's name.
        placement: X_PJ, the link's frame in its parent's at q = 0.
        own: nominal inertia of the link.
        limits: what the joint may do.
        drive: what sits at the joint.
        axis: the joint's axis in the link's frame, dimensionless.
        kind: how the joint moves.
        fixed: what is bolted to the link.
        collision: its shapes.
    """

    joint: str
    link: str
    placement: Pose
    own: Body
    limits: Limits
    drive: Drive
    axis: Triple = (0.0, 0.0, 1.0)
    kind: JointKind = JointKind.REVOLUTE
    fixed: tuple[FixedLink, ...] = ()
    collision: tuple[Geometry, ...] = ()


def chain(stages: Sequence[Stage], *, first: int = 0) -> tuple[tuple[Joint, ...], tuple[Link, ...]]:
    """Turn a chain that starts at the base into joints and links.

    Args:
        stages: from the base outwards.
        first: how many joints the robot has already, so that several chains can share a base.

    Returns:
        The joints and the links they move.
    """
    joints = []
    for i, stage in enumerate(stages):
        parent = first + i - 1 if i else -1
        axis = np.array(stage.axis)
        joints.append(
            Joint(stage.joint, stage.kind, parent, stage.placement, axis, stage.limits, stage.drive)
        )
    links = tuple(Link(stage.link, stage.own, stage.fixed, stage.collision) for stage in stages)
    return tuple(joints), links


def modified_dh(quarter_turns: int, a: float, d: float) -> Pose:
    r"""Where a joint sits by Craig's rule, $R_x(\alpha)\,T_x(a)\,T_z(d)$; it moves about or along z.

    Args:
        quarter_turns: alpha in units of 90 degrees, so that the rotation is exact.
        a: distance along the parent's x, m.
        d: distance along the joint's z, m.

    Returns:
        X_PJ.
    """
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter_turns % 4]
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return Pose(R, R @ np.array([a, 0.0, d]))


def placed(translation: Sequence[float], quaternion: Sequence[float] = (0, 0, 0, 1)) -> Pose:
    """A pose by its origin and a quaternion of any length: whole numbers give exact quarter turns.

    Args:
        translation: x, y, z, shape (3,), m.
        quaternion: x, y, z, w, shape (4,), dimensionless.
    """
    return Pose.from_quaternion(np.array(quaternion, dtype=float), np.array(translation, dtype=float))


def tabulated(mass: float, com: Triple, tensor: tuple[float, float, float, float, float, float]) -> Body:
    """The body of a row of numbers in the order of `Inertial`.

    Args:
        mass: kg.
        com: x, y, z, m.
        tensor: Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass, kg·m².
    """
    xx, xy, xz, yy, yz, zz = tensor
    return Body(mass, np.array(com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def bar(radius: float, start: Sequence[float], end: Sequence[float]) -> Geometry:
    """A capsule between two points of its link.

    Args:
        radius: m.
        start: centre of one cap, shape (3,), m.
        end: centre of the other, shape (3,), m.

    Returns:
        The capsule.
    """
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    z = (b - a) / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    R: Array = np.column_stack([x, np.cross(z, x), z])
    return Geometry(Capsule(radius, length), Pose(R, (a + b) / 2))


def solid(mass: float, geometry: Geometry) -> Body:
    """A body of constant density that fills a capsule or a box.

    Args:
        mass: kg.
        geometry: the shape at its place on the link.

    Returns:
        The body in the link's frame.

    Raises:
        InputError: the shape is neither.
    """
    match geometry.shape:
        case Capsule(radius, length):
            return capsule(radius, length, mass=mass).moved(geometry.pose)
        case Box(x, y, z):
            return box((x, y, z), mass=mass).moved(geometry.pose)
    raise InputError(f"must be a capsule or a box, got {type(geometry.shape).__name__}.", place="geometry")


# One robot of the zoo: how to build it and where each of its numbers comes from.


@dataclass(frozen=True)
class ZooEntry:
    """A robot that ships with the package.

    Attributes:
        name: what to call it on the command line.
        summary: what it is, in one line.
        sources: for each group of numbers, where they come from; `assumed` says that nobody published them.
        build: makes the robot.
    """

    name: str
    summary: str
    sources: Mapping[str, str]
    build: Callable[[], Robot]
