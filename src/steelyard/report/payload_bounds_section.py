"""Guaranteed bounds on the page: the ten numbers between them, and everything they assume."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_table import table
from steelyard.report.payload_words import headed, outward, told_ends, told_numbers
from steelyard.report.safe_text import marked_up
from steelyard.report.theorem13_table import theorem13_table
from steelyard.uncertainty import GuaranteedBounds


def bounds_section(content: PayloadContent) -> str:
    """The bounds beside estimates and intervals, after the list of what they rest on.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no bounds were asked for.
    """
    bounds = content.bounds
    if bounds is None:
        return ""
    tested = [sentence for sentence in bounds.assumptions if sentence not in bounds.untested]
    open_ends = int(bounds.prior_decides.sum())
    told = ""
    if open_ends:
        number = "one of the numbers" if open_ends == 1 else f"{open_ends} of the numbers"
        told = f" Of {number} an end is the prior’s own: there the data excludes nothing."
    return (
        "<p>No payload outside these bounds explains the data, if all of the following holds. Where one "
        "sentence is wrong, nothing is guaranteed.</p>\n"
        f"{_listed('The data cannot show whether these hold, unless they are far off:', bounds.untested)}"
        f"{_listed('The data was held against these and does not contradict them:', tested)}"
        "<h3>The ten numbers about the frame</h3>\n"
        f"<p>Moments and inertia are about the origin of the frame, in its axes.{told} Bounds are rounded "
        "outwards.</p>\n"
        f"{_table(content, bounds)}"
        f"{theorem13_table(np.array([bounds.lower, bounds.upper]), content.published)}"
    )


def _listed(head: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in sentences)
    return f'<p>{head}</p>\n<ul class="untested">{items}</ul>\n'


def com_bounds(bounds: GuaranteedBounds) -> Array:
    """Bounds of the centre of mass, c = h / m over the box of first moments and mass.

    Args:
        bounds: of the ten numbers.

    Returns:
        Lower and upper ends in rows, shape (2, 3), m; infinite where the mass may be zero.
    """
    masses = np.array([bounds.lower[0], bounds.upper[0]])
    if not masses[0] > 0.0:
        return np.array([[-np.inf] * 3, [np.inf] * 3])
    corners = np.array([h[1:4] / m for h in (bounds.lower, bounds.upper) for m in masses])
    # A division is rounded to nearest: one step outwards holds what it stands for.
    return np.array([np.nextafter(corners.min(axis=0), -np.inf), np.nextafter(corners.max(axis=0), np.inf)])


def _table(content: PayloadContent, bounds: GuaranteedBounds) -> str:
    ends = [outward(*pair) for pair in zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)]
    by = ["prior’s end" if is_open else "data" for is_open in bounds.prior_decides]
    groups = []
    for part in (slice(0, 1), slice(1, 4), slice(4, 10)):
        bounded = told_ends([low for low, _ in ends[part]], [high for _, high in ends[part]])
        rows = zip(content.ten[part], told_numbers(content.ten[part]), bounded, by[part], strict=True)
        groups.append([[headed(n), *told, between, who] for n, told, between, who in rows])
    heads = ("number", "estimate", "95\u202f% interval", "guaranteed", "bounded by")
    return table("Bounds of the ten numbers", heads, groups)
