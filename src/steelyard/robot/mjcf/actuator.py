"""The `<actuator>` section of an MJCF file: what it adds to the joints' drives and effort limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.drive import Drive
from steelyard.errors import DescriptionError, SteelyardError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.robot.mjcf.defaults import ACTUATORS, Defaults
from steelyard.robot.mjcf.range import read_range, symmetric
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.raw import RawJoint
from steelyard.robot.xml import Element


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
