"""Links and joints as a description states them, before they are one tree."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.geometry import Geometry
from steelyard.robot.joint import JointKind, Limits, Mimic


@dataclass(frozen=True, eq=False)
class RawLink:
    """A link as its description states it.

    `inertial_place` is the line of its inertial, where it has one; `virtual` as in `Link`.
    """

    name: str
    place: str
    body: Body | None
    collision: tuple[Geometry, ...]
    inertial_place: str = ""
    virtual: bool = False


@dataclass(frozen=True, eq=False)
class RawJoint:
    """A joint as its description states it; `kind` is `None` for a fixed one."""

    name: str
    place: str
    kind: JointKind | None
    parent: str
    child: str
    placement: Pose
    axis: Array
    limits: Limits
    drive: Drive
    pitch: float = 0.0
    mimic: Mimic | None = None
