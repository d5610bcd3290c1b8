"""A `<joint>` of an MJCF file: how a body may move against what encloses it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, SteelyardError
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose
from steelyard.robot.joint import JointKind, Limits
from steelyard.robot.mjcf.placement import Placements
from steelyard.robot.mjcf.range import read_range, symmetric
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.xml import Element

_TYPES = ("hinge", "slide", "ball", "free")
_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class BodyJoint:
    """One joint of a body, in the body's frame.

    Attributes:
        name: unique among the joints.
        place: file and line.
        kind: how it moves.
        anchor: the point it turns about, shape (3,), m; zero for a slide, which needs none.
        axis: unit vector, shape (3,), dimensionless.
        reference: its coordinate where the file draws the body, rad or m.
        limits: what it may do; the effort is that of `actuatorfrcrange`.
        drive: its friction and rotor.
    """

    name: str
    place: str
    kind: JointKind
    anchor: Array
    axis: Array
    reference: float
    limits: Limits
    drive: Drive

    @property
    def rest(self) -> Pose:
        """Its motion from where the file draws the body to where its coordinate is zero."""
        if self.kind is JointKind.PRISMATIC:
            return Pose(np.eye(3), -self.reference * self.axis)
        if self.kind in (JointKind.SPHERICAL, JointKind.FLOATING) or self.reference == 0.0:
            return Pose.identity()
        half = -0.5 * self.reference
        return Pose.from_quaternion((*(math.sin(half) * self.axis), math.cos(half)))


def read_joint(
    element: Element,
    name: str,
    frame: Pose,
    compiler: Compiler,
    placements: Placements,
    findings: list[Finding],
) -> BodyJoint:
    """Read a joint.

    Args:
        element: the `<joint>` or `<freejoint>`, defaults resolved.
        name: of the joint.
        frame: X_BF, what encloses it in the body's frame.
        compiler: how angles and limits are stated.
        placements: reads its anchor and axis.
        findings: where to report what is not modelled.

    Returns:
        The joint.

    Raises:
        DescriptionError: a number is malformed or contradicts another.
        UnknownNameError: its type does not exist; lists those that do.
    """
    stated = "free" if element.tag == "freejoint" else element.choice("type", _TYPES, "hinge")
    if element.attributes.get("align") == "true":
        message = f"'align' is not honoured: the body of joint '{name}' keeps the frame the file states."
        findings.append(Finding(Severity.INFO, "alignfree-ignored", message, element.place))
    angular = stated in ("hinge", "ball")
    lower, upper = read_range(element, "range", "limited", compiler.autolimits)
    if angular:
        lower, upper = compiler.angle(lower), compiler.angle(upper)
    _report_springs(element, name, findings)
    effort = read_range(element, "actuatorfrcrange", "actuatorfrclimited", compiler.autolimits)
    drive = _drive(element, name, findings)
    if stated in ("ball", "free"):
        _report_several_axes(element, name, stated, upper, drive, findings)
        lower, upper, drive = -math.inf, math.inf, Drive()
    kind = {
        "slide": JointKind.PRISMATIC,
        "ball": JointKind.SPHERICAL,
        "free": JointKind.FLOATING,
        "hinge": JointKind.CONTINUOUS if upper == math.inf else JointKind.REVOLUTE,
    }[stated]
    if stated == "slide" and upper == math.inf:
        message = f"prismatic joint '{name}' states no limits; they are taken as infinite."
        findings.append(Finding(Severity.WARNING, "missing-limit", message, element.place))
    reference = element.number("ref", 0.0) if stated in ("hinge", "slide") else 0.0
    return BodyJoint(
        name=name,
        place=element.place,
        kind=kind,
        anchor=frame.apply(placements.anchor(element, name)) if angular else np.zeros(3),
        axis=_axis(element, name, frame, placements) if stated in ("hinge", "slide") else np.array(_Z),
        reference=compiler.angle(reference) if angular else reference,
        limits=Limits(lower, upper, effort=symmetric(effort, name, element, findings)),
        drive=drive,
    )


def _axis(element: Element, name: str, frame: Pose, placements: Placements) -> Array:
    axis = frame.rotation @ placements.axis(element, name)
    return np.asarray(axis / np.linalg.norm(axis))


def _drive(element: Element, name: str, findings: list[Finding]) -> Drive:
    damping = element.numbers("damping", 1, 3) if "damping" in element.attributes else [None]
    if any(damping[1:]):
        message = f"joint '{name}' has damping that is not linear; its linear part is kept."
        findings.append(Finding(Severity.WARNING, "damping-ignored", message, element.place))
    try:
        return Drive(
            viscous=damping[0],
            coulomb=element.number("frictionloss") if "frictionloss" in element.attributes else None,
            rotor=element.number("armature") if "armature" in element.attributes else None,
        )
    except DescriptionError:
        raise
    except SteelyardError as error:
        raise DescriptionError(f"joint '{name}': {error}", place=element.place) from error


def _report_several_axes(
    element: Element, name: str, stated: str, largest: float, drive: Drive, findings: list[Finding]
) -> None:
    if stated == "ball" and largest < math.inf:
        message = f"ball joint '{name}' may turn by {largest:.4g} rad; a limit on its angle is not modelled."
        findings.append(Finding(Severity.WARNING, "limit-ignored", message, element.place))
    if any((drive.viscous, drive.coulomb, drive.rotor)):
        message = f"{stated} joint '{name}' states friction or a rotor, which joints with several axes lack."
        findings.append(Finding(Severity.WARNING, "drive-ignored", message, element.place))


def _report_springs(element: Element, name: str, findings: list[Finding]) -> None:
    stiffness = element.numbers("stiffness", 1, 3) if "stiffness" in element.attributes else []
    if any(stiffness) or "springdamper" in element.attributes:
        message = f"joint '{name}' has a spring, which is not modelled."
        findings.append(Finding(Severity.WARNING, "spring-ignored", message, element.place))
