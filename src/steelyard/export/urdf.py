"""A robot as a new URDF: its tree, limits, friction, inertias and simple shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from steelyard.errors import DescriptionError
from steelyard.export.xml_words import attributes, rpy, words
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Geometry, Joint, JointKind, MeshFile, Robot, Sphere

TENSOR_ENTRIES = {
    "ixx": (0, 0),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyy": (1, 1),
    "iyz": (1, 2),
    "izz": (2, 2),
}
"""Where the attributes of `<inertia>` stand in the tensor."""
_UNBOUNDED = 1e30  # URDF knows no infinity, and urdfdom refuses a joint that leaves a limit out
_WORDED = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FLOATING)


def new_urdf(robot: Robot) -> bytes:
    """Write a robot as URDF. Gravity, meshes and every drive term but viscous and Coulomb have no word in it.

    Args:
        robot: the robot.

    Returns:
        XML in UTF-8, one element to a line.

    Raises:
        DescriptionError: it has a joint that URDF cannot state.
    """
    lines = ['<?xml version="1.0"?>', f"<robot{attributes({'name': robot.name})}>"]
    for link in (robot.base, *robot.links):
        lines += _link(link.name, link.own, link.collision)
        for part in link.fixed:
            lines += _link(part.name, part.body, ())
            lines += _joint(f"{part.name}_mount", "fixed", link.name, part.name, part.placement)
    for joint, child in zip(robot.joints, robot.links, strict=True):
        parent = robot.base if joint.parent < 0 else robot.links[joint.parent]
        kind, inside = _motion(joint)
        lines += _joint(joint.name, kind, parent.name, child.name, joint.placement, inside)
    return ("\n".join([*lines, "</robot>"]) + "\n").encode()


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

    Args:
        joint: the joint.

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
            yield f"    <collision>{_origin(pose)}<geometry>{shape}</geometry></collision>"
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


def _motion(joint: Joint) -> tuple[str, list[str]]:
    """The type of a joint and the elements that say how it moves."""
    if joint.kind not in _WORDED:
        raise DescriptionError(
            f"it is {joint.kind.value}, which URDF cannot state.",
            place=f"joint '{joint.name}'",
            remedy=f"URDF has {', '.join(kind.value for kind in _WORDED)} joints.",
        )
    if joint.kind is JointKind.FLOATING:
        return "floating", []
    limits = joint.limits
    endless = math.isinf(limits.lower) and math.isinf(limits.upper)
    kind = JointKind.CONTINUOUS if joint.kind is JointKind.REVOLUTE and endless else joint.kind
    bounds = {"velocity": limits.velocity, "effort": limits.effort}
    if kind is not JointKind.CONTINUOUS:
        bounds = {"lower": limits.lower, "upper": limits.upper, **bounds}
    stated = {name: words(max(-_UNBOUNDED, min(_UNBOUNDED, value))) for name, value in bounds.items()}
    inside = [f'<axis xyz="{words(joint.axis)}"/>', f"<limit{attributes(stated)}/>"]
    if dynamics := friction(joint):
        inside.append(f"<dynamics{attributes(dynamics)}/>")
    if joint.mimic is not None:
        tie = {
            "joint": joint.mimic.joint,
            "multiplier": words(joint.mimic.multiplier),
            "offset": words(joint.mimic.offset),
        }
        inside.append(f"<mimic{attributes(tie)}/>")
    return kind.value, inside


def _joint(
    name: str, kind: str, parent: str, child: str, placement: Pose, inside: Sequence[str] = ()
) -> list[str]:
    return [
        f"  <joint{attributes({'name': name, 'type': kind})}>",
        f"    {_origin(placement)}",
        f"    <parent{attributes({'link': parent})}/>",
        f"    <child{attributes({'link': child})}/>",
        *(f"    {line}" for line in inside),
        "  </joint>",
    ]


def _origin(pose: Pose) -> str:
    return f'<origin xyz="{words(pose.translation)}" rpy="{words(rpy(pose.rotation))}"/>'
