"""Attributes that MJCF does not have: a misspelled `damping` is reported, not dropped in silence."""

from __future__ import annotations

from difflib import get_close_matches

from steelyard.finding import Finding, Severity
from steelyard.robot.mjcf.defaults import ORIENTATIONS
from steelyard.robot.xml import Element

_PLACE = {"pos", *ORIENTATIONS}
# fmt: off
_JOINT = {
    "actuatorfrclimited", "actuatorfrcrange", "actuatorgravcomp", "armature", "axis", "class",
    "damping", "frictionloss", "group", "limited", "margin", "name", "pos", "range", "ref",
    "solimpfriction", "solimplimit", "solreffriction", "solreflimit", "springdamper", "springref",
    "springyield", "stiffness", "type", "user",
}
_GEOM = _PLACE | {
    "adhesion", "castshadow", "class", "conaffinity", "condim", "contype", "density", "fitscale",
    "fluidcoef", "fluidshape", "friction", "fromto", "gap", "group", "hfield", "margin", "mass",
    "material", "mesh", "name", "priority", "rgba", "shellinertia", "size", "solimp", "solmix",
    "solref", "surfacevel", "type", "user",
}
# fmt: on
_KNOWN = {
    "body": _PLACE | {"childclass", "fuse", "gravcomp", "mocap", "name", "simple", "sleep", "user"},
    "frame": _PLACE | {"childclass", "name"},
    "inertial": _PLACE | {"diaginertia", "fullinertia", "mass"},
    "joint": _JOINT,
    "freejoint": {"align", "group", "name"},
    "geom": _GEOM,
}
"""As of MuJoCo 4.0."""


def report_unknown_attributes(root: Element, findings: list[Finding]) -> None:
    """Look through bodies and defaults for attributes that do not exist.

    Args:
        root: the `<mujoco>` element, includes expanded.
        findings: where to report them, with the nearest that does exist.
    """
    waiting = [child for child in root.children if child.tag in ("worldbody", "default")]
    while waiting:
        element = waiting.pop()
        waiting += element.children
        known = _KNOWN.get(element.tag)
        if known is None:
            continue
        for attribute in element.attributes:
            if attribute not in known:
                near = get_close_matches(attribute, sorted(known), n=1)
                guess = f" Did you mean '{near[0]}'?" if near else ""
                message = f"<{element.tag}> has no attribute '{attribute}'; it is ignored.{guess}"
                findings.append(Finding(Severity.WARNING, "unknown-attribute", message, element.place))
