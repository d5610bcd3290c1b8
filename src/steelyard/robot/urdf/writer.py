"""A Robot as URDF text, and what of it has no word in URDF."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import DescriptionError
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.geometry import Box, Capsule, Cylinder, Geometry, MeshFile, Sphere
from steelyard.robot.joint import Joint, JointKind
from steelyard.robot.link import Link
from steelyard.robot.model import STANDARD_GRAVITY, Robot

UNBOUNDED = "1e30"
"""What stands for no limit: URDF knows no infinity, and urdfdom refuses a joint that leaves a limit out."""
_WORDED = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.FLOATING)


def urdf_text(robot: Robot) -> bytes:
    """Write a robot as URDF: its tree, limits, viscous and Coulomb friction, inertias and simple shapes.

    Args:
        robot: the robot.

    Returns:
        XML in UTF-8, one element to a line.

    Raises:
        DescriptionError: it has a joint that URDF cannot state.
    """
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(robot.name)}>"]
    for link in (robot.base, *robot.links):
        lines += _link(link.name, link.own, link.collision)
        for part in link.fixed:
            lines += _link(part.name, part.body, ())
            lines += _joint_element(f"{part.name}_mount", "fixed", link.name, part.name, part.placement, [])
    for joint, link in zip(robot.joints, robot.links, strict=True):
        parent = robot.base if joint.parent < 0 else robot.links[joint.parent]
        lines += _joint(joint, parent, link)
    return ("\n".join([*lines, "</robot>"]) + "\n").encode()


def unworded(robot: Robot) -> Iterator[tuple[str, str]]:
    """What a URDF of a robot does not say.

    Args:
        robot: the robot.

    Returns:
        What it is, and its value.
    """
    if not np.array_equal(robot.gravity, STANDARD_GRAVITY):
        yield "gravity, m/s²", _words(robot.gravity)
    for joint in robot.joints:
        for name in ("rotor", "offset"):
            value = getattr(joint.drive, name)
            if value:
                yield f"the {name} of joint '{joint.name}'", repr(float(value))
    for link in (robot.base, *robot.links):
        for item in link.collision:
            if isinstance(item.shape, MeshFile):
                yield f"a collision mesh of link '{link.name}'", item.shape.file


def _link(name: str, body: Body | None, collision: tuple[Geometry, ...]) -> Iterator[str]:
    yield f"  <link name={quoteattr(name)}>"
    if body is not None:
        I_C = body.inertia
        yield "    <inertial>"
        yield f'      <origin xyz="{_words(body.com)}"/>'
        yield f'      <mass value="{body.mass!r}"/>'
        yield (
            f'      <inertia ixx="{I_C[0, 0]:.17g}" ixy="{I_C[0, 1]:.17g}" ixz="{I_C[0, 2]:.17g}" '
            f'iyy="{I_C[1, 1]:.17g}" iyz="{I_C[1, 2]:.17g}" izz="{I_C[2, 2]:.17g}"/>'
        )
        yield "    </inertial>"
    for item in collision:
        if not isinstance(item.shape, MeshFile):
            yield f"    <collision>{_origin(item.pose)}<geometry>{_shape(item)}</geometry></collision>"
    yield "  </link>"


def _shape(item: Geometry) -> str:
    shape = item.shape
    match shape:
        case Sphere():
            return f'<sphere radius="{shape.radius!r}"/>'
        case Box():
            return f'<box size="{_words(np.array([shape.x, shape.y, shape.z]))}"/>'
        case Cylinder():
            return f'<cylinder radius="{shape.radius!r}" length="{shape.length!r}"/>'
        case Capsule():
            return f'<capsule radius="{shape.radius!r}" length="{shape.length!r}"/>'
        case MeshFile():
            return f"<mesh filename={quoteattr(shape.file)}/>"


def _joint(joint: Joint, parent: Link, child: Link) -> list[str]:
    if joint.kind not in _WORDED:
        raise DescriptionError(
            f"joint '{joint.name}' is {joint.kind.value}, which URDF cannot state.",
            remedy=f"It has {', '.join(kind.value for kind in _WORDED)} joints.",
        )
    if joint.kind is JointKind.FLOATING:
        return _joint_element(joint.name, "floating", parent.name, child.name, joint.placement, [])
    limits = joint.limits
    endless = math.isinf(limits.lower) and math.isinf(limits.upper)
    kind = JointKind.CONTINUOUS if joint.kind is JointKind.REVOLUTE and endless else joint.kind
    stated = [("velocity", limits.velocity), ("effort", limits.effort)]
    if kind is not JointKind.CONTINUOUS:
        stated = [("lower", limits.lower), ("upper", limits.upper), *stated]
    inside = [
        f'<axis xyz="{_words(joint.axis)}"/>',
        "<limit " + " ".join(f'{name}="{_bound(value)}"' for name, value in stated) + "/>",
    ]
    friction = [("damping", joint.drive.viscous), ("friction", joint.drive.coulomb)]
    if any(value is not None for _, value in friction):
        words = " ".join(f'{name}="{value!r}"' for name, value in friction if value is not None)
        inside.append(f"<dynamics {words}/>")
    if joint.mimic is not None:
        leader = quoteattr(joint.mimic.joint)
        factor = f'multiplier="{joint.mimic.multiplier!r}" offset="{joint.mimic.offset!r}"'
        inside.append(f"<mimic joint={leader} {factor}/>")
    return _joint_element(joint.name, kind.value, parent.name, child.name, joint.placement, inside)


def _joint_element(
    name: str, kind: str, parent: str, child: str, placement: Pose, inside: list[str]
) -> list[str]:
    return [
        f'  <joint name={quoteattr(name)} type="{kind}">',
        f"    {_origin(placement)}",
        f"    <parent link={quoteattr(parent)}/>",
        f"    <child link={quoteattr(child)}/>",
        *(f"    {line}" for line in inside),
        "  </joint>",
    ]


def _bound(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"


def _origin(pose: Pose) -> str:
    return f'<origin xyz="{_words(pose.translation)}" rpy="{_words(_rpy(pose.rotation))}"/>'


def _rpy(R: Array) -> Array:
    r"""The angles of $R = R_z(\text{yaw})\,R_y(\text{pitch})\,R_x(\text{roll})$, shape (3,), rad."""
    across = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], across)
    if across > 1e-9:
        return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])
    # Looking straight up or down, roll and yaw turn about the same axis: all of it is called roll.
    return np.array([math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0])


def _words(values: Array) -> str:
    # Adding zero turns -0.0 into 0.0.
    return " ".join(repr(float(x) + 0.0) for x in values)
