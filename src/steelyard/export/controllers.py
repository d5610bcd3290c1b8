r"""What an arm holds, as its controller takes it: Universal Robots, Franka, KUKA, ABB, FANUC, ros2_control.

Each takes a body in a frame F at the flange, z pointing out of it, in units of its own:

| | mass | centre | inertia about the centre of mass | documented in |
| --- | --- | --- | --- | --- |
| `ur` | kg | m | kg m², Ixx, Iyy, Izz, Ixy, Ixz, Iyz in the axes of F | script manual, `set_target_payload` |
| `franka` | kg | m | kg m², nine numbers column by column, axes of F | libfranka, `Robot::setLoad` |
| `kuka` | kg | mm | kg m² about principal axes; their A, B, C about Z, Y', X'' in ° | KR manuals, load data |
| `abb` | kg | mm | kg m² about principal axes; their quaternion, w first | RAPID manual, `loaddata` |
| `fanuc` | kg | cm | kgf cm s², diagonal only, axes of F | operator's manual, MOTION/PAYLOAD SET |
| `ros2` | N | m | none | `admittance_controller`, `gravity_compensation` |

What the documents leave open is said in `Convention.unconfirmed`, and in every file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import permutations, product
from textwrap import wrap

import numpy as np

from steelyard.arrays import Array, keep_checked, read_only
from steelyard.errors import InputError, UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, Principal
from steelyard.pose import Pose
from steelyard.uncertainty import GuaranteedBounds

# The load, in the frame of the controller

SHEET = "safety.html"
"""The page that says what guaranteed bounds rest on."""
FOLDER = "controllers"
"""Folder of the files inside that of a result."""


@dataclass(frozen=True, eq=False)
class LoadBounds:
    """Mass and centre between guaranteed bounds, in the frame of the controller.

    Attributes:
        mass: lower and upper end, shape (2,), kg.
        com: lower and upper ends of the centre of mass in rows, shape (2, 3), m; infinite where nothing
            bounds it.
        reach: largest distance of the centre of mass from the origin, m.
        assumptions: what the bounds rest on, in sentences.
        untested: those of them that the data cannot show wrong, or only where they are far off.
        heaviest: whether the upper end of the mass is the heaviest that was thought possible, not the data's.
        needed: share of the stated errors that the data needs, dimensionless; None where not asked.
    """

    mass: Array
    com: Array
    reach: float
    assumptions: tuple[str, ...]
    untested: tuple[str, ...]
    heaviest: bool = False
    needed: float | None = None

    def __post_init__(self) -> None:
        keep_checked(self, (2,), "mass")
        keep_checked(self, (2, 3), "com", finite=False)

    @classmethod
    def of(cls, bounds: GuaranteedBounds, placement: Pose, *, extent: float = math.inf) -> LoadBounds:
        r"""The bounds in another frame: the smallest box with the axes of F that holds the turned one.

        $c_F = R_{FP}\,c_P + p$, so an end is $p_i + \sum_j \min(R_{ij}\,l_j, R_{ij}\,u_j)$.

        Args:
            bounds: of the ten numbers in the payload's frame P.
            placement: X_FP, the payload's frame in the controller's.
            extent: radius about the origin of P that the bounds assume no part of the payload to leave, m.

        Returns:
            The bounds in F.
        """
        lower, upper = np.clip(bounds.com_bounds, -extent, extent)
        reach = math.inf
        com = np.array([[-np.inf] * 3, [np.inf] * 3])
        if np.isfinite([lower, upper]).all():
            R, p = placement.rotation, placement.translation
            ends = np.array([R * lower, R * upper])
            # Five rounded operations; a few units of the largest term hold all their errors.
            slack = 16.0 * np.finfo(float).eps * (np.abs(p) + np.abs(ends).max(axis=0).sum(axis=1))
            com = np.array(
                [p + ends.min(axis=0).sum(axis=1) - slack, p + ends.max(axis=0).sum(axis=1) + slack]
            )
            ball = float(np.linalg.norm(p)) + extent
            reach = min(float(np.linalg.norm(np.abs(com).max(axis=0))), ball) * (1.0 + 1e-14)
        return cls(
            np.array([bounds.lower[0], bounds.upper[0]]),
            com,
            reach,
            bounds.assumptions,
            bounds.untested,
            bool(bounds.upper[0] >= bounds.prior.upper[0]),
            bounds.needed,
        )


@dataclass(frozen=True, eq=False)
class ControllerLoad:
    """A load in the frame F in which a controller takes it, and what is known of it.

    Attributes:
        robot: name of the robot.
        body: the load in F; it has mass.
        frame: name of the link whose frame F is.
        why: this frame was taken, in a sentence.
        interval95: ends of the 95 % interval of the mass, kg.
        bounds: guaranteed bounds in F; None where there are none.
        verdict: of the weighing, in a word.
        by_prior: numbers that the data did not decide, in words.
        sources: names of the logs.
        gravity: size of the acceleration of free fall, m/s².
        version: of the software.
    """

    robot: str
    body: Body
    frame: str
    why: str
    interval95: tuple[float, float]
    bounds: LoadBounds | None = None
    verdict: str = ""
    by_prior: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    gravity: float = 9.81
    version: str = ""

    def __post_init__(self) -> None:
        if not self.body.mass > 0.0:
            raise InputError("has no mass, so no controller needs to know it.", place="load")


# What each controller expects, and where that is written


@dataclass(frozen=True)
class Convention:
    """How a controller takes a load.

    Attributes:
        vendor: whose controller.
        unit: of the centre of mass.
        power: power of ten that makes metres that unit.
        units: of all numbers, in words.
        frame: which frame it is, in the vendor's words.
        holds: what belongs into the numbers beside what was weighed, in a sentence.
        unconfirmed: what the documents do not say, in a sentence; empty for nothing.
        source: the documents.
    """

    vendor: str
    unit: str
    power: int
    units: str
    frame: str
    holds: str
    unconfirmed: str
    source: str


_ALL_OF_IT = (
    "The controller wants everything at the flange. What was on the arm without the load too, such as a "
    "gripper, was not weighed: add it."
)
CONVENTIONS: Mapping[str, Convention] = {
    "ur": Convention(
        "Universal Robots",
        "m",
        0,
        "kg, m, kg m^2",
        "tool flange, z out of it; ROS descriptions call it tool0",
        _ALL_OF_IT,
        "The manual says inertia matrix; that Ixy, Ixz, Iyz are its elements, and not the integrals of the "
        "opposite sign, is read from that.",
        "URScript manual (universal-robots.com/manuals, SW 10.6), set_target_payload: inertia with origin in "
        "the CoG and axes of the tool flange; ur_msgs/srv/SetPayload; ur_description, robot frames.",
    ),
    "franka": Convention(
        "Franka",
        "m",
        0,
        "kg, m, kg m^2",
        "flange F; descriptions call it panda_link8 or fr3_link8",
        "setLoad adds to the end effector that Desk knows; the JSON replaces it. Use one of the two.",
        "That the inertia has the axes of the flange is not written; that the JSON counts in kg, m and "
        "kg m^2 from the flange is read from Franka's example for a Robotiq gripper.",
        "libfranka, Robot::setLoad (F_x_Cload from the flange, inertia column-major) and RobotState::I_load "
        "(with respect to the center of mass); Franka RIDE, end effector commissioning "
        "(endeffector-config.json); frankarobotics/external_gripper_example.",
    ),
    "kuka": Convention(
        "KUKA",
        "mm",
        3,
        "kg, mm, degrees, kg m^2",
        "FLANGE, z out of it; ROS descriptions call it tool0",
        _ALL_OF_IT,
        "",
        "KUKA KR IONTEC manual, load center of gravity and mass moment of inertia (A about Z, then B about "
        "Y', then C about X''; origin of the main axis system in the center of mass); KUKA mxAutomation, "
        "KRC_WriteLoadData (relative to the flange).",
    ),
    "abb": Convention(
        "ABB",
        "mm",
        3,
        "kg, mm, quaternion with w first, kg m^2",
        "coordinate system of the tool that is active; tool0 is the flange, z out of it",
        "GripLoad adds to the load of the tool (tload). The numbers hold while the active tool has the frame "
        "stated here: tool0, or a tool whose tframe is that link.",
        "",
        "RAPID reference manual, loaddata (cog and axes of moment of a payload in the tool coordinate "
        "system, origin of the axes in cog); abb_rapid_msgs/LoadData.",
    ),
    "fanuc": Convention(
        "FANUC",
        "cm",
        2,
        "kg, cm, kgf cm s^2 (1 kg m^2 = 10.19716 kgf cm s^2)",
        "faceplate: z out of it, x up, y right seen from behind; ROS descriptions call it tool0",
        _ALL_OF_IT,
        "That the inertia is about the center of gravity is what users report, not what we found FANUC to "
        "write. In backups the system variables $PLST_GRP look like kg cm^2: enter this on the screen.",
        "FANUC operator's manual, MOTION/PAYLOAD SET, as Lincoln Electric publishes it; robot-forum.com, "
        "thread 37725 (units and center of the inertia).",
    ),
    "ros2": Convention(
        "ros2_control",
        "m",
        0,
        "N, m",
        "link of the description named in frame.id",
        "The controller wants everything beyond the force-torque sensor. What was on the arm without the "
        "load too, such as a gripper, was not weighed: add it.",
        "",
        "control.ros.org, admittance_controller, gravity_compensation: CoG.pos in the frame frame.id, "
        "CoG.force the weight.",
    ),
}
"""By the name that chooses a controller."""
ALL = "all"
"""Chooses every controller."""


def controller_names(text: str, *, place: str) -> tuple[str, ...]:
    """The controllers that a text between commas names.

    Args:
        text: such as `ur,abb`, or `all`.
        place: what to call it in messages.

    Returns:
        Their names, each once, in the order of `CONVENTIONS`.

    Raises:
        UnknownNameError: there is no such controller; lists those that exist.
    """
    asked = {word.strip() for word in text.split(",")}
    for name in sorted(asked - {ALL}):
        if name not in CONVENTIONS:
            raise UnknownNameError("controller", name, [*CONVENTIONS, ALL], place=place)
    return tuple(name for name in CONVENTIONS if ALL in asked or name in asked)


# The files


@dataclass(frozen=True)
class ControllerFiles:
    """Texts for controllers.

    Attributes:
        files: text by name, `VENDOR/FILE`.
        findings: what a format cannot hold.
    """

    files: Mapping[str, str]
    findings: tuple[Finding, ...]


def controller_files(load: ControllerLoad, names: Iterable[str]) -> ControllerFiles:
    """Write a load for controllers.

    Args:
        load: the load, in the frame that the controllers take.
        names: which, of `CONVENTIONS`.

    Returns:
        The texts, and what is lost in them.

    Raises:
        UnknownNameError: there is no such controller.
    """
    files: dict[str, str] = {}
    findings: list[Finding] = []
    for name in names:
        if name not in CONVENTIONS:
            raise UnknownNameError("controller", name, list(CONVENTIONS))
        lost = _LOST[name](load.body) if name in _LOST else ""
        if lost:
            place = f"{FOLDER}/{name}"
            findings.append(Finding(Severity.INFO, "controller-loses-inertia", lost, place))
        for file, text in _WRITERS[name](load, CONVENTIONS[name], lost).items():
            files[f"{name}/{file}"] = text
    return ControllerFiles(files, tuple(findings))


def _universal_robots(load: ControllerLoad, convention: Convention, lost: str) -> dict[str, str]:
    m, (x, y, z), I_c = _told(load.body, convention)
    six = [decimal_number(I_c[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    head = _comment("#", load, convention, lost)
    call = f"set_target_payload({m}, [{x}, {y}, {z}], [{', '.join(six)}])"
    older = f"# Software without set_target_payload knows no inertia: set_payload({m}, [{x}, {y}, {z}])"
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    service = [
        "# ros2 service call /io_and_status_controller/set_payload ur_msgs/srv/SetPayload "
        '"$(cat set_payload.yaml)"',
        "# Older ur_msgs have no ixx to iyz: delete these lines there, and the inertia is lost.",
        f"mass: {m}",
        f"center_of_gravity: {{x: {x}, y: {y}, z: {z}}}",
        *(f"{name}: {value}" for name, value in zip(names, six, strict=True)),
    ]
    return {
        "payload.script": _lines(*head, older, call),
        "set_payload.yaml": _lines(*head, *service),
    }


def _franka(load: ControllerLoad, convention: Convention, lost: str) -> dict[str, str]:
    m, com, I_c = _told(load.body, convention)
    columns = [decimal_number(value) for value in I_c.T.ravel().tolist()]
    code = [
        "// endeffector-config.json can hold no comment: all of this holds for it as well.",
        "#pragma once",
        "",
        "#include <array>",
        "",
        "#include <franka/robot.h>",
        "",
        "inline void set_held_load(franka::Robot& robot) {",
        f"  const double load_mass = {m};",
        f"  const std::array<double, 3> F_x_Cload = {{{{{', '.join(com)}}}}};",
        f"  const std::array<double, 9> load_inertia = {{{{{', '.join(columns)}}}}};",
        "  robot.setLoad(load_mass, F_x_Cload, load_inertia);",
        "}",
    ]
    config = {
        "id": "held-load",
        "name": "Held load",
        "color": "#7b8794",
        "mass": float(m),
        "centerOfMass": [float(value) for value in com],
        "transformation": np.eye(4).T.ravel().tolist(),
        "inertia": [float(value) for value in columns],
    }
    return {
        "set_load.hpp": _lines(*_comment("//", load, convention, lost), *code),
        "endeffector-config.json": json.dumps(config, indent=2) + "\n",
    }


def _kuka(load: ControllerLoad, convention: Convention, lost: str) -> dict[str, str]:
    m, (x, y, z), _ = _told(load.body, convention)
    axes = axes_of_moment(load.body)
    C, B, A = (decimal_number(angle) for angle in np.degrees(Pose(axes.rotation, np.zeros(3)).rpy).tolist())
    X, Y, Z = (decimal_number(moment) for moment in axes.moments.tolist())
    place = f"X {x},Y {y},Z {z},A {A},B {B},C {C}"
    return {
        "load_data.txt": _lines(
            *_comment(";", load, convention, lost),
            "; A line for $config.dat; the number is that of the tool.",
            f"LOAD_DATA[1]={{M {m},CM {{{place}}},J {{X {X},Y {Y},Z {Z}}}}}",
        )
    }


def _abb(load: ControllerLoad, convention: Convention, lost: str) -> dict[str, str]:
    m, com, _ = _told(load.body, convention)
    axes = axes_of_moment(load.body)
    q = Pose(axes.rotation, np.zeros(3)).quaternion[[3, 0, 1, 2]]
    aom = ",".join(decimal_number(value) for value in q.tolist())
    moments = ",".join(decimal_number(moment) for moment in axes.moments.tolist())
    return {
        "HeldLoad.mod": _lines(
            "MODULE HeldLoad",
            *(f"  {line}" for line in _comment("!", load, convention, lost)),
            "  ! GripLoad held_load;",
            f"  PERS loaddata held_load:=[{m},[{','.join(com)}],[{aom}],{moments}];",
            "ENDMODULE",
        )
    }


KGF_CM_S2 = 100.0 / 9.80665
"""One kg m² in kgf cm s²."""


def _fanuc(load: ControllerLoad, convention: Convention, lost: str) -> dict[str, str]:
    m, com, I_c = _told(load.body, convention)
    moments = [decimal_number(value) for value in (KGF_CM_S2 * I_c.diagonal()).tolist()]
    rows = [("PAYLOAD", "[kg]", m)]
    for word, unit, values in (("CENTER", "[cm]", com), ("INERTIA", "[kgfcms^2]", moments)):
        rows += [(f"PAYLOAD {word} {axis}", unit, value) for axis, value in zip("XYZ", values, strict=True)]
    return {
        "payload_schedule.txt": _lines(
            *_comment("*", load, convention, lost),
            "* MENU, SYSTEM, MOTION, DETAIL. Where the screen takes fewer digits, round mass and inertia up.",
            *(f"{k}  {name:<18} {unit:<11} {value:>14}" for k, (name, unit, value) in enumerate(rows, 1)),
        )
    }


def _ros2_control(load: ControllerLoad, convention: Convention, lost: str) -> dict[str, str]:
    m, com, _ = _told(load.body, convention)
    g, force = decimal_number(load.gravity), decimal_number(load.body.mass * load.gravity)
    return {
        "admittance_controller.yaml": _lines(
            *_comment("#", load, convention, lost),
            f"# The weight is {m} kg times {g} m/s^2.",
            "# The first line is the name of the controller's node: change it to yours.",
            "admittance_controller:",
            "  ros__parameters:",
            "    gravity_compensation:",
            "      frame:",
            f"        id: {json.dumps(load.frame)}",
            "      CoG:",
            f"        pos: [{', '.join(com)}]",
            f"        force: {force}",
        )
    }


_WRITERS: Mapping[str, Callable[[ControllerLoad, Convention, str], dict[str, str]]] = {
    "ur": _universal_robots,
    "franka": _franka,
    "kuka": _kuka,
    "abb": _abb,
    "fanuc": _fanuc,
    "ros2": _ros2_control,
}


def _fanuc_loses(body: Body) -> str:
    xy, xz, yz = (f"{body.inertia[i, j]:.3g}" for i, j in ((0, 1), (0, 2), (1, 2)))
    return (
        "A payload schedule holds the diagonal of the inertia alone: the products "
        f"Ixy {xy}, Ixz {xz}, Iyz {yz} kg m^2 are lost."
    )


def _ros2_loses(body: Body) -> str:
    moments = ", ".join(f"{moment:.3g}" for moment in body.principal_axes().moments.tolist())
    return (
        "Gravity compensation holds weight and centre alone: the inertia, with principal moments "
        f"{moments} kg m^2, is lost."
    )


_LOST: Mapping[str, Callable[[Body], str]] = {"fanuc": _fanuc_loses, "ros2": _ros2_loses}
"""What a format cannot hold of a body, in a sentence."""

# Numbers, axes and comments of the files

DIGITS = 7
"""Significant digits that are written: what a controller's single precision holds."""
FINEST = 12
"""Most decimals that are written."""
MASS_DECIMALS, COM_DECIMALS = 3, 4
"""Of the bounds of the mass, in kg, and of the centre, in m."""
_WIDTH = 100
_EXACT = Context(prec=60)


