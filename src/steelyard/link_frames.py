"""Frames on the links to state a reduction in: the description's own, or modified Denavit-Hartenberg."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, UnknownNameError
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Robot

__all__ = ["LinkFrames", "modified_dh_frames", "urdf_frames"]

# One frame for every moving link, and the table that ties them together where there is one.


@dataclass(frozen=True)
class DHRow:
    r"""One joint in modified Denavit-Hartenberg numbers, stated for its zero position.

    $$X = R_z(\gamma)\,T_z(b)\,R_x(\alpha)\,T_x(a)\,R_z(\theta)\,T_z(d)$$

    is the frame of the joint's link in that of the parent link; a serial chain has $\gamma = b = 0$.

    Attributes:
        joint: name of the joint.
        kind: how it moves.
        alpha: turn about the parent's x, rad.
        a: way along the parent's x, m.
        theta: turn about z, rad; the position of a joint that rotates is added to it.
        d: way along z, m; the position of a prismatic joint is added to it.
        gamma: turn about the parent's z, rad; zero unless the tree branches at the parent.
        b: way along the parent's z, m; zero unless the tree branches at the parent.
        pitch: way along z by turn about it, m/rad; zero unless the joint is helical.
    """

    joint: str
    kind: JointKind
    alpha: float
    a: float
    theta: float
    d: float
    gamma: float = 0.0
    b: float = 0.0
    pitch: float = 0.0

    def pose(self, position: float = 0.0) -> Pose:
        """The frame of the joint's link in that of the parent link.

        Args:
            position: of the joint, rad or m.

        Returns:
            X.
        """
        turn, way = (position, self.pitch * position) if self.kind.rotates else (0.0, position)
        return (
            Pose.from_rpy((0.0, 0.0, self.gamma), (0.0, 0.0, self.b))
            @ Pose.from_rpy((self.alpha, 0.0, 0.0), (self.a, 0.0, 0.0))
            @ Pose.from_rpy((0.0, 0.0, self.theta + turn), (0.0, 0.0, self.d + way))
        )


@dataclass(frozen=True, eq=False)
class LinkFrames:
    """One frame D for every moving link.

    Attributes:
        name: a word for the choice, such as `mdh`; it ends the names of parameters stated in these frames.
        links: names of the moving links.
        poses: X_LD of each, the frame D in the link's own frame.
        base: the frame from which the rows of the first joints start, in the base frame.
        rows: one row a joint, `None` for a joint without an axis; empty where the frames follow no table.
        misfit: largest entry by which a row's homogeneous matrix differs from the frames it ties together,
            dimensionless or m; no more than round-off unless axes are nearly, but not exactly, parallel.
    """

    name: str
    links: tuple[str, ...]
    poses: tuple[Pose, ...]
    base: Pose
    rows: tuple[DHRow | None, ...] = ()
    misfit: float = 0.0
    schema: int = 1

    def __post_init__(self) -> None:
        if len(self.poses) != len(self.links) or len(self.rows) not in (0, len(self.links)):
            raise InputError(
                f"{len(self.links)} links do not match {len(self.poses)} poses and {len(self.rows)} rows.",
                place="link frames",
            )

    def pose(self, link: str) -> Pose:
        """The frame D of a link.

        Args:
            link: name of a moving link.

        Returns:
            X_LD.

        Raises:
            UnknownNameError: no such link; lists those that exist.
        """
        if link not in self.links:
            raise UnknownNameError("moving link", link, self.links, place="link frames")
        return self.poses[self.links.index(link)]


def urdf_frames(robot: Robot) -> LinkFrames:
    """The frames the description gives its links, so that each D is the link's own frame.

    Returns:
        The frames, named `urdf`.
    """
    here = Pose.identity()
    return LinkFrames("urdf", robot.link_names, (here,) * len(robot.links), here)


# Modified Denavit-Hartenberg frames (Craig; Khalil and Kleinfinger for trees) from the axes of a robot.
#
# The frame D of a link has its z along the link's joint and its x along the common normal to the next joint's
# axis, with the origin at the foot of that normal. Where this leaves a choice, it is made as follows.
#
# - Of several next joints, the one at the head of the longest chain counts; of equal chains, the first.
# - x points the way that turns it least against the normal between the parent's axis and the link's own: at
#   zero position $|\theta| \le 90°$, and $a$ carries a sign. Of two ways at right angles it is $+90°$.
# - Next to a parallel axis the origin is where $d = 0$; next to the same line, $\theta = 0$ as well.
# - A last link has $\theta = d = 0$ at zero position.
# - A prismatic axis is the line through the origin of its link's frame. No motion tells where it is, so here,
#   and only here, the place of the description's frame matters.
# - The base has a frame by the same rules, the z of the base frame being its axis.
# - A link on a floating or spherical joint keeps its own frame, and is no next joint to its parent.

PARALLEL = 1e-5
"""Axes within this angle, rad, count as parallel: the quarter turn `1.5708` is 4e-6 off."""
COINCIDENT = 1e-6
"""Parallel axes within this distance, m, count as one line."""


@dataclass(frozen=True, eq=False)
class _Line:
    """An axis: a point on it, shape (3,), m, and its unit direction, shape (3,), dimensionless."""

    point: Array
    direction: Array


@dataclass(frozen=True, eq=False)
class _Normal:
    """What is perpendicular to two lines: its unit direction and its feet on the first and on the second."""

    direction: Array
    first: Array
    second: Array


def modified_dh_frames(robot: Robot, *, parallel: float = PARALLEL) -> LinkFrames:
    """The modified Denavit-Hartenberg frames of a tree, found from its axes at zero position.

    Axes that are nearly parallel have their common normal far away. A calibrated robot, whose axes are never
    quite parallel, needs a wider tolerance than one whose description is only rounded.

    Args:
        robot: the robot.
        parallel: axes within this angle count as parallel, rad.

    Returns:
        The frames, named `mdh`, with their table.
    """
    X_0L: list[Pose] = []
    for joint in robot.joints:
        X_0L.append(joint.placement if joint.parent < 0 else X_0L[joint.parent] @ joint.placement)
    axes = [
        _Line(X.translation, X.rotation @ joint.axis) if joint.kind.nv == 1 else None
        for joint, X in zip(robot.joints, X_0L, strict=True)
    ]
    following = _next_joints(robot)
    base = _turned_to(Pose.identity(), axes, following[-1], parallel)
    X_0D: list[Pose] = []
    rows: list[DHRow | None] = []
    misfit = 0.0
    for i, (joint, axis) in enumerate(zip(robot.joints, axes, strict=True)):
        if axis is None:
            X_0D.append(X_0L[i])
            rows.append(None)
            continue
        parent = base if joint.parent < 0 else X_0D[joint.parent]
        normal = _common_normal(parent, axis, parallel)
        arrival = _frame(normal.second, normal.direction, axis.direction)
        D = _turned_to(arrival, axes, following[i], parallel)
        row = _row(joint, parent, normal, arrival, D)
        misfit = max(misfit, float(np.abs((parent @ row.pose()).matrix - D.matrix).max()))
        X_0D.append(D)
        rows.append(row)
    poses = tuple(L.inverse() @ D for L, D in zip(X_0L, X_0D, strict=True))
    return LinkFrames("mdh", robot.link_names, poses, base, tuple(rows), misfit)


def _next_joints(robot: Robot) -> dict[int, int]:
    """By link, -1 for the base: the joint that sets its x, or -1 where none does."""
    count = len(robot.joints)
    length = [1] * count
    for i in reversed(range(count)):
        parent = robot.joints[i].parent
        if parent >= 0:
            length[parent] = max(length[parent], 1 + length[i])
    following = dict.fromkeys(range(-1, count), -1)
    for i, joint in enumerate(robot.joints):
        best = following[joint.parent]
        if joint.kind.nv == 1 and (best < 0 or length[i] > length[best]):
            following[joint.parent] = i
    return following


def _turned_to(frame: Pose, axes: list[_Line | None], following: int, parallel: float) -> Pose:
    """The frame slid along and turned about its z to meet the common normal to the next axis."""
    axis = axes[following] if following >= 0 else None
    if axis is None:
        return frame
    normal = _common_normal(frame, axis, parallel)
    return _frame(normal.first, normal.direction, frame.rotation[:, 2])


def _common_normal(frame: Pose, axis: _Line, parallel: float) -> _Normal:
    """From the z axis of a frame to another axis, on the side that turns least against the frame's x."""
    o, (x, _, z), (c, k) = frame.translation, frame.rotation.T, (axis.point, axis.direction)
    across = np.cross(z, k)
    sine = float(np.linalg.norm(across))
    if sine > parallel:
        u = across / sine
        # Feet o + s z and c + t k, whose difference is perpendicular to z and to k.
        s = np.dot(np.cross(c - o, k), u) / sine
        t = np.dot(np.cross(c - o, z), u) / sine
        first, second = o + s * z, c + t * k
    else:
        offset = (c - o) - np.dot(c - o, z) * z
        distance = float(np.linalg.norm(offset))
        u = offset / distance if distance > COINCIDENT else x
        first, second = o, c + np.dot(o - c, k) * k
    cosine = float(np.dot(u, x))
    backwards = cosine < 0 if abs(cosine) > parallel else np.dot(np.cross(z, x), u) < 0
    return _Normal(-u if backwards else u, first, second)


