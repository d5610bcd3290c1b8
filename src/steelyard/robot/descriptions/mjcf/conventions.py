r"""How an element of an MJCF file is to be read: settings, defaults, ranges, orientations, placements.

Euler angles follow the compiler's sequence: a small letter turns about the moving axis
($R \leftarrow R\,R_i$), a capital about the fixed one ($R \leftarrow R_i\,R$).

MuJoCo scales quaternions, so `0.7071 0.7071 0 0` is a quarter turn to the last bit. A quaternion is taken for
a rounded one only where it says so itself: `-3.67e-06 1 -3.67e-06` carries the `1.5708` it was made from.
Rounded numbers of joints are reported, or on request replaced by what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose
from steelyard.robot.descriptions.rounding import (
    ROUND_OFF,
    ZERO_OFFSET,
    Rounding,
    meant_axis,
    quarter_turns,
    rounding_findings,
)
from steelyard.robot.descriptions.xml import Element

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
    merged = _joined(root, "compiler")
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
    option = _joined(root, "option")
    flag = _joined(option, "flag")
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
    flag = _joined(_joined(root, "option"), "flag")
    names = ("equality", "constraint")
    return next((x for x in names if flag.choice(x, ("enable", "disable"), "enable") == "disable"), "")


def _joined(parent: Element, tag: str) -> Element:
    """All children of one tag as one element, with their children, at the line of the last."""
    merged = Element(tag, {}, parent.file, parent.line)
    for element in parent.all(tag):
        merged.attributes.update(element.attributes)
        merged.children += element.children
        merged.file, merged.line = element.file, element.line
    return merged


MAIN = "main"
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
# Shortcuts write one actuator underneath; only what decides its largest force is followed.
_AFFINE = {"gaintype": "fixed", "biastype": "affine", "dyntype": "none"}
ACTUATORS: Mapping[str, Mapping[str, str]] = {
    "general": {},
    "motor": {"gaintype": "fixed", "gainprm": "1", "biastype": "none", "dyntype": "none"},
    "position": _AFFINE,
    "velocity": _AFFINE,
    "intvelocity": {**_AFFINE, "dyntype": "integrator"},
    "orientation": _AFFINE,
    "pid": _AFFINE,
    "damper": {"gaintype": "affine", "biastype": "none", "dyntype": "none"},
    "cylinder": {"gaintype": "fixed", "biastype": "affine", "dyntype": "filter"},
    "muscle": {"gaintype": "muscle", "biastype": "muscle", "dyntype": "muscle"},
    "adhesion": {"gaintype": "fixed", "biastype": "none", "dyntype": "none"},
    "dcmotor": {"gaintype": "dcmotor", "biastype": "dcmotor", "dyntype": "dcmotor"},
    "plugin": {"gaintype": "plugin", "biastype": "plugin", "dyntype": "plugin"},
}
_Settings = dict[str, dict[str, str]]


class Defaults:
    """The default classes of one file."""

    def __init__(self, root: Element) -> None:
        """Read every `<default>`.

        A class starts as a copy of the one around it, as that stands after its own elements.

        Args:
            root: the `<mujoco>` element, includes expanded.

        Raises:
            DescriptionError: a class has no name, or its name is used twice.
        """
        self._classes: dict[str, _Settings] = {MAIN: {}}
        tasks = [(element, self._classes[MAIN]) for element in reversed(list(root.all("default")))]
        for element, _ in tasks:
            if element.attributes.get("class", MAIN) != MAIN:
                raise DescriptionError("the outermost default class is 'main'.", place=element.place)
        while tasks:
            element, settings = tasks.pop()
            for child in element.children:
                if child.tag != "default":
                    key = _key(child)
                    settings[key] = _merged(settings.get(key, {}), child)
            inner = []
            for child in element.all("default"):
                name = child.text("class")
                if name in self._classes:
                    raise DescriptionError(f"the default class '{name}' is used twice.", place=child.place)
                self._classes[name] = {key: dict(values) for key, values in settings.items()}
                inner.append((child, self._classes[name]))
            tasks += reversed(inner)

    def resolve(self, element: Element, around: str = MAIN) -> Element:
        """An element with the attributes its class gives it.

        Args:
            element: as the file states it.
            around: the class that holds around it, of the nearest `childclass`.

        Returns:
            The element at the same line; what it states itself wins.

        Raises:
            UnknownNameError: no such class; lists those that exist.
        """
        name = self.known(element.attributes.get("class", around), element)
        settings = self._classes[name].get(_key(element), {})
        return replace(element, attributes=_merged(settings, element))

    def known(self, name: str, element: Element) -> str:
        """The name of a class, which must exist.

        Args:
            name: the class.
            element: the element that names it.

        Returns:
            The name.

        Raises:
            UnknownNameError: no such class; lists those that exist.
        """
        if name not in self._classes:
            raise UnknownNameError("default class", name, self._classes, place=element.place)
        return name


def _key(element: Element) -> str:
    return "actuator" if element.tag in ACTUATORS else element.tag


def _merged(settings: Mapping[str, str], element: Element) -> dict[str, str]:
    inherited = dict(settings)
    if any(key in element.attributes for key in ORIENTATIONS):
        inherited = {key: value for key, value in inherited.items() if key not in ORIENTATIONS}
    return inherited | element.attributes | dict(ACTUATORS.get(element.tag, {}))


_SWITCH = ("false", "true", "auto")


def read_range(element: Element, key: str, switch: str, autolimits: bool) -> tuple[float, float]:
    """A range with the attribute that switches it on.

    Args:
        element: defaults resolved.
        key: attribute of the range.
        switch: attribute that says whether it holds; `auto` is where it is not empty.
        autolimits: whether `auto` is allowed.

    Returns:
        Its ends as stated, infinite where it does not hold.

    Raises:
        DescriptionError: the range is empty but must hold, or nothing says whether it does.
    """
    stated = key in element.attributes
    lower, upper = element.numbers(key, 2) if stated else (0.0, 0.0)
    limited = element.choice(switch, _SWITCH, "auto")
    if limited == "auto":
        if stated and not autolimits:
            raise DescriptionError(
                f"<{element.tag}> states '{key}' but not '{switch}'.",
                place=element.place,
                remedy='Set autolimits="true" in <compiler>, or state it.',
            )
        limited = "true" if lower < upper else "false"
    elif limited == "true" and not lower < upper:
        raise DescriptionError(
            f"<{element.tag}> is limited to the range {lower:g} to {upper:g}.", place=element.place
        )
    return (lower, upper) if limited == "true" else (-math.inf, math.inf)


def symmetric(ends: tuple[float, float], joint: str, element: Element, findings: list[Finding]) -> float:
    """The effort limit a range of efforts stands for: the smaller of its ends, if both are on their side.

    A limit here holds in both directions, so the smaller end promises no effort that is not there. Where the
    range has one side only, the limit is its far end.

    Args:
        ends: lower and upper end, N·m or N.
        joint: the joint's name.
        element: where they are stated.
        findings: where to report ends that differ.

    Returns:
        The limit, N·m or N.
    """
    lower, upper = ends
    narrow, wide = sorted((max(-lower, 0.0), max(upper, 0.0)))
    limit = narrow if narrow > 0.0 else wide
    if narrow != wide:
        message = f"joint '{joint}' may give {lower:g} to {upper:g}; the limit kept is ±{limit:g}."
        findings.append(Finding(Severity.WARNING, "asymmetric-effort", message, element.place))
    return limit


_ROUNDED_TURN = 2e-5
"""Largest error of a rotation taken for quarter turns, rad; `1.5708` and `3.1416` together leave 1.1e-5."""
_SHORTEST = 1e-10
"""Length below which a direction is none, dimensionless."""


def unit(element: Element, vector: Sequence[float], what: str) -> Array:
    """A direction of length one.

    Args:
        element: where it is stated.
        vector: three numbers, dimensionless.
        what: what to call it in the message.

    Returns:
        The unit vector, shape (3,), dimensionless.

    Raises:
        DescriptionError: the numbers are next to zero.
    """
    v = np.array(vector)
    length = float(np.linalg.norm(v))
    if length < _SHORTEST:
        raise DescriptionError(f"the {what} of <{element.tag}> has no direction.", place=element.place)
    return np.asarray(v / length)


def turn_from_z(direction: Array) -> Array:
    r"""The smallest rotation that takes z to a direction.

    Args:
        direction: unit vector, shape (3,), dimensionless.

    Returns:
        The rotation, shape (3, 3), dimensionless; half a turn about x where the direction is -z.
    """
    x, y, z = direction
    across = math.hypot(x, y)
    if across < _SHORTEST:
        return np.diag([1.0, 1.0, 1.0] if z > 0 else [1.0, -1.0, -1.0])
    return _about(np.array([-y, x, 0.0]) / across, z, across)


def _about(axis: Array, cosine: float, sine: float) -> Array:
    r"""Rodrigues: $R = \cos\theta\,1 + \sin\theta\,[a]_\times + (1 - \cos\theta)\,a a^T$."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(cosine * np.eye(3) + sine * cross + (1.0 - cosine) * np.outer(axis, axis))


