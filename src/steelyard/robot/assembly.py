"""From the loose links and joints of a description to one tree, fixed links merged and remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Protocol, TypeVar

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import LONGEST_NAME, DescriptionError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.joint import Joint, JointKind, Limits, Mimic
from steelyard.robot.link import FixedLink, Geometry, Link, shapes_in_frame
from steelyard.robot.model import Robot, floating_base, world_link
from steelyard.robot.plausibility import impossible

# Links and joints as a description states them, before they are one tree.


@dataclass(frozen=True, eq=False)
class RawLink:
    """A link as its description states it.

    `inertial_place` is the line of its inertial, where it has one; `virtual` and `visual` as in `Link`.
    """

    name: str
    place: str
    body: Body | None
    collision: tuple[Geometry, ...]
    inertial_place: str = ""
    virtual: bool = False
    visual: tuple[Geometry, ...] = ()


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


# Joints with several axes as chains of one-axis joints, with frames that weigh nothing between them.
#
# A planar joint is two slides and a turn, a universal joint two turns. Each axis then has a name, limits and
# a drive of its own, its rate is the derivative of its coordinate, and everything that works for arms works
# for it. The links in between are `virtual`: their ten parameters exist in the layout and are fixed at zero.

Chain = tuple[list[RawLink], list[RawJoint]]


def chained(joints: Sequence[RawJoint]) -> Chain:
    """Joints between the same two links, one after the other.

    Args:
        joints: from the parent outwards, all with the same parent and child; the placement of each is in the
            child frame of the one before.

    Returns:
        The virtual links between them, and the joints, tied to those.

    Raises:
        DescriptionError: the joints connect different links.
    """
    first, last = joints[0], joints[-1]
    for joint in joints:
        if (joint.parent, joint.child) != (first.parent, first.child):
            raise DescriptionError(
                f"joint '{joint.name}' connects other links than '{first.name}'.", place=joint.place
            )
    between = [RawLink(f"{first.child}/{j.name}", j.place, None, (), virtual=True) for j in joints[:-1]]
    names = [first.parent, *(link.name for link in between), last.child]
    return between, [
        replace(joint, parent=parent, child=child)
        for joint, parent, child in zip(joints, names, names[1:], strict=False)
    ]


def planar(joint: RawJoint) -> Chain:
    """A planar joint: slides along two directions across the joint's axis, then a turn about it.

    The directions are the joint frame's x and y where the axis is z; otherwise they are carried along by the
    smallest rotation that takes z to the axis.

    Args:
        joint: the joint; its axis is the normal of the plane, its drive sits at all three axes, and its
            limits are not used, since one pair of numbers cannot bound three coordinates.

    Returns:
        Two virtual links and the joints `<name>_x`, `<name>_y` and `<name>_angle`, without limits.
    """
    x, y = _across(joint.axis)
    free = replace(joint, limits=Limits())
    return chained(
        [
            replace(free, name=f"{joint.name}_x", kind=JointKind.PRISMATIC, axis=x),
            replace(
                free, name=f"{joint.name}_y", kind=JointKind.PRISMATIC, axis=y, placement=Pose.identity()
            ),
            replace(free, name=f"{joint.name}_angle", kind=JointKind.CONTINUOUS, placement=Pose.identity()),
        ]
    )


def _across(axis: Array) -> tuple[Array, Array]:
    """Where the smallest rotation from z to the axis takes x and y."""
    ax, ay, az = axis
    if az < -1.0 + 1e-12:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    x = np.array([1.0 - ax * ax / (1.0 + az), -ax * ay / (1.0 + az), -ax])
    y = np.array([-ax * ay / (1.0 + az), 1.0 - ay * ay / (1.0 + az), -ay])
    return x / np.linalg.norm(x), y / np.linalg.norm(y)


def assemble_robot(
    name: str,
    links: Sequence[RawLink],
    joints: Sequence[RawJoint],
    findings: Sequence[Finding] = (),
    *,
    source: str = "",
    floating: bool = False,
) -> Robot:
    """Build the robot: one root, parents before children, siblings in the order of the description.

    Args:
        name: the robot's name.
        links: all links.
        joints: all joints, fixed ones included.
        findings: what was noticed while reading.
        source: where the description comes from.
        floating: whether the base is free to move, see `Robot.floating`; then there need be no joint.

    Returns:
        The robot; its findings are those given and those about its inertias, in the order of their lines.

    Raises:
        DescriptionError: duplicate names, unknown links, two parents, no root or several, a loop.
    """
    by_name = _by_name("link", links)
    findings = list(findings)
    joints = _leaders(joints, _by_name("joint", joints), findings)
    parent_joint = _parent_joints(joints, by_name)
    root = _root(links, parent_joint, source)
    tree_joints, moving = _walk(root, by_name, joints)
    reached = {name for link in moving for name in link.names()}
    if unreached := [link for link in links if link.name not in reached]:
        raise DescriptionError(
            f"link '{unreached[0].name}' is its own ancestor.",
            place=parent_joint[unreached[0].name].place,
            remedy="Closed kinematic loops are not supported; cut the loop at one joint.",
        )
    if not tree_joints and not floating:
        raise DescriptionError("every joint is fixed, so nothing can move.", place=source or name)
    base, *rest = [link.finished() for link in moving]
    noticed = _by_line([*findings, *_inertial_findings(moving, tree_joints, by_name)])
    if not tree_joints:
        world = world_link(moving[0].names())
        return Robot(name, world, (floating_base(),), (base,), findings=noticed, source=source)
    robot = Robot(name, base, tuple(tree_joints), tuple(rest), findings=noticed, source=source)
    return robot.floating() if floating else robot


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def place(self) -> str: ...


N = TypeVar("N", bound=_Named)


def _by_name(kind: str, items: Sequence[N]) -> dict[str, N]:
    by_name: dict[str, N] = {}
    for item in items:
        if item.name in by_name:
            raise DescriptionError(
                f"the {kind} name '{item.name}' is used twice, first at {by_name[item.name].place}.",
                place=item.place,
                remedy="Rename one.",
            )
        by_name[item.name] = item
    return by_name


def _leaders(
    joints: Sequence[RawJoint], by_name: Mapping[str, RawJoint], findings: list[Finding]
) -> list[RawJoint]:
    """The joints with every mimic tied to a joint that moves by itself, through those it mimics.

    A joint whose leader does not exist moves by itself: nothing says what it was meant to follow.
    """
    astray = [joint for joint in joints if joint.mimic is not None and joint.mimic.joint not in by_name]
    for joint in astray:
        message = f"joint '{joint.name}' mimics {_unknown(joint.mimic, by_name)}; it moves by itself."
        findings.append(Finding(Severity.ERROR, "unknown-leader", message, joint.place))
    lost = {joint.name for joint in astray}
    joints = [replace(joint, mimic=None) if joint.name in lost else joint for joint in joints]
    by_name = {joint.name: joint for joint in joints}
    followed = []
    for joint in joints:
        k, q_0, leader, passed = 1.0, 0.0, joint, {joint.name}
        while (mimic := leader.mimic) is not None:
            if mimic.joint in passed:
                raise DescriptionError(
                    f"joint '{joint.name}' mimics itself, through {', '.join(sorted(passed))}.",
                    place=joint.place,
                    remedy="One of them must move by itself.",
                )
            k, q_0 = k * mimic.multiplier, k * mimic.offset + q_0
            leader = by_name[mimic.joint]
            passed.add(leader.name)
        if leader is joint:
            followed.append(joint)
        elif leader.kind is None or leader.kind.nv != 1:
            stated = "fixed" if leader.kind is None else leader.kind.value
            raise DescriptionError(
                f"joint '{joint.name}' cannot mimic '{leader.name}', which is {stated}.", place=joint.place
            )
        else:
            followed.append(replace(joint, mimic=Mimic(leader.name, k, q_0)))
    return followed


def _unknown(mimic: Mimic | None, names: Iterable[str]) -> str:
    """The name of a leader that does not exist, with the nearest that does."""
    name = "" if mimic is None else mimic.joint
    shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
    near = get_close_matches(name, list(names), n=1) if shown == name else []
    return f"'{shown}', which does not exist" + (f" (did you mean '{near[0]}'?)" if near else "")


def _parent_joints(joints: Sequence[RawJoint], links: Mapping[str, RawLink]) -> dict[str, RawJoint]:
    parent_joint: dict[str, RawJoint] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in links:
                raise UnknownNameError("link", end, links, place=f"{joint.place}: joint '{joint.name}'")
        if joint.child in parent_joint:
            other = parent_joint[joint.child]
            raise DescriptionError(
                f"link '{joint.child}' is the child of both '{other.name}' and '{joint.name}'.",
                place=joint.place,
                remedy="Closed kinematic loops are not supported; cut the loop at one joint.",
            )
        parent_joint[joint.child] = joint
    return parent_joint


def _root(links: Sequence[RawLink], parent_joint: Mapping[str, RawJoint], source: str) -> str:
    roots = [link.name for link in links if link.name not in parent_joint]
    if len(roots) == 1:
        return roots[0]
    if not links:
        raise DescriptionError("the description has no link.", place=source)
    if not roots:
        raise DescriptionError("every link has a parent, so the joints form a loop.", place=source)
    listed = ", ".join(f"'{root}'" for root in roots[:5]) + (", …" if len(roots) > 5 else "")
    raise DescriptionError(
        f"{len(roots)} links have no parent ({listed}); a robot is one tree.",
        place=source,
        remedy="Connect them with joints.",
    )


@dataclass
class _Moving:
    """A moving link while fixed links are still being folded into it."""

    raw: RawLink
    fixed: list[FixedLink] = field(default_factory=list)
    collision: list[Geometry] = field(default_factory=list)
    visual: list[Geometry] = field(default_factory=list)

    def fold(self, raw: RawLink, X_LF: Pose) -> None:
        self.fixed.append(FixedLink(raw.name, X_LF, raw.body))
        self.collision += shapes_in_frame(raw.collision, X_LF)
        self.visual += shapes_in_frame(raw.visual, X_LF)

    def names(self) -> list[str]:
        return [self.raw.name, *(part.name for part in self.fixed)]

    def finished(self) -> Link:
        return Link(
            self.raw.name,
            self.raw.body,
            tuple(self.fixed),
            (*self.raw.collision, *self.collision),
            self.raw.virtual,
            (*self.raw.visual, *self.visual),
        )


def _walk(
    root: str, links: Mapping[str, RawLink], joints: Sequence[RawJoint]
) -> tuple[list[Joint], list[_Moving]]:
    """Visit the tree depth first, without recursion so that no chain is too long."""
    below: dict[str, list[RawJoint]] = {name: [] for name in links}
    for joint in joints:
        below[joint.parent].append(joint)
    tree: list[Joint] = []
    moving = [_Moving(links[root])]
    # Each task: a joint, the moving link that carries its parent, and the parent's frame in that link's.
    tasks = [(joint, 0, Pose.identity()) for joint in reversed(below[root])]
    while tasks:
        joint, carrier, X_LP = tasks.pop()
        X_LJ = X_LP @ joint.placement
        child = links[joint.child]
        if joint.kind is None:
            moving[carrier].fold(child, X_LJ)
            place = (carrier, X_LJ)
        else:
            tree.append(
                Joint(
                    joint.name,
                    joint.kind,
                    carrier - 1,
                    X_LJ,
                    joint.axis,
                    joint.limits,
                    joint.drive,
                    joint.pitch,
                    joint.mimic,
                )
            )
            moving.append(_Moving(child))
            place = (len(moving) - 1, Pose.identity())
        tasks += [(next_joint, *place) for next_joint in reversed(below[joint.child])]
    return tree, moving


def _inertial_findings(
    moving: Sequence[_Moving], joints: Sequence[Joint], links: Mapping[str, RawLink]
) -> list[Finding]:
    findings = []
    for link in moving[1:]:
        if link.raw.body is None and not link.raw.virtual:
            carried = link.finished().body is not None
            severity = Severity.WARNING if carried else Severity.ERROR
            rest = "; only the links fixed to it state one" if carried else ""
            message = f"moving link '{link.raw.name}' states no inertial{rest}."
            findings.append(Finding(severity, "missing-inertial", message, link.raw.place))
    unmovable = _unmovable(moving, joints)
    for raw in links.values():
        if raw.body is None:
            continue
        place = raw.inertial_place or raw.place
        if finding := impossible(raw.name, raw.body, place):
            findings.append(finding)
        elif raw.body.mass == 0.0:
            singular = raw.name in unmovable
            severity = Severity.ERROR if singular else Severity.WARNING
            rest = ", and nothing it carries has any: its joint accelerates without bound" if singular else ""
            findings.append(Finding(severity, "zero-mass", f"link '{raw.name}' has mass zero{rest}.", place))
    return findings


def _unmovable(moving: Sequence[_Moving], joints: Sequence[Joint]) -> set[str]:
    """The moving links that are stated to have no inertia, nor their rotor, nor anything beyond them."""
    weighty = set()
    for i in reversed(range(len(joints))):
        body = moving[i + 1].finished().body
        if body is None or body.parameters.any() or joints[i].drive.rotor or i in weighty:
            weighty |= {i, joints[i].parent}
    return {moving[i + 1].raw.name for i in range(len(joints)) if i not in weighty}


def _by_line(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """In the order of file and line; what concerns the whole comes last."""

    def line(finding: Finding) -> tuple[bool, str, int]:
        file, _, number = finding.place.rpartition(":")
        return not number.isdecimal(), file, int(number) if number.isdecimal() else 0

    return tuple(sorted(findings, key=line))
