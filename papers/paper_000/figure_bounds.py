"""Figs. 6 to 10: what is known of the ten numbers of the end effector after the identification."""

from __future__ import annotations

import numpy as np

from paper_000.arm import END_EFFECTOR_LOWER, END_EFFECTOR_UPPER
from paper_000.figure_axes import Panel
from paper_000.figure_data import FinalBounds, StackingResult
from paper_000.figure_picture import WIDTH, Stroke, legend, picture, text
from paper_000.figure_scale import Scale
from paper_000.figure_styles import TRUTH, stroke_of
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.report.html import marked_up, numeral, unit_words

PAPER = """The paper's intervals hold the truth, too, and those of ours are narrower than those of random for
almost all numbers; its text states no widths. It bounds by Theorem 13; here an interval reaches from the
least to the largest value that the data and Table I allow. Where it fills its panel, the data said nothing
about that number that Table I had not."""
FIRST = 6
"""Number of the figure with the lightest dumbbell."""
_COLUMNS, _LEFT, _TOP, _HEIGHT, _BELOW = 5, 50.0, 58.0, 120.0, 74.0


def bounds_section(result: StackingResult) -> str:
    """The figures with their words.

    Args:
        result: what the study found.

    Returns:
        Markup.
    """
    figures = "".join(
        f'<figure id="figure-{number}"><h3>Fig. {number}: {each.pounds} lb</h3>{bounds_figure(each, number)}'
        f"<figcaption><span>{marked_up(_seen(each))}</span></figcaption></figure>\n"
        for number, each in enumerate(result.bounds, start=FIRST)
    )
    return (
        "<p>Experiment (b), first repetition. Every panel spans what Table I allows before anything is "
        "measured. Numbers are of the last link with gripper and dumbbell, about the origin of the link's "
        f'frame.</p>\n<p class="quiet">{marked_up(PAPER)}</p>\n{figures}'
    )


def bounds_figure(bounds: FinalBounds, number: int) -> str:
    """Draw the intervals of the ten numbers beside each other.

    Args:
        bounds: of one dumbbell.
        number: of the figure.

    Returns:
        SVG text.
    """
    strokes = {name: Stroke(stroke_of(name).colour, width=3.0) for name in bounds.intervals}
    parts = legend([*strokes.items(), ("truth", TRUTH)], _LEFT)
    pitch, row = WIDTH / _COLUMNS, _HEIGHT + _BELOW
    for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True)):
        panel = Panel(
            _LEFT + pitch * (k % _COLUMNS),
            _TOP + row * (k // _COLUMNS),
            pitch - _LEFT - 10.0,
            _HEIGHT,
            Scale(0.0, 1.0),
            Scale(float(END_EFFECTOR_LOWER[k]), float(END_EFFECTOR_UPPER[k])),
        )
        parts += [
            *panel.grid(labels=False),
            panel.outline(),
            text(panel.left, panel.top - 9, f"{name}, {unit_words(unit)}"),
            panel.line(np.array([0.0, 1.0]), bounds.truth[[k, k]], TRUTH),
        ]
        for place, (method, ends) in enumerate(bounds.intervals.items()):
            parts += _interval(panel, (place + 1) / (len(bounds.intervals) + 1), ends[:, k], strokes[method])
            half = numeral(0.5 * float(ends[1, k] - ends[0, k]), digits=2)
            parts.append(text(panel.left, panel.floor + 17 + 14 * place, f"{method} ± {half}"))
    rows = -(-len(PARAMETER_NAMES) // _COLUMNS)
    title = f"Fig. {number}: final intervals of the ten numbers with {bounds.pounds} lb"
    return picture(_TOP + rows * row - 24.0, title, parts)


def _interval(panel: Panel, at: float, ends: np.ndarray, stroke: Stroke) -> list[str]:
    """A bar with feet, and a dot in its middle."""
    (x, low), (_, high) = panel.places(np.array([at, at]), ends).tolist()
    feet = f"M{x - 6:.1f} {low:.1f}h12M{x - 6:.1f} {high:.1f}h12"
    return [
        f'<path d="M{x:.1f} {low:.1f}V{high:.1f}{feet}" {stroke}/>',
        f'<circle cx="{x:.1f}" cy="{0.5 * (low + high):.1f}" r="4" fill="{stroke.colour}"/>',
    ]


def _seen(bounds: FinalBounds) -> str:
    t, (ours, other) = bounds.truth, (bounds.intervals[name] for name in ("ours", "random"))
    narrower = int((np.ptp(ours, axis=0) < np.ptp(other, axis=0)).sum())
    inside = [int(((ends[0] <= t) & (t <= ends[1])).sum()) for ends in (ours, other)]
    n = len(t)
    if inside == [n, n]:
        held = "All intervals of both hold the truth."
    else:
        held = f"The truth lies in {inside[0]} of {n} intervals of ours and in {inside[1]} of {n} of random."
    return f"Seen: {held} Those of ours are narrower than those of random for {narrower} of {n} numbers."