def _read_rotation(element: Element, compiler: Compiler) -> tuple[Array, Array, list[Rounding]]:
    """The orientation of an element."""
    stated = [key for key in ORIENTATIONS if key in element.attributes]
    if len(stated) > 1:
        raise DescriptionError(
            f"<{element.tag}> states its orientation {len(stated)} times: {', '.join(stated)}.",
            place=element.place,
            remedy="Keep one.",
        )
    match stated:
        case ["quat"]:
            w, x, y, z = element.numbers("quat", 4)
            if not any((w, x, y, z)):
                raise DescriptionError("a quaternion of zeros is no orientation.", place=element.place)
            return _nearly_quarter_turns(Pose.from_quaternion((x, y, z, w)).rotation, element, "quat")
        case ["xyaxes"]:
            numbers = element.numbers("xyaxes", 6)
            x_axis = unit(element, numbers[:3], "x axis")
            y_axis = unit(element, numbers[3:], "y axis")
            for _ in range(2):
                # Once is not enough where the two are nearly parallel.
                y_axis = unit(element, (y_axis - (x_axis @ y_axis) * x_axis).tolist(), "y axis")
            R = np.column_stack((x_axis, y_axis, np.cross(x_axis, y_axis)))
            return _nearly_quarter_turns(R, element, "xyaxes")
        case ["zaxis"]:
            z_axis = unit(element, element.numbers("zaxis", 3), "z axis")
            return _nearly_quarter_turns(turn_from_z(z_axis), element, "zaxis")
        case ["axisangle"]:
            *vector, _ = element.numbers("axisangle", 4)
            axis = unit(element, vector, "rotation axis")
            *literals, angle = element.words("axisangle", "")
            meant, roundings = meant_axis(axis, " ".join(literals), element.place)
            (c, s), (c_meant, s_meant) = _turn(angle, "angle", element, compiler, roundings)
            return _about(axis, c, s), _about(meant, c_meant, s_meant), roundings
        case ["euler"]:
            element.numbers("euler", 3)
            return _euler(element, compiler)
    return np.eye(3), np.eye(3), []


