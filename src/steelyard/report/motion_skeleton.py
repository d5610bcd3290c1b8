"""The arm in motion: where its links are many times a second, and the outlines of what must stay apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import forward_kinematics
from steelyard.errors import InputError
from steelyard.limits import Clearance, Part
from steelyard.robot import Robot


class OutlineKind(StrEnum):
    """Whose shape it is."""

    LINK = "link"
    TOOL = "tool"
    SCENE = "scene"


@dataclass(frozen=True, eq=False)
class Outline:
    """A shape that is drawn: all points within a radius of the hull of a few points.

    Attributes:
        title: what it is called.
        kind: whose shape it is.
        link: index in the skeleton of the link that carries it, 0 for the base.
        points: corners of the hull, in that link's frame, shape (n, 3), m.
        radius: how far it reaches beyond the hull, m.
    """

    title: str
    kind: OutlineKind
    link: int
    points: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", read_only(checked("points", self.points, ("n", 3))))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """An arm at many instants; the link at index 0 is the base. Arrays are read-only.

    Attributes:
        links: names of the links, the base first.
        parents: index of the link that carries each one, -1 for the base.
        time: when each picture is taken, increasing, shape (F,), s.
        frames: homogeneous matrices of the links' frames, shape (F, L, 4, 4), dimensionless and m.
        tip: index of the link that carries the tool frame.
        tip_point: origin of the tool frame in that link's frame, shape (3,), m.
        outlines: the shapes, in no order.
        pairs: which two outlines each pair of the clearance is, by index.
    """

    links: tuple[str, ...]
    parents: tuple[int, ...]
    time: Array
    frames: Array
    tip: int
    tip_point: Array
    outlines: tuple[Outline, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        time = checked("time", self.time, ("F",))
        if len(time) < 2 or not (time[1:] > time[:-1]).all():
            raise InputError("must increase, over two pictures at least.", place="skeleton, time")
        frames = checked("frames", self.frames, (len(time), len(self.links), 4, 4))
        object.__setattr__(self, "time", read_only(time))
        object.__setattr__(self, "frames", read_only(frames))
        object.__setattr__(self, "tip_point", read_only(checked("tip_point", self.tip_point, (3,))))


def skeleton_of(robot: Robot, time: ArrayLike, q: ArrayLike, clearance: Clearance | None = None) -> Skeleton:
    """Take pictures of a robot.

    Args:
        robot: the robot.
        time: when, increasing, shape (F,), s.
        q: joint positions, shape (F, nq), rad or m.
        clearance: what must stay apart, whose shapes are drawn; None to draw none.

    Returns:
        The skeleton; its pairs are those of the clearance, in order.
    """
    moving = forward_kinematics(robot, q)
    base = np.broadcast_to(np.eye(4), (len(moving), 1, 4, 4))
    tool = robot.tool_frame
    shown = () if clearance is None else clearance.pairs
    hidden = () if clearance is None else clearance.excluded
    parts = list(dict.fromkeys(part for pair in (*shown, *hidden) for part in (pair.first, pair.second)))
    place = {part: k for k, part in enumerate(parts)}
    return Skeleton(
        links=(robot.base.name, *robot.link_names),
        parents=(-1, *(joint.parent + 1 for joint in robot.joints)),
        time=checked("time", time, ("F",)),
        frames=np.concatenate((base, moving), axis=1),
        tip=tool.link + 1,
        tip_point=tool.placement.translation,
        outlines=tuple(_outline(robot, part) for part in parts),
        pairs=tuple((place[pair.first], place[pair.second]) for pair in shown),
    )


def _outline(robot: Robot, part: Part) -> Outline:
    if part.owner in (robot.base.name, *robot.link_names):
        kind = OutlineKind.LINK
    else:
        kind = OutlineKind.TOOL if part.link >= 0 else OutlineKind.SCENE
    return Outline(part.title, kind, part.link + 1, part.core.points, part.core.radius)
