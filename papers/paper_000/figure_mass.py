"""Fig. 5: the mass of the end effector as four methods believe it, over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paper_000.figure_axes import Panel, stairs
from paper_000.figure_data import MassHistory, StackingResult
from paper_000.figure_picture import Stroke, legend, picture, text
from paper_000.figure_scale import Scale
from paper_000.figure_styles import TRUTH, stroke_of
from steelyard.report.html import marked_up, numeral

PAPER = """The paper's picture is of the same dumbbell and experiment, identified from 4 to 11.5 s because its
robot picks the dumbbell up first, and without intervals. There, too, ours changes only at the end of a plan,
adap-1 skips the phase (dotted), and ours is said to be the most accurate and the fastest of all, random less
accurate, and adap-1-excit better than adap-1."""
NEAR = 0.25
"""How far the lower panel reaches from the truth, kg."""
_SKIPPED = "1.5 4"


def mass_section(result: StackingResult) -> str:
    """The figure with its words.

    Args:
        result: what the study found.

    Returns:
        Markup.
    """
    truth = _truth(result)
    return (
        f"<figure>{mass_figure(result)}</figure>\n<p>{marked_up(_seen(result, truth))}</p>\n"
        f'<p class="quiet">{marked_up(PAPER)}</p>\n'
    )


def mass_figure(result: StackingResult) -> str:
    """Draw the estimates, the guaranteed intervals and the truth, and the same again around the truth.

    Args:
        result: what the study found.

    Returns:
        SVG text.
    """
    truth, histories = _truth(result), result.masses
    # Those that identify are through when their last bounds come; the task of all begins there.
    task = float(histories["ours"].time[-1])
    end = task + float(histories["adap-1"].time[-1])
    values = [
        truth,
        *(x for h in histories.values() for x in (h.mass if h.bounds is None else h.bounds).flat),
    ]
    spare = 0.05 * (max(values) - min(values))
    time = Scale(0.0, end)
    whole = Panel(56, 46, 858, 250, time, Scale(min(values) - spare, max(values) + spare))
    near = Panel(56, 346, 858, 150, time, Scale(truth - NEAR, truth + NEAR))
    middle = whole.left + whole.width * task / end
    parts = [
        *legend([*((name, stroke_of(name)) for name in histories), ("truth", TRUTH)]),
        text(914, 14, "shaded: guaranteed interval", "end"),
        *whole.grid(columns=12),
        *near.grid(columns=12),
        near.outline(),
        *(text(panel.left - 6, panel.top - 12, "kg", "end") for panel in (whole, near)),
        text(near.left, near.top - 12, "the same around the truth"),
        text(914, near.floor + 36, "time from the beginning of the identification, s", "end"),
        *(f'<path class="zero" d="M{middle:.1f} {panel.top}v{panel.height}"/>' for panel in (whole, near)),
        text(middle - 6, whole.top + 2, "identification", "end"),
        text(middle + 6, whole.top + 2, "task"),
        *_bands(whole, histories, end),
        *_lines(whole, histories, task, end, truth),
        *near.clipped(_lines(near, histories, task, end, truth), "near-the-truth"),
    ]
    return picture(548, "Fig. 5: mass of the end effector over time", parts)


def _bands(panel: Panel, histories: Mapping[str, MassHistory], end: float) -> list[str]:
    bands = []
    for name, history in histories.items():
        if history.bounds is not None:
            (time, low), (_, high) = (stairs(history.time, each, end) for each in history.bounds.T)
            bands.append(panel.band(time, low, high, stroke_of(name)))
    return bands


def _lines(
    panel: Panel, histories: Mapping[str, MassHistory], task: float, end: float, truth: float
) -> list[str]:
    lines = []
    for name, history in histories.items():
        stroke = stroke_of(name)
        if history.bounds is not None:
            lines.append(panel.line(*stairs(history.time, history.mass, end), stroke))
        elif name == "adap-1":
            waiting = Stroke(stroke.colour, _SKIPPED)
            lines.append(panel.line(np.array([0.0, task]), history.mass[[0, 0]], waiting))
            lines.append(panel.line(task + history.time, history.mass, stroke))
        else:
            lines.append(panel.line(history.time, history.mass, stroke))
    return [*lines, panel.line(np.array([0.0, end]), np.array([truth, truth]), TRUTH)]


def _truth(result: StackingResult) -> float:
    """Of the lightest dumbbell in experiment (b), which the masses are of."""
    return float(min(result.bounds, key=lambda each: each.pounds).truth[0])


def _seen(result: StackingResult, truth: float) -> str:
    def off(history: MassHistory) -> float:
        return abs(float(history.mass[-1]) - truth)

    order = sorted(result.masses, key=lambda name: off(result.masses[name]))
    ends = ", ".join(f"{name} {numeral(1e3 * off(result.masses[name]), digits=2)} g" for name in order)
    held = " and ".join(
        f"[{low:.2f}, {high:.2f}] kg by {name}"
        for name, history in result.masses.items()
        if history.bounds is not None
        for low, high in [history.bounds[-1]]
    )
    lightest = min(each.pounds for each in result.bounds)
    return (
        f"Seen, with {lightest} lb in experiment (b), first repetition: the end effector weighs "
        f"{truth:.3f} kg; in the end the estimates are off by, nearest first: {ends}. The mass is proven to "
        f"lie in {held}."
    )
