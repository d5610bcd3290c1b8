"""How moves, numbers and shares of a run are called on its page."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.report.online_parts import Knowledge, MoveKind, OnlineMove
from steelyard.report.payload_words import outward
from steelyard.report.safe_text import unit_text, visible


def move_words(moves: Sequence[OnlineMove], k: int) -> str:
    """What a move is called.

    Args:
        moves: all of them, in order.
        k: which one.

    Returns:
        Such as `plan 3`: plans are counted from 1.
    """
    kind = moves[k].kind
    if kind is not MoveKind.PLAN:
        return kind.value
    return f"plan {sum(move.kind is MoveKind.PLAN for move in moves[: k + 1])}"


def number_words(name: str) -> str:
    """What a number of the payload is called.

    Args:
        name: one of `inertia.PARAMETER_NAMES`, or another.

    Returns:
        Plain text.
    """
    return "mass" if name in ("m", "mass") else visible(name)


def between(known: Knowledge, k: int, unit: str) -> str:
    """The bounds of one number in words, rounded outwards.

    Args:
        known: the bounds.
        k: which number.
        unit: its SI unit.

    Returns:
        HTML.
    """
    lower, upper = outward(float(known.lower[k]), float(known.upper[k]))
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
