r"""The `<equality>` section of an MJCF file: joints tied to joints; what closes a loop is refused.

A joint equality says $q_1 - r_1 = \sum_k a_k\,(q_2 - r_2)^k$ with the joints' references r. With $a_1$ alone
beside $a_0$ it is a mimic of multiplier $a_1$ and offset $r_1 + a_0 - a_1 r_2$. MuJoCo's tie is a stiff
spring, this one is rigid. Any other constraint that is active takes freedom away that a tree has, so that
every torque computed without it would be another mechanism's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.robot.joint import Mimic
from steelyard.robot.mjcf.defaults import Defaults
from steelyard.robot.mjcf.settings import disabling_flag
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
