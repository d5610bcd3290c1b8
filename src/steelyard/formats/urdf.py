"""A robot as URDF: a new file, or the numbers of a given one replaced where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from steelyard.errors import DescriptionError
from steelyard.formats.xml_text import attributes, words
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import (
    URDF_KINDS,
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Joint,
    MeshFile,
    Robot,
    Sphere,
    origin_element,
    parse_urdf,
    urdf_text,
)

# A robot as a new URDF: its tree, limits, friction, inertias and simple shapes.

TENSOR_ENTRIES = {
    "ixx": (0, 0),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyy": (1, 1),
    "iyz": (1, 2),
    "izz": (2, 2),
}
"""Where the attributes of `<inertia>` stand in the tensor."""
_UNBOUNDED = "1e+30"


def new_urdf(robot: Robot) -> bytes:
    """Write a robot as URDF. Gravity, meshes and every drive term but viscous and Coulomb have no word in it.

    Returns:
        XML in UTF-8, one element to a line.

    Raises:
        DescriptionError: it has a joint that URDF cannot state.
    """
    for joint in robot.joints:
        if joint.kind not in URDF_KINDS:
            raise DescriptionError(
                f"it is {joint.kind.value}, which URDF cannot state.",
                place=f"joint '{joint.name}'",
                remedy=f"URDF has {', '.join(kind.value for kind in URDF_KINDS)} joints.",
            )
    return urdf_text(robot, _link, _UNBOUNDED)


def inertial(body: Body) -> str:
    """An `<inertial>` whose axes are the link's.

    Args:
        body: the body in the link's frame.

    Returns:
        The element on one line.
    """
    tensor = {key: words(body.inertia[at]) for key, at in TENSOR_ENTRIES.items()}
    return (
        f'<inertial><origin xyz="{words(body.com)}" rpy="0 0 0"/><mass value="{words(body.mass)}"/>'
        f"<inertia{attributes(tensor)}/></inertial>"
    )


def friction(joint: Joint) -> dict[str, str]:
    """The attributes of a joint's `<dynamics>`; none where nothing is known.

    Returns:
        Their text by name.
    """
    known = {"damping": joint.drive.viscous, "friction": joint.drive.coulomb}
    return {name: words(value) for name, value in known.items() if value is not None}


def _link(name: str, body: Body | None, collision: Sequence[Geometry]) -> Iterator[str]:
    yield f"  <link{attributes({'name': name})}>"
    if body is not None:
        yield f"    {inertial(body)}"
    for item in collision:
        for shape, pose in _shapes(item):
            yield f"    <collision>{origin_element(pose)}<geometry>{shape}</geometry></collision>"
    yield "  </link>"


def _shapes(item: Geometry) -> Iterator[tuple[str, Pose]]:
    """The shapes URDF has a word for; a capsule, which it lacks, is a cylinder and two balls."""
    match item.shape:
        case Sphere(radius):
            yield f'<sphere radius="{words(radius)}"/>', item.pose
        case Box(x, y, z):
            yield f'<box size="{words((x, y, z))}"/>', item.pose
        case Cylinder(radius, length):
            yield f'<cylinder radius="{words(radius)}" length="{words(length)}"/>', item.pose
        case Capsule(radius, length):
            yield f'<cylinder radius="{words(radius)}" length="{words(length)}"/>', item.pose
            for end in (-length / 2, length / 2):
                centre = Pose(item.pose.rotation, item.pose.apply((0.0, 0.0, end)))
                yield f'<sphere radius="{words(radius)}"/>', centre
        case MeshFile():
            return


# The numbers of a URDF file replaced where they stand; every other byte stays as it was.

_TAG = re.compile(rb"""<(?:[^<>"']++|"[^"]*"|'[^']*')*+>""")
_ATTRIBUTE = re.compile(rb"""([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_ENCODING = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["'](?!utf-8["'])""", re.IGNORECASE)
_MASSLESS = Body(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass
class _Element:
    """An element and where its start tag stands: from `start` to `inside`."""

    tag: str
    stated: Mapping[str, str]
    start: int
    inside: int
    children: list[_Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[_Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> _Element | None:
        return next(self.all(tag), None)


def edited_urdf(description: bytes, robot: Robot) -> bytes:
    """Write a robot's inertias and joint friction into the URDF it was read from.

    Only the numbers of `<inertial>` and `<dynamics>` change; an element that is missing is put in before its
    siblings. Where a file already states a robot's numbers, its text stays. An `<inertial>` that changes gets
    the axes of its link.

    Args:
        description: the URDF in UTF-8; its links and joints must be the robot's.
        robot: the robot with the numbers to write.

    Returns:
        The edited text.

    Raises:
        DescriptionError: the text is no URDF in UTF-8, or describes other links or joints.
    """
    if _ENCODING.search(description[:200]) or description[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DescriptionError("is not in UTF-8.", place="URDF", remedy="Convert it.")
    stated = parse_urdf(description)
    _check_same(stated, robot)
    root = _parsed(description)
    bodies, before = _bodies(robot), _bodies(stated)
    edits = _Edits(description)
    for link in root.all("link"):
        name = link.stated["name"].strip()
        if not _same(bodies[name], before[name]):
            _edit_link(link, bodies[name], edits)
    friction_before = {joint.name: friction(joint) for joint in stated.joints}
    elements = {element.stated["name"].strip(): element for element in root.all("joint")}
    for joint in robot.joints:
        if friction(joint) != friction_before[joint.name]:
            _edit_friction(elements[joint.name], friction(joint), edits)
    return edits.result()


def _bodies(robot: Robot) -> dict[str, Body | None]:
    """The inertia of every link of the description by itself."""
    bodies: dict[str, Body | None] = {}
    for link in (robot.base, *robot.links):
        bodies[link.name] = link.own
        bodies |= {part.name: part.body for part in link.fixed}
    return bodies


def _same(one: Body | None, other: Body | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.mass == other.mass
        and np.array_equal(one.com, other.com)
        and np.array_equal(one.inertia, other.inertia)
    )


def _check_same(stated: Robot, robot: Robot) -> None:
    def tree(one: Robot) -> tuple[object, ...]:
        joints = tuple((joint.name, joint.kind, joint.parent) for joint in one.joints)
        links = tuple((link.name, *(part.name for part in link.fixed)) for link in (one.base, *one.links))
        return joints, links

    if any(link.virtual for link in stated.links):
        raise DescriptionError("has a planar joint, whose three axes share one friction.", place="URDF")
    if tree(stated) != tree(robot):
        raise DescriptionError(
            f"has other links or joints than '{robot.name}'.",
            place="URDF",
            remedy="Joints that were locked and bodies that were added since have no place in it.",
        )


def _edit_link(link: _Element, body: Body | None, edits: _Edits) -> None:
    found = link.first("inertial")
    if found is None:
        if body is not None:
            edits.insert(link, inertial(body))
        return
    body = _MASSLESS if body is None else body
    mass, tensor, origin = found.first("mass"), found.first("inertia"), found.first("origin")
    if mass is None or tensor is None:
        raise DescriptionError("an <inertial> lacks its mass or its inertia.", place="URDF")
    edits.set(mass, {"value": words(body.mass)})
    edits.set(tensor, {key: words(body.inertia[at]) for key, at in TENSOR_ENTRIES.items()})
    if origin is None:
        edits.insert(found, f'<origin xyz="{words(body.com)}" rpy="0 0 0"/>')
    else:
        edits.set(origin, {"xyz": words(body.com), **({"rpy": "0 0 0"} if "rpy" in origin.stated else {})})


def _edit_friction(joint: _Element, values: Mapping[str, str], edits: _Edits) -> None:
    found = joint.first("dynamics")
    if found is None:
        edits.insert(joint, f"<dynamics{attributes(values)}/>")
        return
    absent = {name: "0" for name in ("damping", "friction") if name in found.stated}
    edits.set(found, {**absent, **values})


class _Edits:
    """Pieces of a text to put in place of others, made at once."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._pieces: list[tuple[int, int, bytes]] = []

    def set(self, element: _Element, values: Mapping[str, str]) -> None:
        """Give attributes their values, adding those that are missing."""
        spans = {
            match.group(1).decode(): match.span()
            for match in _ATTRIBUTE.finditer(self._text, element.start + 1, element.inside)
        }
        after_tag = element.start + 1 + len(element.tag.encode())
        for name, value in values.items():
            stated = f"{name}={quoteattr(value)}".encode()
            if name in spans:
                self._pieces.append((*spans[name], stated))
            else:
                self._pieces.append((after_tag, after_tag, b" " + stated))

    def insert(self, element: _Element, child: str) -> None:
        """Put a child before the others."""
        at = element.inside
        if self._text[at - 2 : at] == b"/>":
            self._pieces.append((at - 2, at, f">{child}</{element.tag}>".encode()))
        else:
            self._pieces.append((at, at, child.encode()))

    def result(self) -> bytes:
        text, done = [], 0
        for start, end, piece in sorted(self._pieces, key=lambda item: item[:2]):
            text += [self._text[done:start], piece]
            done = end
        return b"".join([*text, self._text[done:]])


def _parsed(text: bytes) -> _Element:
    parser = expat.ParserCreate("utf-8")
    roots: list[_Element] = []
    above: list[_Element] = []

    def start(tag: str, stated: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        match = _TAG.match(text, at)
        if match is None:
            raise DescriptionError("a tag has no end.", place=f"byte {at}")
        element = _Element(tag, stated, at, match.end())
        (above[-1].children if above else roots).append(element)
        above.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _tag: above.pop()
    parser.Parse(text, True)
    return roots[0]