def decimal_number(value: float) -> str:
    """A number with `DIGITS` significant digits, a decimal point and no exponent, which every reader takes.

    Args:
        value: finite, any unit.

    Returns:
        The number; at most `FINEST` decimals.
    """
    size = math.floor(math.log10(abs(value))) if value else 0
    text = f"{value:.{min(max(DIGITS - 1 - size, 1), FINEST)}f}"
    whole, _, decimals = text.partition(".")
    text = f"{whole}.{decimals.rstrip('0') or '0'}"
    return text if float(text) else "0.0"


def axes_of_moment(body: Body) -> Principal:
    """Principal axes through the centre of mass, called x, y, z so that they turn least from the frame's.

    Returns:
        Moments about these axes, not sorted, and the axes as columns, right-handed.
    """
    found = body.principal_axes()
    best, order = found.rotation, [0, 1, 2]
    for places in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            R = found.rotation[:, list(places)] * np.array(signs)
            if np.linalg.det(R) > 0.0 and np.trace(R) > np.trace(best) + 1e-12:
                best, order = R, list(places)
    return Principal(read_only(found.moments[order]), read_only(best))


def rounded_outward(lower: float, upper: float, *, power: int = 0, decimals: int) -> tuple[str, str]:
    """Bounds as text that are never tighter than the bounds.

    Args:
        lower: lower end, finite, any unit.
        upper: upper end, the same unit.
        power: power of ten that both are multiplied by, such as 3 for metres told in mm.
        decimals: of the text.

    Returns:
        Both ends, rounded down and up.
    """
    digit = Decimal(1).scaleb(-decimals)
    # In decimals, because a float times a power of ten may itself be rounded inwards.
    low, high = (Decimal(end).scaleb(power, _EXACT) for end in (lower, upper))
    low, high = low.quantize(digit, ROUND_FLOOR, _EXACT), high.quantize(digit, ROUND_CEILING, _EXACT)
    return f"{low if low else abs(low):f}", f"{high if high else abs(high):f}"


