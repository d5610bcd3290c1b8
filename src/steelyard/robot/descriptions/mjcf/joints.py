r"""Joints of an MJCF file, what drives them (`<actuator>`) and what ties them (`<equality>`).

A joint equality says $q_1 - r_1 = \sum_k a_k\,(q_2 - r_2)^k$ with the joints' references r. With $a_1$ alone
beside $a_0$ it is a mimic of multiplier $a_1$ and offset $r_1 + a_0 - a_1 r_2$. MuJoCo's tie is a stiff
spring, this one is rigid. Any other constraint that is active takes freedom away that a tree has, so that
every torque computed without it would be another mechanism's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import DescriptionError, SteelyardError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose
from steelyard.robot.assembly import RawJoint
from steelyard.robot.descriptions.mjcf.conventions import (
    ACTUATORS,
    Compiler,
    Defaults,
    Placements,
    disabling_flag,
    read_range,
    symmetric,
)
from steelyard.robot.descriptions.xml import Element
from steelyard.robot.joint import JointKind, Limits, Mimic

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


@dataclass(frozen=True)
class _Action:
    """What one actuator does at its joint: its least and largest effort, its rotor and damper times gear²."""

    element: Element
    lower: float
    upper: float
    rotor: float
    damper: float


def drive_joints(
    joints: Sequence[RawJoint],
    root: Element,
    compiler: Compiler,
    defaults: Defaults,
    findings: list[Finding],
) -> list[RawJoint]:
    r"""Put the actuators at their joints.

    An actuator gives the joint its gear times a force within `forcerange`. Without that range the force is
    bounded only where it is proportional to a bounded control (`gaintype` fixed, no bias, no dynamics), by
    the gain times `ctrlrange`; a servo's force is not bounded by the positions it may be sent to. The limits
    of all actuators of a joint add up, and the joint's own `actuatorfrcrange` holds besides:

    $$\tau_{max} = \min\Big(\tau_{joint},\ \sum_a |g_a|\,f_a\Big).$$

    Their rotors and dampers act through the gear: $g^2$ times `armature` and `damping`.

    Args:
        joints: the joints, their effort limits being those of `actuatorfrcrange`.
        root: the `<mujoco>` element, includes expanded.
        compiler: how ranges are stated.
        defaults: the file's default classes.
        findings: where to report actuators that do not act on one axis, and joints without an effort limit.

    Returns:
        The joints, in order.

    Raises:
        UnknownNameError: an actuator, or the joint it names, does not exist; lists those that do.
    """
    moving = {joint.name: joint for joint in joints if joint.kind is not None}
    actions: dict[str, list[_Action]] = {name: [] for name in moving}
    for section in root.all("actuator"):
        for stated in section.children:
            if stated.tag not in ACTUATORS:
                raise UnknownNameError("actuator", stated.tag, ACTUATORS, place=stated.place)
            element = defaults.resolve(stated)
            name = _joint_name(element)
            if name and name not in moving:
                raise UnknownNameError("joint", name, moving, place=element.place)
            kind = moving[name].kind if name else None
            if kind is None or kind.nv != 1:
                message = f"<{element.tag}> does not act on one joint axis; its effort limit is not modelled."
                findings.append(Finding(Severity.WARNING, "actuator-ignored", message, element.place))
                continue
            actions[name].append(_action(element, compiler))
    return [
        _driven(joint, actions[joint.name], findings) if joint.kind and joint.kind.nv == 1 else joint
        for joint in joints
    ]


def _joint_name(element: Element) -> str:
    for key in ("joint", "jointinparent"):
        if name := element.attributes.get(key, "").strip():
            return name
    return ""


def _action(element: Element, compiler: Compiler) -> _Action:
    gear = element.numbers("gear", 1, 6)[0] if "gear" in element.attributes else 1.0
    damping = element.numbers("damping", 1, 3)[0] if "damping" in element.attributes else 0.0
    ends = read_range(element, "forcerange", "forcelimited", compiler.autolimits)
    control = read_range(element, "ctrlrange", "ctrllimited", compiler.autolimits)
    proportional = all(
        element.attributes.get(key, plain) == plain
        for key, plain in (("gaintype", "fixed"), ("biastype", "none"), ("dyntype", "none"))
    )
    if ends[1] == math.inf and proportional:
        gain = element.numbers("gainprm", 1, 10)[0] if "gainprm" in element.attributes else 1.0
        ends = _scaled(gain, control)
    lower, upper = _scaled(gear, ends)
    rotor = gear**2 * element.number("armature", 0.0)
    return _Action(element, lower, upper, rotor, gear**2 * damping)


def _scaled(factor: float, ends: tuple[float, float]) -> tuple[float, float]:
    if factor == 0.0:
        return 0.0, 0.0
    one, other = sorted((factor * ends[0], factor * ends[1]))
    return one, other


def _driven(joint: RawJoint, actions: Sequence[_Action], findings: list[Finding]) -> RawJoint:
    effort, drive = joint.limits.effort, joint.drive
    if actions:
        ends = (sum(action.lower for action in actions), sum(action.upper for action in actions))
        effort = min(effort, symmetric(ends, joint.name, actions[-1].element, findings))
        drive = _with_gears(drive, actions, joint.name)
    if effort == math.inf and joint.mimic is None:
        message = f"joint '{joint.name}' states no effort limit; it is taken as infinite."
        findings.append(Finding(Severity.WARNING, "missing-limit", message, joint.place))
    return replace(joint, limits=replace(joint.limits, effort=effort), drive=drive)


def _with_gears(drive: Drive, actions: Sequence[_Action], joint: str) -> Drive:
    rotor = sum(action.rotor for action in actions)
    damper = sum(action.damper for action in actions)
    try:
        if rotor:
            drive = replace(drive, rotor=rotor + (drive.rotor or 0.0))
        if damper:
            drive = replace(drive, viscous=damper + (drive.viscous or 0.0))
    except SteelyardError as error:
        place = actions[-1].element.place
        raise DescriptionError(f"joint '{joint}': {error}", place=place) from error
    return drive


def tie_joints(
    joints: Sequence[RawJoint],
    references: Mapping[str, float],
    root: Element,
    defaults: Defaults,
    findings: list[Finding],
) -> list[RawJoint]:
    """Tie the joints that equalities tie.

    Args:
        joints: the joints.
        references: coordinate of each joint where the file draws it, rad or m, by name.
        root: the `<mujoco>` element, includes expanded.
        defaults: the file's default classes.
        findings: where to report equalities that a flag disables.

    Returns:
        The joints, in order.

    Raises:
        DescriptionError: an active equality is no tie of one joint to another, a joint is tied to itself, or
            a number is malformed.
        UnknownNameError: a joint does not exist; lists those that do.
    """
    by_name = {joint.name: joint for joint in joints}
    disabled = disabling_flag(root)
    for section in root.all("equality"):
        for stated in section.children:
            # Equalities of all kinds share one default.
            element = replace(stated, attributes=_with_defaults(stated, defaults))
            if element.choice("active", ("false", "true"), "true") == "false":
                continue
            if disabled:
                message = f"<{element.tag}> ties nothing: the flag '{disabled}' of <option> disables it."
                findings.append(Finding(Severity.INFO, "equality-disabled", message, element.place))
            elif element.tag == "joint":
                _tie(element, by_name, references)
            else:
                _refuse_loop(element)
    return [by_name[joint.name] for joint in joints]


def _with_defaults(stated: Element, defaults: Defaults) -> dict[str, str]:
    return defaults.resolve(replace(stated, tag="equality")).attributes


_KINDS = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain")
_ENDS = ("body1", "body2", "site1", "site2", "tendon1", "tendon2", "flex")


def _refuse_loop(element: Element) -> None:
    """Refuse a constraint between bodies or tendons, by its name and by what it ties."""
    if element.tag not in _KINDS:
        raise UnknownNameError("equality", element.tag, _KINDS, place=element.place)
    ends = [f"'{element.attributes[key]}'" for key in _ENDS if element.attributes.get(key)]
    named = f" '{element.attributes['name']}'" if element.attributes.get("name") else ""
    if element.tag == "tendon":
        what = "couples joints through tendons, which is not supported: joints are tied one to another."
    else:
        what = "closes a kinematic loop, which is not supported: a robot is a tree."
    raise DescriptionError(
        f"the constraint <{element.tag}>{named}{' of ' + ' and '.join(ends) if ends else ''} {what}",
        place=element.place,
        remedy=_OPEN + ".",
    )


_OPEN = 'Set active="false" there and lock the joints that it holds'


def _tie(element: Element, joints: dict[str, RawJoint], references: Mapping[str, float]) -> None:
    """Tie a joint to another."""
    first = _joint("joint1", element, joints, references)
    a = element.numbers("polycoef", 1, 5) if "polycoef" in element.attributes else [0.0, 1.0]
    a += [0.0, 1.0, 0.0, 0.0, 0.0][len(a) :]
    if "joint2" not in element.attributes or not any(a[1:]):
        kind = joints[first].kind
        at = f"{references[first] + a[0]:.6g} {'rad' if kind is None or kind.rotates else 'm'}"
        raise DescriptionError(
            f"an equality holds joint '{first}' still.",
            place=element.place,
            remedy=f'Set active="false" there and lock the joint at {at}.',
        )
    second = _joint("joint2", element, joints, references)
    if first == second:
        raise DescriptionError(f"joint '{first}' is tied to itself.", place=element.place)
    if any(a[2:]):
        raise DescriptionError(
            f"joint '{first}' is tied to '{second}' by a curve (polycoef {' '.join(f'{x:g}' for x in a)}); "
            "only ties in proportion are supported.",
            place=element.place,
            remedy=f"{_OPEN}, or leave two coefficients.",
        )
    if (tie := joints[first].mimic) is not None:
        raise DescriptionError(
            f"joint '{first}' is tied to '{second}', but also to '{tie.joint}', which closes a loop.",
            place=element.place,
            remedy='Set active="false" at one of the two.',
        )
    offset = references[first] + a[0] - a[1] * references[second]
    joints[first] = replace(joints[first], mimic=Mimic(second, a[1], offset))


def _joint(
    key: str, element: Element, joints: Mapping[str, RawJoint], references: Mapping[str, float]
) -> str:
    name = element.text(key)
    if name not in references:
        raise UnknownNameError("joint", name, references, place=element.place)
    kind = joints[name].kind
    if kind is None or kind.nv != 1:
        raise DescriptionError(f"joint '{name}' has no single coordinate to tie.", place=element.place)
    return name
