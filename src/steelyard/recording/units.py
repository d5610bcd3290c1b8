"""Units that a column's name states, and what turns them into SI; nothing is converted unless stated."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from steelyard.errors import RecordingError
from steelyard.recording.channels import is_time, spelling

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
}
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
    reading = spelling(name)
    if reading is None or not (any_joint or isinstance(reading.joint, int)):
        return None
    return reading.channel
