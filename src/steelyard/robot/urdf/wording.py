"""The words of URDF: what stands twice where it may stand once, and what looks like a word but is none.

Readers take the first of two `<limit>`s and pass over `<limits>` or `lowr="-1"` without a word, so that a
joint turns out to have other limits than the file seems to state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from steelyard.finding import Finding, Severity
from steelyard.robot.xml import Element

_ALIKE = 0.75
"""Similarity of two words, dimensionless, from which one is taken for the other misspelt."""


@dataclass(frozen=True)
class Wording:
    """What an element may hold: attributes, children that stand once, and children that may repeat."""

    attributes: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


_SHAPE = Wording(once=("origin", "geometry", "material"))
WORDING = {
    "robot": Wording(("name",), repeated=("link", "joint", "material")),
    "link": Wording(("name",), once=("inertial",), repeated=("visual", "collision")),
    "joint": Wording(
        ("name", "type"), once=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
    ),
    "parent": Wording(("link",)),
    "child": Wording(("link",)),
    "origin": Wording(("xyz", "rpy")),
    "axis": Wording(("xyz",)),
    "limit": Wording(("lower", "upper", "velocity", "effort")),
    "dynamics": Wording(("damping", "friction")),
    "mimic": Wording(("joint", "multiplier", "offset")),
    "inertial": Wording(once=("origin", "mass", "inertia")),
    "mass": Wording(("value",)),
    "inertia": Wording(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "visual": _SHAPE,
    "collision": _SHAPE,
    "geometry": Wording(once=("mesh", "sphere", "box", "cylinder", "capsule")),
    "material": Wording(("name",), once=("color", "texture")),
    "color": Wording(("rgba",)),
    "mesh": Wording(("filename", "scale")),
    "sphere": Wording(("radius",)),
    "box": Wording(("size",)),
    "cylinder": Wording(("radius", "length")),
    "capsule": Wording(("radius", "length")),
}
"""The elements of URDF that a robot is read from, by tag; other tools put words of their own between them."""


def repeated_elements(parent: Element) -> Iterator[Element]:
    """The children that stand a second time where one may stand.

    Args:
        parent: an element of URDF.

    Returns:
        Every copy but the first.
    """
    wording = WORDING.get(parent.tag, Wording())
    for tag in wording.once:
        yield from list(parent.all(tag))[1:]


def wording_findings(root: Element) -> list[Finding]:
    """What is odd about the words of a URDF.

    Args:
        root: the `<robot>`.

    Returns:
        A warning for each repeated element, and for each word that seems to be another one misspelt.
    """
    findings = []
    waiting = [root]
    while waiting:
        element = waiting.pop()
        for copy in repeated_elements(element):
            message = f"<{copy.tag}> stands twice in <{element.tag}>; the first is read."
            findings.append(Finding(Severity.WARNING, "repeated-element", message, copy.place))
        findings += _misspelt(element)
        waiting += [child for child in element.children if child.tag in WORDING]
    return findings


def _misspelt(element: Element) -> Iterator[Finding]:
    wording = WORDING[element.tag]
    for name in element.attributes:
        if name not in wording.attributes and (meant := _meant(name, wording.attributes, element.attributes)):
            message = f"<{element.tag}> has the attribute '{name}', which is not read; '{meant}' is missing."
            yield Finding(Severity.WARNING, "misspelt", message, element.place)
    tags = {child.tag for child in element.children}
    known = (*wording.once, *wording.repeated)
    for child in element.children:
        if child.tag not in known and (meant := _meant(child.tag, known, () if wording.repeated else tags)):
            message = f"<{child.tag}> in <{element.tag}> is not read; did you mean <{meant}>?"
            yield Finding(Severity.WARNING, "misspelt", message, child.place)


def _meant(word: str, known: tuple[str, ...], present: Collection[str]) -> str | None:
    """The word of URDF that another seems to be, unless that one is there already."""
    missing = [other for other in known if other not in present]
    return next(iter(get_close_matches(word.lower(), missing, n=1, cutoff=_ALIKE)), None)
