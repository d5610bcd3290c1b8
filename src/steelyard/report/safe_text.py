"""Text from files made safe to show: in a page, in a script, in a terminal."""

from __future__ import annotations

import json
import unicodedata
from html import escape

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them, and so what a reader takes it for."""


def visible(text: str) -> str:
    r"""Show what a terminal would obey or a reader could not see: escape sequences, turned text, half pairs.

    Args:
        text: anything, such as a joint's name from a file.

    Returns:
        One line; every such character is written as `\x1b` or `\u202e`, and white space is one blank.
    """
    return "".join(_shown(letter) for letter in " ".join(text.split()))


def marked_up(text: str) -> str:
    """Text for HTML, inside an element or a quoted attribute.

    Args:
        text: anything.

    Returns:
        The text with nothing a browser could take for markup.
    """
    return escape(visible(text), quote=True)


def unit_text(unit: str) -> str:
    """A unit for HTML, with its powers raised and its factors joined.

    Args:
        unit: such as `kg m^2`.

    Returns:
        Such as `kg·m²`, escaped.
    """
    return escape(unit_words(unit), quote=True)


def unit_words(unit: str) -> str:
    """A unit for a script, with its powers raised and its factors joined.

    Args:
        unit: such as `kg m^2`.

    Returns:
        Such as `kg·m²`.
    """
    raised = visible(unit).replace("^2", "²").replace("^3", "³")
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
