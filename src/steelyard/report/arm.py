"""The robot as a picture: where its links are, their shapes, and the ellipsoids that move like them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError
from steelyard.inertia import Body, Ellipsoid
from steelyard.layout import Layout
from steelyard.robot import Geometry, MeshFile, Robot


@dataclass(frozen=True, eq=False)
class MassDrawing:
    """The mass of one link by one source.

    Attributes:
        mass: kg.
        ellipsoid: the uniform solid that moves alike, in the link's frame; None where there is none.
        reason: why there is none; empty where there is one.
    """

    mass: float
    ellipsoid: Ellipsoid | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class LinkDrawing:
    """One link.

    Attributes:
        name: its name.
        parent: index of the link that carries it, -1 for none.
        shapes: its simple collision shapes, in its frame; meshes are not drawn.
        nominal: its mass by the description; None where that states none.
        estimated: its mass by the estimate; None where there is no full one.
        tip: a further point the link reaches to, in its frame, shape (3,), m; None for none.
    """

    name: str
    parent: int
    shapes: tuple[Geometry, ...] = ()
    nominal: MassDrawing | None = None
    estimated: MassDrawing | None = None
    tip: Array | None = None


@dataclass(frozen=True, eq=False)
class ArmDrawing:
    """A robot in one or several poses; the link at index 0 is the base.

    Attributes:
        links: the links, the base first.
        frames: homogeneous matrices of the links' frames, shape (P, L, 4, 4), dimensionless and m.
        time: when each pose is taken, shape (P,), s.
        motion: name of the motion the poses are taken from; empty for a single pose of no motion.
    """

    links: tuple[LinkDrawing, ...]
    frames: Array
    time: Array
    motion: str = ""

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("P",))
        frames = checked("frames", self.frames, (len(time), len(self.links), 4, 4))
        if not len(time):
            raise InputError("at least one pose is needed.", place="frames")
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "frames", read_only(frames))


def draw_arm(
    robot: Robot,
    layout: Layout,
    q: ArrayLike,
    *,
    time: ArrayLike | None = None,
    motion: str = "",
    parameters: ArrayLike | None = None,
) -> ArmDrawing:
    """Draw a robot in some poses.

    Args:
        robot: the robot.
        layout: the order of its parameters.
        q: joint positions, shape (P, nq), rad or m.
        time: when each pose is taken, shape (P,), s; None for the numbers from 0.
        motion: name of the motion the poses are taken from.
        parameters: the estimated phi, shape (p,), SI; None where there is no full estimate.
    """
    phi = None if parameters is None else checked("parameters", parameters, (layout.size,))
    moving = forward_kinematics(robot, q)
    frames = np.concatenate((np.broadcast_to(np.eye(4), (len(moving), 1, 4, 4)), moving), axis=1)
    tool = robot.tool_frame
    links = [LinkDrawing(robot.base.name, -1, _simple(robot.base.collision))]
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        estimated = None
        if phi is not None and not link.virtual:
            estimated = _drawn_parameters(phi[layout.of_link(link.name)])
        links.append(
            LinkDrawing(
                link.name,
                joint.parent + 1,
                _simple(link.collision),
                None if link.body is None or link.virtual else _drawn(link.body),
                estimated,
                tool.placement.translation if tool.link == i else None,
            )
        )
    taken = np.arange(len(frames), dtype=float) if time is None else checked("time", time, (len(frames),))
    return ArmDrawing(tuple(links), frames, taken, motion)


def _simple(shapes: tuple[Geometry, ...]) -> tuple[Geometry, ...]:
    return tuple(item for item in shapes if not isinstance(item.shape, MeshFile))


def _drawn(body: Body) -> MassDrawing:
    try:
        return MassDrawing(body.mass, body.equivalent_ellipsoid())
    except InputError as error:
        return MassDrawing(body.mass, None, error.message)


def _drawn_parameters(phi: Array) -> MassDrawing:
    try:
        return _drawn(Body.from_parameters(phi))
    except InputError as error:
        return MassDrawing(float(phi[0]), None, error.message)
