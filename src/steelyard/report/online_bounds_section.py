"""What became known of the payload: the bounds of every number over time, before and after."""

from __future__ import annotations

import numpy as np

from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.report.numerals import aligned, numeral
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_words import number_words
from steelyard.report.payload_table import table
from steelyard.report.payload_words import outward, told_ends
from steelyard.report.safe_text import marked_up, unit_text
from steelyard.report.theorem13_table import theorem13_table


def bounds_section(content: OnlineContent) -> str:
    """Shrinking bounds, and a table of what they were and are.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    updates = len(content.knowledge) - 1
    times = "once" if updates == 1 else f"{updates} times"
    found = f"The bounds were drawn tighter {times}" if updates else "The bounds were never drawn tighter"
    rows = content.knowledge[-1].rows
    told = f"{found}{f', the last from {rows} equations' if rows else ''}. Every bound is rounded outwards."
    last = content.knowledge[-1].box
    beside = theorem13_table(np.array([last.lower, last.upper]), content.published)
    return f"{bounds_figures(content.head)}<p>{told}</p>\n{_table(content)}{beside}"


def bounds_figures(head: OnlineHead) -> str:
    """The place of the bounds over time.

    Args:
        head: what can be said beforehand.

    Returns:
        HTML.
    """
    where = f"{marked_up(head.frame)}’s frame" if head.frame else "the frame they are stated in"
    true = ' <span><span class="line course"></span>true value</span>' if head.truth is not None else ""
    return (
        "<p>What the payload’s numbers can be, given all that is assumed. Moments and inertia are about the "
        f"origin of {where}, in its axes.</p>\n"
        f'<p class="key"><span><span class="swatch proven"></span>guaranteed</span>{true}</p>\n'
        '<div id="bounds-plots"></div>\n<noscript><p>The curves need scripts, which are off.</p></noscript>\n'
    )


def _table(content: OnlineContent) -> str:
    head = content.head
    first, last = content.knowledge[0].box, content.knowledge[-1].box
    before, after = (
        [outward(*ends) for ends in zip(box.lower.tolist(), box.upper.tolist(), strict=True)]
        for box in (first, last)
    )
    told_before, told_after = (
        told_ends([low for low, _ in ends], [high for _, high in ends]) for ends in (before, after)
    )
    widths = zip((first.upper - first.lower).tolist(), (last.upper - last.lower).tolist(), strict=True)
    tighter = aligned([_ratio(*pair) for pair in widths])
    rows = [
        [
            f"{marked_up(number_words(name))} <small>{unit_text(unit)}</small>",
            told_before[k],
            told_after[k],
            tighter[k],
            *([] if head.truth is None else [numeral(float(head.truth[k]), digits=4)]),
        ]
        for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))
    ]
    heads = ["number", "before", "after", "narrower by", *([] if head.truth is None else ["true value"])]
    return table("Bounds before and after", heads, [rows])


def _ratio(before: float, after: float) -> str:
    if after == 0.0:
        return "∞"
    return f"{numeral(before / after, digits=2)}\u202f×" if before > after else "–"