def _told(body: Body, convention: Convention) -> tuple[str, list[str], Array]:
    """Mass and centre as text in the convention's units, and the inertia, kg m²."""
    com = [decimal_number(value) for value in (10.0**convention.power * body.com).tolist()]
    return decimal_number(body.mass), com, body.inertia


def _comment(mark: str, load: ControllerLoad, convention: Convention, lost: str) -> list[str]:
    """What stands above the numbers, each line behind the mark that makes it a comment."""
    sources = f" from {', '.join(load.sources)}" if load.sources else ""
    undecided = ", ".join(load.by_prior)
    sentences = [
        f"Load of {load.robot} for {convention.vendor}: weighed by Steelyard {load.version}{sources}.",
        f"Verdict: {load.verdict}." if load.verdict != "fail" else "VERDICT: FAIL. Do not use these numbers.",
        f"Units: {convention.units}. Frame: the link {load.frame}. {load.why}",
        f"The controller's frame: {convention.frame}.",
        _bounds_words(load, convention),
        f"NOT DECIDED BY THE DATA, only by what can exist: {undecided}." if undecided else "",
        convention.holds,
        f"LOST HERE: {lost}" if lost else "",
        f"NOT CONFIRMED: {convention.unconfirmed}" if convention.unconfirmed else "",
        f"Written after: {convention.source}",
    ]
    width = _WIDTH - len(mark) - 1
    return [f"{mark} {line}" for text in sentences if text for line in wrap(_plain(text), width)]


