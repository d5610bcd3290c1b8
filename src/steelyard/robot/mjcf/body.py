r"""The bodies of an MJCF file as links and joints.

A body's joints act one after the other, all stated in the body's frame as the file draws it:
$X_{PB}(q) = X_{PB}\,J_1(q_1)\,J_2(q_2)\dots$ Each joint's child frame has the body's axes and sits in its
anchor, so the link of a body has its frame in the anchor of its last joint. Where that is not the body's
origin, the origin is remembered as the fixed link `<body>/origin`. The world is the base; a free joint's
coordinates are those of the body in the world, wherever the file draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import DescriptionError
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose
from steelyard.robot.compound import chained
from steelyard.robot.joint import JointKind, Limits
from steelyard.robot.mjcf.content import Context, Item
from steelyard.robot.mjcf.defaults import MAIN
from steelyard.robot.mjcf.joint import BodyJoint, read_joint
from steelyard.robot.mjcf.link import read_link, read_world
from steelyard.robot.raw import RawJoint, RawLink
from steelyard.robot.xml import Element

WORLD = "world"
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Bodies:
    """Every body of a file.

    Attributes:
        links: the bodies, the world first; the frames between several joints of one body, and the origins of
            bodies whose link has its frame elsewhere.
        joints: their joints, and a fixed one for each body without, from the world outwards.
        references: coordinate of each moving joint where the file draws it, rad or m, by name.
    """

    links: list[RawLink] = field(default_factory=list)
    joints: list[RawJoint] = field(default_factory=list)
    references: dict[str, float] = field(default_factory=dict)


def read_bodies(root: Element, context: Context) -> Bodies:
    """Read all `<worldbody>` elements as one tree.

    Args:
        root: the `<mujoco>` element, includes expanded.
        context: what to read with.

    Returns:
        The bodies.

    Raises:
        DescriptionError: an element or a number that is needed is missing or malformed.
        UnknownNameError: a name does not exist; lists those that do.
    """
    world = Element("worldbody", {}, root.file, root.line)
    for section in root.all("worldbody"):
        world.children += section.children
        world.file, world.line = section.file, section.line
    context.note_names(world)
    items = list(context.content(world, MAIN))
    bodies = Bodies([read_world(WORLD, world.place, items, context)])
    start = _Carrier(WORLD, Pose.identity(), moves=False)
    tasks = [(item, start) for item in reversed(items) if item.element.tag == "body"]
    while tasks:
        item, parent = tasks.pop()
        own, inside = _add(bodies, item, parent, context)
        tasks += [(inner, own) for inner in reversed(inside) if inner.element.tag == "body"]
    return bodies


@dataclass(frozen=True, eq=False)
class _Carrier:
    """A body that carries others: its link, its own frame X_LB in that link's, and whether it can move."""

    link: str
    frame: Pose
    moves: bool


def _add(bodies: Bodies, item: Item, parent: _Carrier, context: Context) -> tuple[_Carrier, list[Item]]:
    """Add one body; the body as a carrier, and what it holds."""
    element = item.element
    place = element.place
    name = element.attributes.get("name", "").strip() or context.fresh(f"body{len(bodies.links)}")
    around = context.defaults.known(element.attributes.get("childclass", item.around), element)
    items = list(context.content(element, around))
    joints = _joints(items, name, parent.link, context)
    weld = context.fresh(f"{name}_fixed")
    X_PB = Pose.identity()
    if not (joints and joints[0].kind is JointKind.FLOATING):
        pose = context.placements.pose(element, joints[0].name if joints else weld)
        X_PB = parent.frame @ item.frame @ pose
    offset = joints[-1].anchor if joints else np.zeros(3)
    X_LB = Pose(np.eye(3), -offset)
    if element.number("gravcomp", 0.0) != 0.0:
        message = f"body '{name}' is relieved of gravity ('gravcomp'), which is not modelled."
        context.findings.append(Finding(Severity.WARNING, "gravcomp-ignored", message, place))
    own = _Carrier(name, X_LB, parent.moves or bool(joints))
    bodies.links.append(read_link(element, name, items, X_LB, context, moves=own.moves))
    if not joints:
        bodies.joints.append(_fixed(weld, place, parent.link, name, X_PB))
        return own, items
    between, chain = chained(_in_a_row(joints, parent.link, name, X_PB))
    bodies.links.extend(between)
    bodies.joints.extend(chain)
    bodies.references.update({joint.name: joint.reference for joint in joints})
    if offset.any():
        origin = context.fresh(f"{name}/origin")
        bodies.links.append(RawLink(origin, place, None, ()))
        bodies.joints.append(_fixed(weld, place, name, origin, X_LB))
    return own, items


def _joints(items: Sequence[Item], body: str, parent: str, context: Context) -> list[BodyJoint]:
    stated = [item for item in items if item.element.tag in ("joint", "freejoint")]
    joints = []
    for k, item in enumerate(stated, start=1):
        # MuJoCo gives a <freejoint> nothing of the defaults.
        element = context.resolve(item) if item.element.tag == "joint" else item.element
        number = str(k) if len(stated) > 1 else ""
        name = element.attributes.get("name", "").strip() or context.fresh(f"{body}_joint{number}")
        joints.append(
            read_joint(element, name, item.frame, context.compiler, context.placements, context.findings)
        )
    for joint in joints:
        if joint.kind is JointKind.FLOATING and (len(joints) > 1 or parent != WORLD):
            raise DescriptionError(
                f"free joint '{joint.name}' must be the only joint of a body in the world.", place=joint.place
            )
    return joints


def _in_a_row(joints: Sequence[BodyJoint], parent: str, child: str, X_PB: Pose) -> list[RawJoint]:
    """The joints of one body, each placed in the child frame of the one before."""
    row = []
    start: Pose = X_PB
    before: Array = np.zeros(3)
    for joint in joints:
        step = Pose(np.eye(3), joint.anchor - before)
        placement = start @ step @ joint.rest
        row.append(
            RawJoint(
                joint.name,
                joint.place,
                joint.kind,
                parent,
                child,
                placement,
                joint.axis,
                joint.limits,
                joint.drive,
            )
        )
        start, before = Pose.identity(), joint.anchor
    return row


def _fixed(name: str, place: str, parent: str, child: str, placement: Pose) -> RawJoint:
    return RawJoint(name, place, None, parent, child, placement, _Z, Limits(), Drive())