def _frame(origin: Array, x: Array, z: Array) -> Pose:
    """The frame with the given z, and x as nearly as it can be."""
    x = x - np.dot(x, z) * z
    x = x / np.linalg.norm(x)
    return Pose(np.column_stack([x, np.cross(z, x), z]), origin)


def _row(joint: Joint, parent: Pose, normal: _Normal, arrival: Pose, D: Pose) -> DHRow:
    """The numbers that lead from the parent's frame along the normal to the axis, and on it to D."""
    x, z = parent.rotation[:, 0], parent.rotation[:, 2]
    u, k = arrival.rotation[:, 0], arrival.rotation[:, 2]
    return DHRow(
        joint.name,
        joint.kind,
        alpha=_angle(z, k, normal.direction),
        a=float(np.dot(normal.second - normal.first, normal.direction)),
        theta=_angle(u, D.rotation[:, 0], k),
        d=float(np.dot(D.translation - arrival.translation, k)),
        gamma=_angle(x, normal.direction, z),
        b=float(np.dot(normal.first - parent.translation, z)),
        pitch=joint.pitch,
    )


def _angle(start: Array, end: Array, axis: Array) -> float:
    """How far `start` turns about `axis` to become `end`, rad in (-π, π]."""
    return math.atan2(float(np.dot(np.cross(start, end), axis)), float(np.dot(start, end)))