def _bounds_words(load: ControllerLoad, convention: Convention) -> str:
    bounds = load.bounds
    if bounds is None:
        low, high = (f"{end:.4g}" for end in load.interval95)
        return (
            "NOTHING IS GUARANTEED: no bounds were found or asked for (--torque-error). Mass between "
            f"{low} and {high} kg by its 95 % interval."
        )
    low, high = rounded_outward(*bounds.mass.tolist(), decimals=MASS_DECIMALS)
    where = "the centre of mass is not bounded"
    if np.isfinite(bounds.com).all():
        power, pairs = convention.power, bounds.com.T.tolist()
        ends = [rounded_outward(*pair, power=power, decimals=COM_DECIMALS - power) for pair in pairs]
        told = ", ".join(f"{axis} {a} to {b}" for axis, (a, b) in zip("xyz", ends, strict=True))
        where = f"centre of mass within {told} {convention.unit}"
    whose = " (the heaviest that was thought possible: the data does not bound it)" if bounds.heaviest else ""
    return (
        f"GUARANTEED if all {len(bounds.assumptions)} assumptions of {SHEET} hold, {len(bounds.untested)} of "
        f"which the data cannot test: mass at most {high} kg{whose} and at least {low} kg; {where}."
    )


_SIGNS = str.maketrans(
    {"²": "^2", "³": "^3", "·": " ", "°": " deg", "–": "-", "—": "-", "’": "'", "…": "...", "\\": "/"}
)


def _plain(text: str) -> str:
    """Text that no reader can take for more than a comment: printable ASCII without a backslash."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text.translate(_SIGNS))
    return shown.encode("ascii", "replace").decode("ascii")


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