def _euler(element: Element, compiler: Compiler) -> tuple[Array, Array, list[Rounding]]:
    R = R_meant = np.eye(3)
    roundings: list[Rounding] = []
    for letter, literal in zip(compiler.euler_sequence, element.words("euler", ""), strict=True):
        axis = np.eye(3)["xyz".index(letter.lower())]
        turns = [_about(axis, *cs) for cs in _turn(literal, f"{letter} angle", element, compiler, roundings)]
        if letter.islower():
            R, R_meant = R @ turns[0], R_meant @ turns[1]
        else:
            R, R_meant = turns[0] @ R, turns[1] @ R_meant
    return R, R_meant, roundings


def _turn(
    literal: str, part: str, element: Element, compiler: Compiler, roundings: list[Rounding]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Cosine and sine of an angle as stated, and as meant: exactly 0 and ±1 for quarter turns."""
    angle = compiler.angle(float(literal))
    stated = (math.cos(angle), math.sin(angle))
    if compiler.radian:
        k = quarter_turns(literal)
    else:
        nearest = round(float(literal) / 90.0)
        k = nearest if abs(angle - nearest * math.pi / 2) <= _ROUNDED_TURN else None
    if k is None:
        return stated, stated
    error = abs(angle - k * math.pi / 2)
    if error > ROUND_OFF:
        meaning = f"{k} quarter turn(s)"
        roundings.append(Rounding("rounded-angle", part, literal, meaning, error, "rad", element.place))
    exact = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[k % 4]
    # Whole quarters of a degree-valued angle are exact as stated, too.
    return (exact if error <= ROUND_OFF else stated), exact


def _nearly_quarter_turns(R: Array, element: Element, part: str) -> tuple[Array, Array, list[Rounding]]:
    exact = np.round(R) + 0.0
    # A rotation by a small angle e away differs by sqrt(2) e in the Frobenius norm.
    error = float(np.linalg.norm(R - exact)) / math.sqrt(2.0)
    if error > _ROUNDED_TURN:
        return R, R, []
    if error <= 1e2 * ROUND_OFF:
        return R, exact, []
    literal = " ".join(element.words(part, ""))
    rounding = Rounding("rounded-angle", part, literal, "quarter turns", error, "rad", element.place)
    return R, exact, [rounding]


class Placements:
    """Reads poses, and either reports rounded numbers or replaces them by what they mean."""

    def __init__(
        self, compiler: Compiler, findings: list[Finding], snapped: list[Rounding] | None = None
    ) -> None:
        """Set up.

        Args:
            compiler: how angles are stated.
            findings: where to report rounded numbers.
            snapped: where to note those replaced; `None` to keep the numbers as stated.
        """
        self._compiler = compiler
        self._findings = findings
        self._snapped = snapped

    def pose(self, element: Element, owner: str) -> Pose:
        """The pose of a body or a frame, as stated or as meant.

        Args:
            element: with `pos` and an orientation.
            owner: the joint to name in findings.

        Returns:
            The pose in what encloses it.
        """
        R, R_meant, roundings = _read_rotation(element, self._compiler)
        p, p_meant, offsets = _offset(element)
        if self._keep(owner, roundings + offsets):
            return Pose(R, p)
        return Pose(R_meant, p_meant)

    def plain(self, element: Element) -> Pose:
        """The pose of a geom or an inertia: as stated, since nothing hinges on its roundings.

        Args:
            element: with `pos` and an orientation.

        Returns:
            The pose in what encloses it.
        """
        return Pose(_read_rotation(element, self._compiler)[0], np.array(element.vector("pos", _ZERO)))

    def anchor(self, element: Element, owner: str) -> Array:
        """The point a joint turns about.

        Args:
            element: the joint.
            owner: its name.

        Returns:
            The point in what encloses it, shape (3,), m.
        """
        p, p_meant, roundings = _offset(element)
        return p if self._keep(owner, roundings) else p_meant

    def axis(self, element: Element, owner: str) -> Array:
        """The direction of a joint.

        Args:
            element: the joint.
            owner: its name.

        Returns:
            Unit vector in what encloses it, shape (3,), dimensionless.
        """
        stated = unit(element, element.vector("axis", (0.0, 0.0, 1.0)), "axis")
        meant, roundings = meant_axis(stated, " ".join(element.words("axis", "0 0 1")), element.place)
        return stated if self._keep(owner, roundings) else meant

    def _keep(self, owner: str, roundings: Sequence[Rounding]) -> bool:
        if self._snapped is None:
            self._findings += rounding_findings(owner, roundings)
            return True
        self._snapped += roundings
        return False


def _offset(element: Element) -> tuple[Array, Array, list[Rounding]]:
    stated = np.array(element.vector("pos", _ZERO))
    meant, roundings = stated.copy(), []
    for k, literal in enumerate(element.words("pos", "0 0 0")):
        if abs(stated[k]) <= ZERO_OFFSET:
            meant[k] = 0.0
            if abs(stated[k]) > ROUND_OFF:
                error = abs(float(stated[k]))
                roundings.append(
                    Rounding("rounded-offset", "xyz"[k], literal, "0", error, "m", element.place)
                )
    return stated, meant, roundings
