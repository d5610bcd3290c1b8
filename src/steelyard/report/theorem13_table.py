"""Guaranteed bounds beside what Theorem 13 of paper 000 says of the same equations, as a table of a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.report.payload_table import table
from steelyard.report.payload_words import outward, told_ends
from steelyard.report.safe_text import marked_up, unit_text
from steelyard.uncertainty import Theorem13


def theorem13_table(ours: Array, published: Theorem13 | None) -> str:
    """Three intervals of each of the ten numbers.

    Args:
        ours: lower and upper ends of the guaranteed bounds, shape (2, 10), SI.
        published: what the theorem says; None to say nothing.

    Returns:
        HTML; empty where nothing is said.
    """
    if published is None:
        return ""
    forms = [np.array([form.lower, form.upper]) for form in (published.linear, published.log_cholesky)]
    columns = [_told(ends) for ends in (ours, *forms)]
    rows = [
        [f"{marked_up(name)} <small>{unit_text(unit)}</small>", *cells]
        for name, unit, *cells in zip(PARAMETER_NAMES, PARAMETER_UNITS, *columns, strict=True)
    ]
    heads = ("number", "guaranteed here", "Theorem 13, linear form", "Theorem 13, log-Cholesky form")
    return (
        "<h3>Beside Theorem 13</h3>\n"
        "<p>Paper 000’s theorem says how far bounded errors can move the least-squares answer to the same "
        "equations. It knows neither a prior nor what bodies can exist. Its linear form is a guarantee too. "
        f"{marked_up(published.sentence)}</p>\n"
        f"{table('Bounds beside those of Theorem 13', heads, [rows])}"
    )


def _told(ends: Array) -> Sequence[str]:
    pairs = [outward(low, high) for low, high in zip(*ends.tolist(), strict=True)]
    return told_ends([low for low, _ in pairs], [high for _, high in pairs])
