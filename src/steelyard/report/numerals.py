"""Numbers as people read them: with the digits their uncertainty leaves, points below each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

MINUS, FIGURE_SPACE, PUNCTUATION_SPACE = "\u2212", "\u2007", "\u2008"
DIGITS = 4
"""Significant digits of a number whose uncertainty is not known."""
SMALLEST, LARGEST = 1e-6, 1e7
"""Sizes of a number, or of its interval, between which no power of ten is written."""


def numeral(value: float | None, half_width: float = math.inf, *, digits: int = DIGITS) -> str:
    """Write a number with the decimals its interval leaves: two digits of the half width.

    Args:
        value: the number; None for none.
        half_width: half the width of its interval, in the same unit; infinite or zero where it is not known.
        digits: significant digits where the interval is not known.

    Returns:
        The number with a true minus sign; a dash for none.
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    bounded = math.isfinite(half_width) and half_width > 0
    if value == 0.0 and not bounded:
        return "0"
    finest = half_width if bounded else abs(value)
    decimals = (1 if bounded else digits - 1) - math.floor(math.log10(finest))
    if finest < SMALLEST or max(abs(value), finest) >= LARGEST:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    text = f"{value:.{max(decimals, 0)}f}"
    return text.replace("-", MINUS if float(text) else "")


def aligned(numerals: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that, set flush right in figures of equal width, their points align.

    Args:
        numerals: the numbers as text.

    Returns:
        The padded numbers.
    """
    tails = [len(text.partition(".")[2]) if _plain(text) else 0 for text in numerals]
    longest = max(tails, default=0)
    padded = []
    for text, tail in zip(numerals, tails, strict=True):
        if not _plain(text) or not longest:
            padded.append(text)
            continue
        point = "" if "." in text else PUNCTUATION_SPACE
        padded.append(text + point + FIGURE_SPACE * (longest - tail))
    return padded


def percent(value: float) -> str:
    """Write a percentage with one decimal from one upwards, and two digits below.

    Args:
        value: percent.

    Returns:
        The number without its sign.
    """
    if math.isinf(value):
        return "∞"
    if value == 0.0:
        return "0"
    if value < 0.01:
        return f"{value:.0e}".replace("e-0", "e-").replace("-", MINUS)
    return f"{value:.{max(1 - math.floor(math.log10(value)), 1)}f}"


def _plain(text: str) -> bool:
    return text.lstrip(MINUS)[:1].isdigit() and "e" not in text
