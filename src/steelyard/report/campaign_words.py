"""Numbers and answers of a campaign as the page says them."""

from __future__ import annotations

import math

from steelyard.report.numerals import MINUS, numeral

THIN = "\u202f"


def duration(seconds: float) -> str:
    """A time for people: in seconds, and in minutes or hours where it is long.

    Args:
        seconds: s; NaN where it is not known.

    Returns:
        HTML.
    """
    if math.isnan(seconds):
        return "–"
    if seconds >= 1e4:
        return f"{_grouped(seconds)}{THIN}s ({seconds / 3600.0:.0f}{THIN}h)"
    if seconds >= 120.0:
        return f"{_grouped(seconds)}{THIN}s ({seconds / 60.0:.0f}{THIN}min)"
    return f"{numeral(seconds, digits=3)}{THIN}s"


def milliseconds(seconds: float) -> str:
    """A sampling interval.

    Args:
        seconds: s.

    Returns:
        HTML, in ms.
    """
    return f"{1e3 * seconds:g}{THIN}ms"


def number(value: float | None, unit: str = "", *, digits: int = 3) -> str:
    """A number with its unit; a dash for none.

    Args:
        value: in the unit; None or NaN for none.
        unit: as HTML; empty for a dimensionless number.
        digits: significant ones.

    Returns:
        HTML.
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{numeral(value, digits=digits)}{THIN + unit if unit else ''}"


def stated(value: float | None) -> str:
    """A number that somebody chose, with the digits it was chosen with; a dash for none.

    Args:
        value: any unit; None for none.

    Returns:
        HTML.
    """
    return "–" if value is None else f"{value:g}".replace("-", MINUS)


def yes(answer: bool | None) -> str:
    """An answer in words.

    Args:
        answer: True, False, or None where it was not asked.

    Returns:
        HTML.
    """
    return "not asked" if answer is None else ("yes" if answer else "<strong>no</strong>")


def counted(count: int, what: str) -> str:
    """A count with its noun, in the plural where it is not one.

    Args:
        count: how many.
        what: the noun, which takes an s.

    Returns:
        Text.
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def _grouped(value: float) -> str:
    return f"{value:,.0f}".replace(",", THIN)
