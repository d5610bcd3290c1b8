"""Text and numbers made ready for a page: safe to show, and with the digits that count."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from html import escape

# Text from files made safe to show: in a page, in a script, in a terminal.

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them, and so what a reader takes it for."""


def visible_text(text: str) -> str:
    r"""Show what a terminal would obey or a reader could not see: escape sequences, turned text, half pairs.

    Args:
        text: anything, such as a joint's name from a file.

    Returns:
        One line; every such character is written as `\x1b` or `\u202e`, and white space is one blank.
    """
    return typeset_text(" ".join(text.split()))


class Typeset(str):
    """Text of our own whose spaces are chosen: thin, figure and punctuation spaces stay where they stand."""

    __slots__ = ()


def typeset_text(text: str) -> str:
    """Like `visible_text`, with every space kept.

    Args:
        text: anything.

    Returns:
        The text; what a terminal would obey or a reader could not see is written out.
    """
    # Most text has no such character, which is known at once.
    return text if text.isprintable() else "".join(_shown(letter) for letter in text)


def marked_up(text: str) -> str:
    """Text for HTML, inside an element or a quoted attribute.

    Args:
        text: anything.

    Returns:
        The text with nothing a browser could take for markup.
    """
    return escape(visible_text(text), quote=True)


def unit_words(unit: str) -> str:
    """A unit for a page, with its powers raised and its factors joined.

    Args:
        unit: such as `kg m^2`.

    Returns:
        Such as `kg·m²`.
    """
    raised = visible_text(unit).replace("^2", "²").replace("^3", "³")
    return raised.replace("kg m", "kg·m").replace("N m", "N·m")


def as_script_data(value: object) -> str:
    """A value as JSON that can stand inside a `<script>` element.

    Args:
        value: what JSON can hold.

    Returns:
        JSON without `<`, `>`, `&` and line separators, so that no text in it can end the element.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _shown(letter: str) -> str:
    if unicodedata.category(letter) in ("Cc", "Cs") or letter in _TURNING:
        code = ord(letter)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return letter


# Numbers as people read them: with the digits their uncertainty leaves, points below each other.

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


def aligned_numerals(numerals: Sequence[str]) -> list[Typeset]:
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
            padded.append(Typeset(text))
            continue
        point = "" if "." in text else PUNCTUATION_SPACE
        padded.append(Typeset(text + point + FIGURE_SPACE * (longest - tail)))
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
