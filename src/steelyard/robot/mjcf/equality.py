r"""The `<equality>` section of an MJCF file: joints tied to joints; other constraints are reported.

A joint equality says $q_1 - r_1 = \sum_k a_k\,(q_2 - r_2)^k$ with the joints' references r. With $a_1$ alone
beside $a_0$ it is a mimic of multiplier $a_1$ and offset $r_1 + a_0 - a_1 r_2$. MuJoCo's tie is a stiff
spring, this one is rigid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.robot.joint import Mimic
from steelyard.robot.mjcf.defaults import Defaults
from steelyard.robot.raw import RawJoint
from steelyard.robot.xml import Element


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
        findings: where to report constraints that are not modelled.

    Returns:
        The joints, in order.

    Raises:
        DescriptionError: a joint is tied to itself, or a number is malformed.
        UnknownNameError: a joint does not exist; lists those that do.
    """
    by_name = {joint.name: joint for joint in joints}
    for section in root.all("equality"):
        for stated in section.children:
            # Equalities of all kinds share one default.
            element = replace(stated, attributes=_with_defaults(stated, defaults))
            if element.attributes.get("active") == "false":
                continue
            reason = f"a closed loop or constraint <{element.tag}>"
            if element.tag == "joint":
                reason = _tie(element, by_name, references)
            if reason:
                message = f"{reason} is not modelled; the joints it ties are free."
                findings.append(Finding(Severity.ERROR, "constraint-ignored", message, element.place))
    return [by_name[joint.name] for joint in joints]


def _with_defaults(stated: Element, defaults: Defaults) -> dict[str, str]:
    return defaults.resolve(replace(stated, tag="equality")).attributes


def _tie(element: Element, joints: dict[str, RawJoint], references: Mapping[str, float]) -> str:
    """Tie a joint; the reason where it cannot be, or nothing."""
    first = _joint("joint1", element, joints, references)
    if "joint2" not in element.attributes:
        return f"an equality that holds joint '{first}' still"
    second = _joint("joint2", element, joints, references)
    if first == second:
        raise DescriptionError(f"joint '{first}' is tied to itself.", place=element.place)
    a = element.numbers("polycoef", 1, 5) if "polycoef" in element.attributes else [0.0, 1.0]
    a += [0.0, 1.0, 0.0, 0.0, 0.0][len(a) :]
    if any(a[2:]):
        return f"the curve that ties joint '{first}' to '{second}'"
    if a[1] == 0.0:
        return f"an equality that holds joint '{first}' still"
    if joints[first].mimic is not None:
        return f"a second equality of joint '{first}'"
    offset = references[first] + a[0] - a[1] * references[second]
    joints[first] = replace(joints[first], mimic=Mimic(second, a[1], offset))
    return ""


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
