"""How moves, numbers and shares of a run are called on its page."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.online import PLAN, DrivenMove
from steelyard.report.payload_words import outward
from steelyard.report.safe_text import unit_text, visible
from steelyard.uncertainty import PayloadBox


def move_words(moves: Sequence[DrivenMove], k: int) -> str:
    """What a move is called.

    Args:
        moves: all of them, in order.
        k: which one.

    Returns:
        Such as `plan 3`: plans are counted from 1.
    """
    kind = moves[k].kind
    if kind != PLAN:
        return kind
    return f"plan {sum(move.kind == PLAN for move in moves[: k + 1])}"


def number_words(name: str) -> str:
    """What a number of the payload is called.

    Args:
        name: one of `inertia.PARAMETER_NAMES`, or another.

    Returns:
        Plain text.
    """
    return "mass" if name in ("m", "mass") else visible(name)


def between(box: PayloadBox, k: int, unit: str) -> str:
    """The bounds of one number in words, rounded outwards.

    Args:
        box: the bounds.
        k: which number.
        unit: its SI unit.

    Returns:
        HTML.
    """
    lower, upper = outward(float(box.lower[k]), float(box.upper[k]))
    return f"{lower} to {upper}\u202f{unit_text(unit)}"


def share(part: float) -> str:
    """A share of a limit, in percent, never rounded down across the limit itself.

    Args:
        part: dimensionless.

    Returns:
        Plain text.
    """
    if part > 1.0 and part < 1.005:
        return "over 100\u202f%"
    return f"{100.0 * part:.0f}\u202f%"
