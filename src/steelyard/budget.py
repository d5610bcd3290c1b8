"""One budget of memory: whoever allocates by a number that somebody stated asks here before.

A file of a hundred bytes can state a motion of a year or an array of a terabyte. What follows from such a
number is worked out and refused with a sentence, instead of filling the machine.
"""

from __future__ import annotations

import math
import os

from steelyard.errors import InputError

VARIABLE = "STEELYARD_MEMORY"
"""Variable of the environment that states another budget, GiB."""
USUAL = 2.0
"""The budget where nothing is stated, GiB."""
NUMBER = 8
"""Bytes of a number in an array."""
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def memory_budget() -> float:
    """How much memory one step of the work may take.

    Returns:
        The budget, bytes.

    Raises:
        InputError: the environment states something that is no positive number.
    """
    text = os.environ.get(VARIABLE, "")
    try:
        stated = float(text) if text else USUAL
    except ValueError:
        stated = math.nan
    if not stated > 0.0:
        raise InputError(f"expected a positive number of GiB, got '{text[:40]}'.", place=VARIABLE)
    return stated * 2.0**30


def require_memory(needed: float, what: str, *, place: str, remedy: str) -> None:
    """Refuse what would take more memory than the budget.

    Args:
        needed: how much it would take, bytes; infinite and not a number are too much.
        what: takes it, as in "a motion of 1e+09 s at 1000 Hz".
        place: where the number stands that leads to it: a file, a field, an option.
        remedy: what to do instead, in a sentence.

    Raises:
        InputError: it would take more.
    """
    budget = memory_budget()
    if needed <= budget:
        return
    raise InputError(
        f"{what} would take {_shown(needed)} of memory, and {_shown(budget)} are allowed.",
        place=place,
        remedy=f"{remedy} {VARIABLE} states another budget, in GiB.",
        evidence={"needed": needed, "budget": budget},
    )


def _shown(size: float) -> str:
    """A number of bytes in the unit that makes it readable."""
    if not size < 1024.0 ** len(_UNITS):
        return f"more than {1024:d} {_UNITS[-1]}"
    power = min(len(_UNITS) - 1, int(math.log2(size) // 10)) if size >= 1.0 else 0
    return f"{size / 1024.0**power:.3g} {_UNITS[power]}"
