"""A robot as URDF: a new file, or the numbers of a given one replaced where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from steelyard.errors import DescriptionError
from steelyard.formats.xml_text import attributes, words
from steelyard.inertia import Body, same_body
from steelyard.pose import Pose
from steelyard.robot import (
    URDF_KINDS,
    Box,
    Capsule,
    Cylinder,
    DescriptionSource,
    Geometry,
    MeshFile,
    Robot,
    Sphere,
    inertial_element,
    origin_element,
    parse_urdf,
    urdf_text,
)

# A robot as a new URDF: its tree, limits, friction, inertias and simple shapes.

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


def _link(name: str, body: Body | None, collision: Sequence[Geometry]) -> Iterator[str]:
    yield f"  <link{attributes({'name': name})}>"
    if body is not None:
        yield f"    {inertial_element(body)}"
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

_ENCODING = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["'](?!utf-8["'])""", re.IGNORECASE)


def edited_urdf(description: bytes, robot: Robot) -> bytes:
    """Write a robot's inertias and joint friction into the URDF it was read from.

    Only the numbers of `<inertial>` and `<dynamics>` change; an element that is missing is put in before its
    siblings. Where a file already states a robot's numbers, its text stays. An `<inertial>` that changes gets
    the axes of its link. A joint that the robot holds locked becomes a fixed one in that place; its links
    stay, with their meshes.

    Args:
        description: the URDF in UTF-8; its links and joints must be the robot's.
        robot: the robot with the numbers to write.

    Returns:
        The edited text.

    Raises:
        DescriptionError: the text is no URDF in UTF-8, or describes other links or joints.
    """
    stated = urdf_of(description, robot)
    source = DescriptionSource.of_urdf(description)
    before = stated.own_bodies
    bodies = {name: body for name, body in robot.own_bodies.items() if not same_body(body, before[name])}
    drives = {
        joint.name: {name: joint.drive.value(name) or 0.0 for name in ("viscous", "coulomb")}
        for joint in robot.joints
    }
    moving = {joint.name: joint for joint in source.robot.joints}
    held = {lock.name: moving[lock.name].motion(lock.position) for lock in stated.locks}
    edited = source.patched(bodies, drives, held=held, own_lines=False)
    (content,) = edited.files.values()
    return content


def urdf_of(description: bytes, robot: Robot) -> Robot:
    """What the URDF states that a robot was read from, with the joints held that the robot holds.

    Args:
        description: the URDF in UTF-8.
        robot: the robot.

    Returns:
        The robot of the file.

    Raises:
        DescriptionError: the text is no URDF in UTF-8, or describes other links or joints.
    """
    if _ENCODING.search(description[:200]) or description[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DescriptionError("is not in UTF-8.", place="URDF", remedy="Convert it.")
    stated = parse_urdf(description)
    if any(link.virtual for link in stated.links):
        raise DescriptionError("has a planar joint, whose three axes share one friction.", place="URDF")
    locks = {held.name: held.position for held in robot.locks if held.name in stated.joint_names}
    if locks and len(locks) < len(stated.joints):
        stated = stated.locked({name: q if q.size > 1 else q[0] for name, q in locks.items()})

    def tree(one: Robot) -> tuple[object, ...]:
        joints = tuple((joint.name, joint.kind, joint.parent) for joint in one.joints)
        links = tuple((link.name, *(part.name for part in link.fixed)) for link in (one.base, *one.links))
        return joints, links

    if tree(stated) != tree(robot):
        raise DescriptionError(
            f"has other links or joints than '{robot.name}'.",
            place="URDF",
            remedy="Bodies that were added since have no place in it.",
        )
    return stated
