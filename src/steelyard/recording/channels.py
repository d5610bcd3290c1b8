"""The quantities a log may hold, how their columns are spelled, and the units that a name states."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.errors import RecordingError

# Quantities, and the spelling of their columns


@dataclass(frozen=True)
class Channel:
    """A quantity with one column per joint.

    Attributes:
        name: the field of `Recording` that holds it.
        prefix: how its columns start in our own files, as in `qref_elbow`.
        unit: its unit for revolute and prismatic joints.
        spellings: what other tools call it, in lower case.
    """

    name: str
    prefix: str
    unit: str
    spellings: tuple[str, ...]


CHANNELS = {
    channel.name: channel
    for channel in (
        Channel("q", "q", "rad or m", ("pos", "position", "positions", "actual_q")),
        Channel(
            "v",
            "v",
            "rad/s or m/s",
            ("dq", "qd", "qdot", "vel", "velocity", "velocities", "actual_qd"),
        ),
        Channel(
            "a",
            "a",
            "rad/s² or m/s²",
            ("ddq", "qdd", "qddot", "acc", "accel", "acceleration", "accelerations"),
        ),
        Channel("tau", "tau", "N·m or N", ("effort", "efforts", "torque", "torques")),
        Channel("current", "current", "A", ("i", "currents", "actual_current")),
        Channel("q_ref", "qref", "rad or m", ("target_q",)),
        Channel("v_ref", "vref", "rad/s or m/s", ("target_qd",)),
        Channel("a_ref", "aref", "rad/s² or m/s²", ("target_qdd",)),
    )
}
TIME_SPELLINGS = ("time", "t", "times", "time_s", "timestamp", "timestamps")

_OF_PREFIX = {channel.prefix: channel.name for channel in CHANNELS.values()}
_OF_WORD = _OF_PREFIX | {word: channel.name for channel in CHANNELS.values() for word in channel.spellings}
# Nine digits number any robot's joints; what is longer is a name.
_NUMBER = re.compile(r"[0-9]{1,9}")
_SPELLING = re.compile(
    rf"(?P<word>{'|'.join(sorted(_OF_WORD, key=len, reverse=True))})"
    r"(?:[_.]?(?P<number>[0-9]{1,9})|[_.]?\[(?P<bracketed>[0-9]{1,9})\]|[_.](?P<joint>.+))?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True)
class Spelling:
    """What a column's name says by itself, before the other columns are known.

    Attributes:
        channel: name of the channel.
        joint: the joint's name, its number as written, or None when the name ends with the channel.
        own: whether it is spelled as our own files spell it, `prefix_joint`.
    """

    channel: str
    joint: str | int | None
    own: bool


def spelling(column: str) -> Spelling | None:
    """Return what a column's name says, or None when no channel is spelled like it.

    Our own form `prefix_joint` is tried first and takes all that follows the underscore as the joint, so that
    joint names may hold underscores, brackets or trailing digits.

    Args:
        column: the name in the file.

    Returns:
        The reading.
    """
    prefix, _, joint = column.partition("_")
    if joint and prefix in _OF_PREFIX:
        number = joint_number(joint)
        return Spelling(_OF_PREFIX[prefix], joint if number is None else number, own=True)
    match = _SPELLING.fullmatch(column)
    if match is None:
        return None
    digits = match["number"] or match["bracketed"]
    return Spelling(_OF_WORD[match["word"].lower()], int(digits) if digits else match["joint"], own=False)


def joint_number(name: str) -> int | None:
    """Return the number that a joint's name is, or None when it is more than a bare number.

    Args:
        name: the joint's name.

    Returns:
        The number, or None.
    """
    return int(name) if _NUMBER.fullmatch(name) else None


def is_time(column: str) -> bool:
    """Return whether a column's name is one of the spellings of time.

    Args:
        column: the name in the file.

    Returns:
        Whether it is.
    """
    return column.lower() in TIME_SPELLINGS


def column_name(channel: str, joint: str) -> str:
    """Return the name of a joint's column in our own files, as in `qref_elbow` for channel `q_ref`.

    Args:
        channel: name of the channel.
        joint: name of the joint.
    """
    return f"{CHANNELS[channel].prefix}_{joint}"


def is_claimed(column: str, joints: Sequence[str]) -> bool:
    """Return whether a reader would take a column for time or a channel in a log of these joints.

    Such a name cannot serve for an extra column: it would come back from a file as something else.

    Args:
        column: the name in question.
        joints: names of the log's joints.

    Returns:
        Whether the name is taken.
    """
    if is_time(column):
        return True
    reading = spelling(column)
    if reading is None:
        return False
    if reading.joint is None:
        return len(joints) == 1
    return (
        isinstance(reading.joint, int) or reading.joint in joints or (reading.own and reading.channel == "q")
    )


# Units that a column's name states, and what turns them into SI; nothing is converted unless stated.

_DEGREE = math.pi / 180.0
_TURN = 2.0 * math.pi
_POSITION = {"rad": 1.0, "deg": _DEGREE, "degree": _DEGREE, "degrees": _DEGREE, "°": _DEGREE}
_POSITION |= {"mrad": 1e-3, "rev": _TURN, "m": 1.0, "mm": 1e-3}
_VELOCITY = {f"{unit}/s": factor for unit, factor in _POSITION.items()}
_VELOCITY |= {"rpm": _TURN / 60.0, "1/min": _TURN / 60.0, "rps": _TURN}
_ACCELERATION = {f"{unit}/s^2": factor for unit, factor in _POSITION.items()}
_FACTORS = {
    "time": {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    "q": _POSITION,
    "v": _VELOCITY,
    "a": _ACCELERATION,
    "tau": {"Nm": 1.0, "mNm": 1e-3, "kNm": 1e3, "N": 1.0, "kN": 1e3},
    "current": {"A": 1.0, "mA": 1e-3},
    "q_ref": _POSITION,
    "v_ref": _VELOCITY,
    "a_ref": _ACCELERATION,
    "force": {"N": 1.0, "mN": 1e-3, "kN": 1e3},
    "moment": {"Nm": 1.0, "mNm": 1e-3, "kNm": 1e3, "Nmm": 1e-3},
}
_WRENCH = re.compile(r"wrench_.+_(?P<part>[fm])[xyz]")
_KNOWN = frozenset(unit for factors in _FACTORS.values() for unit in factors)
_LOWER = frozenset(unit for unit in _KNOWN if unit.islower() and len(unit) > 2)
_BRACKETED = re.compile(r"(?P<name>.*?)[\s_]*[\[(](?P<unit>[^\[\]()]{1,12})[\])]")
_SUFFIXED = re.compile(r"(?P<name>.+)_(?P<unit>[A-Za-zµ]{1,4})")


class StatedUnit(NamedTuple):
    """The unit that a column's name states.

    Attributes:
        name: the name without it.
        unit: the unit, in our spelling.
        factor: what turns a value into SI.
    """

    name: str
    unit: str
    factor: float


def stated_unit(column: str, meaning: str | None = None) -> StatedUnit | None:
    """Return the unit in a column's name, as in `q_1 [deg]`, `torque_2 (Nm)`, `q_1_deg` or `time_ms`.

    Brackets count wherever they hold a unit that we know. An underscore counts behind time and behind the
    number of a joint; behind the name of a joint it is part of the name.

    Args:
        column: the name in the file.
        meaning: our name of the column, where its own does not say what it is.

    Returns:
        The unit, or None when none is stated.

    Raises:
        RecordingError: the unit does not belong to the quantity.
    """
    match = _BRACKETED.fullmatch(column)
    bracketed = match is not None
    match = match or _SUFFIXED.fullmatch(column)
    if match is None:
        return None
    name, unit = match["name"], _normal(match["unit"])
    quantity = _quantity(meaning if meaning is not None else name, any_joint=bracketed)
    if quantity is None or unit not in _KNOWN:
        return None
    factor = _FACTORS[quantity].get(unit)
    if factor is not None:
        return StatedUnit(name, unit, factor)
    if not bracketed:
        return None
    raise RecordingError(
        f"column '{column}' states {unit}, which is no unit of {quantity}; known are "
        f"{', '.join(_FACTORS[quantity])}."
    )


def states_unit(column: str) -> bool:
    """Return whether a reader would take the end of a name for a unit.

    Args:
        column: the name.

    Returns:
        Whether it would.
    """
    try:
        return stated_unit(column) is not None
    except RecordingError:
        return True


def _normal(unit: str) -> str:
    bare = re.sub(r"[\s·*.]", "", unit).replace("²", "^2").replace("s2", "s^2").replace("μ", "µ")
    return bare.lower() if bare.lower() in _LOWER else bare


def _quantity(name: str, *, any_joint: bool) -> str | None:
    if is_time(name):
        return "time"
    if wrench := _WRENCH.fullmatch(name):
        # Behind the axis an underscore could be part of no name, but brackets are what users write.
        return {"f": "force", "m": "moment"}[wrench["part"]] if any_joint else None
    reading = spelling(name)
    if reading is None or not (any_joint or isinstance(reading.joint, int)):
        return None
    return reading.channel
