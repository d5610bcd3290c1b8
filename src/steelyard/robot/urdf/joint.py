"""A `<joint>` of a URDF: where it sits, how it moves, within which limits, and its friction."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, SteelyardError
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose
from steelyard.robot.compound import Chain, planar
from steelyard.robot.joint import JointKind, Limits, Mimic
from steelyard.robot.raw import RawJoint
from steelyard.robot.rounding import Rounding, meant_axis, meant_placement, rounding_findings
from steelyard.robot.xml import Element

_ZERO = (0.0, 0.0, 0.0)
_X = (1.0, 0.0, 0.0)
_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.CONTINUOUS,
    "prismatic": JointKind.PRISMATIC,
    "floating": JointKind.FLOATING,
    # Two slides and this turn; see `compound.planar`.
    "planar": JointKind.CONTINUOUS,
    "fixed": None,
}
_LIMITED = ("revolute", "continuous", "prismatic")


def read_joint(element: Element, findings: list[Finding], snapped: list[Rounding] | None) -> Chain:
    """Read a joint.

    Args:
        element: the `<joint>`.
        findings: where to report what is odd.
        snapped: where to note the rounded numbers that were replaced by what they mean; `None` to keep the
            numbers as stated and report them instead.

    Returns:
        The joint, and no link; a planar joint is a chain of three, with virtual links between.

    Raises:
        DescriptionError: an element or a number that is needed is missing or malformed.
    """
    name = element.text("name")
    stated = element.text("type")
    if stated not in _KINDS:
        raise DescriptionError(
            f"joint '{name}' has the type '{stated}'.",
            place=element.place,
            remedy=f"Supported: {', '.join(_KINDS)}.",
        )
    kind = _KINDS[stated]
    origin = element.first("origin")
    placement, meant_at, roundings = _placement(origin)
    axis = meant_along = np.array(_X)
    if kind is not None:
        axis, meant_along, rounded = _axis(element, name, findings)
        roundings += rounded
    if snapped is None:
        findings += rounding_findings(name, roundings)
    else:
        snapped += roundings
        placement, axis = meant_at, meant_along
    joint = RawJoint(
        name=name,
        place=element.place,
        kind=kind,
        parent=element.need("parent").text("link"),
        child=element.need("child").text("link"),
        placement=placement,
        axis=axis,
        limits=_limits(element, name, kind, findings) if kind and stated in _LIMITED else Limits(),
        drive=_drive(element, name),
        mimic=_mimic(element, name, stated),
    )
    return planar(joint) if stated == "planar" else ([], [joint])


def _mimic(joint: Element, name: str, stated: str) -> Mimic | None:
    element = joint.first("mimic")
    if element is None or stated == "fixed":
        return None
    if stated in ("planar", "floating"):
        raise DescriptionError(f"{stated} joint '{name}' cannot mimic another.", place=element.place)
    try:
        return Mimic(element.text("joint"), element.number("multiplier", 1.0), element.number("offset", 0.0))
    except DescriptionError as error:
        raise DescriptionError(f"joint '{name}': {error.message}", place=element.place) from error


def _placement(origin: Element | None) -> tuple[Pose, Pose, list[Rounding]]:
    """The placement as stated, as meant, and the numbers in which the two differ."""
    if origin is None:
        return Pose.identity(), Pose.identity(), []
    stated = Pose.from_rpy(origin.vector("rpy", _ZERO), origin.vector("xyz", _ZERO))
    meant, roundings = meant_placement(
        origin.words("xyz", "0 0 0"), origin.words("rpy", "0 0 0"), origin.place
    )
    return stated, meant, roundings


def _axis(joint: Element, name: str, findings: list[Finding]) -> tuple[Array, Array, list[Rounding]]:
    """The axis as stated, as meant, and the rounding in which the two differ."""
    element = joint.first("axis")
    if element is None:
        return np.array(_X), np.array(_X), []
    stated = np.array(element.vector("xyz", _X))
    length = float(np.linalg.norm(stated))
    if length < 1e-6:
        raise DescriptionError(f"the axis of joint '{name}' has no direction.", place=element.place)
    if abs(length - 1.0) > 1e-6:
        message = f"the axis of joint '{name}' has length {length:.6g} and was scaled to 1."
        findings.append(Finding(Severity.WARNING, "axis-not-unit", message, element.place))
    unit = np.asarray(stated / length)
    meant, roundings = meant_axis(unit, " ".join(element.words("xyz", "1 0 0")), element.place)
    return unit, meant, roundings


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
