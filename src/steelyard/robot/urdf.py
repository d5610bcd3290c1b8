"""URDF into a Robot, reporting what is wrong with the line it stands on and inventing nothing.

Pinocchio and urdfdom keep no line numbers, fill a missing inertial with zeros and stop at the first error;
they judge this reader in the tests instead.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from steelyard.drive import Drive
from steelyard.errors import DescriptionError, SteelyardError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.assembly import RawJoint, RawLink, assemble
from steelyard.robot.geometry import Box, Capsule, Cylinder, Geometry, MeshFile, Shape, Sphere
from steelyard.robot.joint import JointKind, Limits
from steelyard.robot.model import Robot
from steelyard.robot.xml import LARGEST, Element, parse_xml, read_xml

_ZERO = (0.0, 0.0, 0.0)


def load_urdf(path: Path) -> Robot:
    """Read a URDF file.

    Args:
        path: the file.

    Returns:
        The robot; its `findings` say what was noticed.

    Raises:
        DescriptionError: the file cannot be understood as one tree of supported joints.
    """
    return _robot(read_xml(path), source=path.name)


def parse_urdf(text: bytes | str, name: str = "URDF") -> Robot:
    """Read URDF from text.

    Args:
        text: the XML.
        name: what to call it in messages.

    Returns:
        The robot.
    """
    return _robot(parse_xml(text, name), source=name)


def _robot(root: Element, source: str) -> Robot:
    if root.tag != "robot":
        raise DescriptionError(
            f"the root element is <{root.tag}>, a URDF starts with <robot>.", place=root.place
        )
    if root.attributes.get("name", "") == "":
        raise DescriptionError("<robot> lacks the attribute 'name'.", place=root.place)
    _refuse_xacro(root)
    findings: list[Finding] = []
    links = [_link(element, findings) for element in root.all("link")]
    joints = [_joint(element, findings) for element in root.all("joint")]
    return assemble(root.text("name"), links, joints, findings, source=source)


def _refuse_xacro(root: Element) -> None:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag.startswith("xacro:"):
            raise DescriptionError(
                f"contains <{element.tag}>, so it is a xacro file and not yet a URDF.",
                place=element.place,
                remedy="Expand it first: `xacro file.xacro > file.urdf`.",
            )
        waiting += reversed(element.children)


def _pose(element: Element | None) -> Pose:
    if element is None:
        return Pose.identity()
    return Pose.from_rpy(element.vector("rpy", _ZERO), element.vector("xyz", _ZERO))


def _link(element: Element, findings: list[Finding]) -> RawLink:
    inertial = element.first("inertial")
    body = None if inertial is None else _body(inertial)
    collision = []
    for item in element.all("collision"):
        shape = _shape(item.need("geometry"), findings)
        if shape is not None:
            collision.append(Geometry(shape, _pose(item.first("origin"))))
    return RawLink(element.text("name"), element.place, body, tuple(collision))


def _body(inertial: Element) -> Body:
    mass = inertial.need("mass").number("value")
    if 0.0 < abs(mass) < 1.0 / LARGEST:
        raise DescriptionError(f"a mass of {mass:g} kg is none.", place=inertial.place, remedy="Write 0.")
    tensor = inertial.need("inertia")
    ixx, ixy, ixz, iyy, iyz, izz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    X_LC = _pose(inertial.first("origin"))
    I_C = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if mass == 0.0:
        # A massless body has no com; its tensor, if any, does not depend on where it sits.
        X_LC = Pose(X_LC.rotation, np.zeros(3))
    return Body(mass, np.zeros(3), I_C).moved(X_LC)


def _shape(geometry: Element, findings: list[Finding]) -> Shape | None:
    if not geometry.children:
        raise DescriptionError("<geometry> is empty.", place=geometry.place)
    element = geometry.children[0]
    try:
        match element.tag:
            case "sphere":
                return Sphere(element.number("radius"))
            case "box":
                return Box(*element.vector("size", _ZERO))
            case "cylinder":
                return Cylinder(element.number("radius"), element.number("length"))
            case "capsule":
                return Capsule(element.number("radius"), element.number("length"))
            case "mesh":
                return MeshFile(element.text("filename"), element.vector("scale", (1.0, 1.0, 1.0)))
    except DescriptionError as error:
        # A broken collision shape does not touch the dynamics: report it and go on without it.
        findings.append(Finding(Severity.ERROR, "bad-shape", error.message, element.place))
        return None
    findings.append(
        Finding(Severity.WARNING, "unknown-shape", f"<{element.tag}> is not a URDF shape.", element.place)
    )
    return None


def _joint(element: Element, findings: list[Finding]) -> RawJoint:
    name = element.text("name")
    stated = element.text("type")
    kinds = [kind.value for kind in JointKind if kind is not JointKind.FLOATING]
    if stated != "fixed" and stated not in kinds:
        raise DescriptionError(
            f"joint '{name}' has the type '{stated}'.",
            place=element.place,
            remedy=f"Supported: {', '.join([*kinds, 'fixed'])}.",
        )
    kind = None if stated == "fixed" else JointKind(stated)
    if element.first("mimic") is not None:
        findings.append(
            Finding(
                Severity.WARNING,
                "mimic-ignored",
                f"joint '{name}' mimics another joint; it is treated as independent.",
                element.place,
            )
        )
    return RawJoint(
        name=name,
        place=element.place,
        kind=kind,
        parent=element.need("parent").text("link"),
        child=element.need("child").text("link"),
        placement=_pose(element.first("origin")),
        axis=_axis(element, name, findings) if kind else np.array([1.0, 0.0, 0.0]),
        limits=_limits(element, name, kind, findings) if kind else Limits(),
        drive=_drive(element, name),
    )


def _axis(joint: Element, name: str, findings: list[Finding]) -> np.ndarray:
    element = joint.first("axis")
    stated = np.array((1.0, 0.0, 0.0) if element is None else element.vector("xyz", (1.0, 0.0, 0.0)))
    place = joint.place if element is None else element.place
    length = float(np.linalg.norm(stated))
    if length < 1e-6:
        raise DescriptionError(f"the axis of joint '{name}' has no direction.", place=place)
    if abs(length - 1.0) > 1e-6:
        message = f"the axis of joint '{name}' has length {length:.6g} and was scaled to 1."
        findings.append(Finding(Severity.WARNING, "axis-not-unit", message, place))
    return np.asarray(stated / length)


def _limits(joint: Element, name: str, kind: JointKind, findings: list[Finding]) -> Limits:
    element = joint.first("limit")
    bounded = kind is not JointKind.CONTINUOUS
    if element is None:
        if bounded:
            message = f"{kind.value} joint '{name}' states no limits; they are taken as infinite."
            findings.append(Finding(Severity.WARNING, "missing-limit", message, joint.place))
        return Limits()
    # URDF's own default for a missing lower or upper attribute is zero.
    lower = element.number("lower", 0.0, largest=math.inf) if bounded else -math.inf
    upper = element.number("upper", 0.0, largest=math.inf) if bounded else math.inf
    if bounded and lower == upper:
        message = f"joint '{name}' may not move: its lower and upper limit are both {lower:g}."
        findings.append(Finding(Severity.WARNING, "empty-range", message, element.place))
    for attribute in ("velocity", "effort"):
        if attribute not in element.attributes:
            message = f"joint '{name}' states no {attribute} limit; it is taken as infinite."
            findings.append(Finding(Severity.WARNING, "missing-limit", message, element.place))
    try:
        return Limits(
            lower,
            upper,
            velocity=element.number("velocity", math.inf, largest=math.inf),
            effort=element.number("effort", math.inf, largest=math.inf),
        )
    except SteelyardError as error:
        raise DescriptionError(f"joint '{name}': {error.message}", place=element.place) from error


def _drive(joint: Element, name: str) -> Drive:
    element = joint.first("dynamics")
    if element is None:
        return Drive()
    try:
        return Drive(
            viscous=element.number("damping") if "damping" in element.attributes else None,
            coulomb=element.number("friction") if "friction" in element.attributes else None,
        )
    except DescriptionError:
        raise
    except SteelyardError as error:
        raise DescriptionError(f"joint '{name}': {error}", place=element.place) from error
