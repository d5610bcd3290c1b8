"""How the numbers of a payload are called, in which unit they are read, and how bounds are rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from steelyard.report.numerals import MINUS, aligned, numeral
from steelyard.report.payload_parts import PayloadNumber
from steelyard.report.safe_text import unit_text

MILLIMETRES = 1e3
"""Of a metre: places of mass are read in mm."""
EXACT = Context(prec=2000)
"""Decimals enough for every digit of a float."""
_AXES = {f"com_{axis}": axis for axis in "xyz"}
_MOMENTS = {"moment_1": "smallest", "moment_2": "middle", "moment_3": "largest"}


def label(name: str) -> str:
    """What a number is called on the page.

    Args:
        name: one of `payload.QUANTITIES` or `inertia.PARAMETER_NAMES`.

    Returns:
        HTML.
    """
    if name in _AXES:
        return f"centre of mass, {_AXES[name]}"
    if name in _MOMENTS:
        return f"{_MOMENTS[name]} principal moment"
    if name in ("m", "mass"):
        return "mass"
    head, tail = name.replace("_", "")[0], name.replace("_", "")[1:]
    return f"{head}<sub>{tail}</sub>" if head == "I" else name


def headed(number: PayloadNumber) -> str:
    """What a number is called at the head of its row, with the unit it is read in.

    Args:
        number: the number.

    Returns:
        HTML.
    """
    return f"{label(number.name)} <small>{read_unit(number.unit)}</small>"


def scale_of(unit: str) -> float:
    """What a number in a unit is multiplied by before it is read.

    Args:
        unit: its SI unit.

    Returns:
        The factor.
    """
    return MILLIMETRES if unit == "m" else 1.0


def read_unit(unit: str) -> str:
    """The unit it is then read in.

    Args:
        unit: its SI unit.

    Returns:
        HTML.
    """
    return "mm" if unit == "m" else unit_text(unit)


def interval_numerals(number: PayloadNumber) -> tuple[str, str, str]:
    """A number and the ends of its interval, with the digits the interval leaves.

    Args:
        number: the number.

    Returns:
        Value, lower and upper end as text, in the unit it is read in.
    """
    scale = scale_of(number.unit)
    half = scale * number.half_width
    value, lower, upper = (numeral(scale * x, half) for x in (number.value, number.lower, number.upper))
    return value, lower, upper


def told_numbers(numbers: Sequence[PayloadNumber]) -> list[tuple[str, str]]:
    """Numbers that stand below each other, with their intervals.

    Args:
        numbers: the numbers.

    Returns:
        Of each the value, and the interval, as text in the unit it is read in.
    """
    told = [interval_numerals(number) for number in numbers]
    values, lower, upper = ([texts[k] for texts in told] for k in range(3))
    return list(zip(aligned(values), told_ends(lower, upper), strict=True))


def told_ends(lower: Sequence[str], upper: Sequence[str]) -> list[str]:
    """Intervals that stand below each other.

    Args:
        lower: lower ends as text.
        upper: upper ends as text.

    Returns:
        The intervals as text.
    """
    return [f"{low} … {high}" for low, high in zip(aligned(lower), aligned(upper), strict=True)]


def outward(lower: float, upper: float, *, power: int = 0) -> tuple[str, str]:
    """Bounds as text that are never tighter than the bounds: rounded down and up, to two digits of the width.

    Args:
        lower: lower end, any unit.
        upper: upper end, the same unit.
        power: power of ten that both are multiplied by, such as 3 for metres read in mm.

    Returns:
        Both ends as text with true minus signs.
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return numeral(lower), numeral(upper)
    finest = (upper - lower) / 2.0 or 1e-2 * max(abs(lower), abs(upper))
    if finest == 0.0:
        return "0", "0"
    digit = Decimal(1).scaleb(math.floor(math.log10(finest)) - 1 + power)
    return _rounded(lower, power, digit, ROUND_FLOOR), _rounded(upper, power, digit, ROUND_CEILING)


def _rounded(end: float, power: int, digit: Decimal, how: str) -> str:
    # In decimals, because a float times a power of ten may itself be rounded inwards.
    number = Decimal(end).scaleb(power, EXACT).quantize(digit, how, EXACT)
    return f"{number if number else abs(number):f}".replace("-", MINUS)
