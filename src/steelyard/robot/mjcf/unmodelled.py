"""What an MJCF file may hold that this model of a robot does not: refused, or reported with its line."""

from __future__ import annotations

from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.robot.xml import Element

SECTIONS = (
    "actuator",
    "asset",
    "compiler",
    "contact",
    "custom",
    "default",
    "deformable",
    "equality",
    "extension",
    "keyframe",
    "option",
    "sensor",
    "size",
    "statistic",
    "tendon",
    "visual",
    "worldbody",
)
_MAKES_BODIES = ("attach", "composite", "flex", "flexcomp", "replicate")


def check_sections(root: Element, findings: list[Finding]) -> None:
    """Refuse what would change which bodies there are; report what adds forces.

    Args:
        root: the `<mujoco>` element, includes expanded.
        findings: where to report.

    Raises:
        DescriptionError: something makes bodies that are not stated one by one.
        UnknownNameError: a section does not exist; lists those that do.
    """
    if root.tag != "mujoco":
        raise DescriptionError(
            f"the root element is <{root.tag}>, an MJCF file starts with <mujoco>.", place=root.place
        )
    for section in root.children:
        if section.tag not in SECTIONS:
            raise UnknownNameError("section", section.tag, SECTIONS, place=section.place)
    waiting = [child for child in root.children if child.tag in ("worldbody", "deformable")]
    while waiting:
        element = waiting.pop()
        if element.tag in _MAKES_BODIES:
            raise DescriptionError(
                f"<{element.tag}> makes bodies that the file does not state, which is not supported.",
                place=element.place,
                remedy="Save the model from MuJoCo (mj_saveLastXML), which writes them out.",
            )
        if element.tag == "plugin":
            message = "a plugin may add forces, which are not modelled."
            findings.append(Finding(Severity.WARNING, "plugin-ignored", message, element.place))
        waiting += element.children
    for section in root.all("tendon"):
        for tendon in section.children:
            name = tendon.attributes.get("name", "")
            message = f"tendon '{name}' is not modelled, nor any spring, friction or limit of it."
            findings.append(Finding(Severity.WARNING, "tendon-ignored", message, tendon.place))
