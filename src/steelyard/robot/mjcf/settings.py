"""What an MJCF file says about itself as a whole: the compiler's settings, and gravity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.errors import DescriptionError
from steelyard.finding import Finding, Severity
from steelyard.robot.xml import Element

_ZERO = (0.0, 0.0, 0.0)
_GRAVITY = (0.0, 0.0, -9.81)
_BOOLEAN = ("false", "true")
_IGNORED_FLAGS = ("constraint", "damper", "frictionloss", "passive", "spring")


@dataclass(frozen=True)
class Compiler:
    """How the numbers of the file are to be read.

    Attributes:
        radian: whether angles are in rad; in degrees otherwise.
        autolimits: whether a stated range is a limit without a word.
        euler_sequence: axes of Euler angles; a capital turns about the fixed axis.
        mesh_folder: where mesh names start, relative to the file.
        strip_path: whether only the last part of a mesh name counts.
        inertia_from_geom: `true`, `false`, or `auto`: where a body states none.
        inertia_groups: first and last group of the geoms that count for inertia.
        bound_mass: least mass of a body, kg.
        bound_inertia: least principal moment of a body, kg m^2.
        balance: whether impossible principal moments are replaced by their mean.
        total_mass: mass to scale the whole to, kg, or `None`.
    """

    radian: bool = False
    autolimits: bool = True
    euler_sequence: str = "xyz"
    mesh_folder: str = ""
    strip_path: bool = False
    inertia_from_geom: str = "auto"
    inertia_groups: tuple[float, float] = (0, 5)
    bound_mass: float = 0.0
    bound_inertia: float = 0.0
    balance: bool = False
    total_mass: float | None = None

    def angle(self, stated: float) -> float:
        """An angle of the file, rad."""
        return stated if self.radian else math.radians(stated)


def read_compiler(root: Element, findings: list[Finding]) -> Compiler:
    """Read all `<compiler>` elements; a later one overrides an earlier.

    Args:
        root: the `<mujoco>` element, includes expanded.
        findings: where to report what is not honoured.

    Returns:
        The settings.

    Raises:
        DescriptionError: a setting is malformed, or global coordinates are asked for.
    """
    merged = _merged(root, "compiler")
    if merged.choice("coordinate", ("local", "global"), "local") == "global":
        raise DescriptionError(
            "uses global coordinates, which MuJoCo dropped in version 2.3.4.",
            place=merged.place,
            remedy="Load and save the file with MuJoCo 2.3.3.",
        )
    sequence = merged.attributes.get("eulerseq", "xyz")
    if len(sequence) != 3 or not set(sequence.lower()) <= set("xyz"):
        raise DescriptionError(
            f"the Euler sequence '{sequence}' is not three letters of x, y, z.", place=merged.place
        )
    if merged.attributes.get("alignfree", "false") == "true":
        message = "alignfree is not honoured: free bodies keep the frames the file states."
        findings.append(Finding(Severity.INFO, "alignfree-ignored", message, merged.place))
    groups = merged.numbers("inertiagrouprange", 2) if "inertiagrouprange" in merged.attributes else [0, 5]
    total = merged.number("settotalmass", -1.0)
    return Compiler(
        radian=merged.choice("angle", ("degree", "radian"), "degree") == "radian",
        autolimits=merged.choice("autolimits", _BOOLEAN, "true") == "true",
        euler_sequence=sequence,
        mesh_folder=merged.attributes.get("meshdir", merged.attributes.get("assetdir", "")).strip(),
        strip_path=merged.choice("strippath", _BOOLEAN, "false") == "true",
        inertia_from_geom=merged.choice("inertiafromgeom", ("false", "true", "auto"), "auto"),
        inertia_groups=(groups[0], groups[1]),
        bound_mass=merged.number("boundmass", 0.0),
        bound_inertia=merged.number("boundinertia", 0.0),
        balance=merged.choice("balanceinertia", _BOOLEAN, "false") == "true",
        total_mass=total if total > 0 else None,
    )


def read_gravity(root: Element, findings: list[Finding]) -> tuple[float, float, float]:
    """Read gravity from all `<option>` elements, and report the options that change dynamics otherwise.

    Args:
        root: the `<mujoco>` element, includes expanded.
        findings: where to report a fluid and disabled forces, which are not modelled.

    Returns:
        Acceleration of free fall, m/s²; zero where its flag disables it.
    """
    option = _merged(root, "option")
    flag = _merged(option, "flag")
    fluid = [key for key in ("density", "viscosity") if option.number(key, 0.0) != 0.0]
    if fluid:
        message = f"the medium has {' and '.join(fluid)}; its forces on the links are not modelled."
        findings.append(Finding(Severity.WARNING, "fluid-ignored", message, option.place))
    for name in _IGNORED_FLAGS:
        if flag.attributes.get(name) == "disable":
            rest = " beyond its equalities" if name == "constraint" else ""
            message = (
                f"the flag that disables '{name}' is not honoured{rest}: it changes the simulation, no robot."
            )
            findings.append(Finding(Severity.INFO, "flag-ignored", message, flag.place))
    if flag.attributes.get("gravity") == "disable":
        return _ZERO
    return option.vector("gravity", _GRAVITY)


def disabling_flag(root: Element) -> str:
    """The flag by which a file disables its equalities: its own, or that of all constraints.

    Args:
        root: the `<mujoco>` element, includes expanded.

    Returns:
        Its name; empty where equalities hold.

    Raises:
        DescriptionError: a flag is neither enabled nor disabled.
    """
    flag = _merged(_merged(root, "option"), "flag")
    names = ("equality", "constraint")
    return next((x for x in names if flag.choice(x, ("enable", "disable"), "enable") == "disable"), "")


def _merged(parent: Element, tag: str) -> Element:
    """All children of one tag as one element, with their children, at the line of the last."""
    merged = Element(tag, {}, parent.file, parent.line)
    for element in parent.all(tag):
        merged.attributes.update(element.attributes)
        merged.children += element.children
        merged.file, merged.line = element.file, element.line
    return merged
