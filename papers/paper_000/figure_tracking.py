"""Figs. 11 and 12: tracking error and commanded torque of every method with every dumbbell."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from paper_000.figure_axes import Panel
from paper_000.figure_data import Course, Courses, StackingResult
from paper_000.figure_picture import legend, picture, text
from paper_000.figure_scale import Scale
from paper_000.figure_styles import STROKES, TRUTH, in_drawing_order, stroke_of
from steelyard.report.html import marked_up, numeral

FIGURES = {"a": 11, "b": 12}
"""By experiment."""
PAPER = """The paper draws the same of its real arm, error at the left and torque at the right, and names no
number in its text; which methods failed there is in Table III. On a real arm delay and elasticity act on
every law; here neither does."""
MOST_LOAD = 1.5
"""Commands over their limit beyond which a curve runs along the upper edge."""
_ROW, _HEIGHT, _TOP = 142.0, 112.0, 74.0
_SMALLEST_ERROR = 1e-2


def tracking_section(result: StackingResult, experiment: str) -> str:
    """One of the figures with its words.

    Args:
        result: what the study found.
        experiment: `a` or `b`.

    Returns:
        Markup.
    """
    courses = result.courses[experiment]
    seen = _seen(courses, result.loads[experiment], result.step)
    return (
        f"<figure>{tracking_figure(courses, result.step, experiment)}</figure>\n"
        f'<p>{marked_up(seen)}</p>\n<p class="quiet">{marked_up(PAPER)}</p>\n'
    )


def tracking_figure(courses: Courses, step: float, experiment: str) -> str:
    """Draw a row for each dumbbell: errors at the left, torques at the right.

    Args:
        courses: of one experiment.
        step: time between samples, s.
        experiment: its name.

    Returns:
        SVG text.
    """
    runs = [run for each in courses.values() for run in each.values()]
    time = Scale(0.0, step * (max(run.error.size for run in runs) - 1))
    worst = max(float(run.error.max()) for run in runs)
    error = Scale(_SMALLEST_ERROR, 10.0 ** max(math.ceil(math.log10(max(worst, _SMALLEST_ERROR))), 0), True)
    load = Scale(0.0, min(max(1.1, *(float(run.load.max()) for run in runs)), MOST_LOAD))
    shown = [name for name in STROKES if any(name in each for each in courses.values())]
    parts = [
        *legend([(name, stroke_of(name)) for name in shown]),
        text(96, _TOP - 12, "norm of the joints' errors, mrad"),
        text(540, _TOP - 12, "largest command of a joint over its limit"),
    ]
    for row, (pounds, runs_of) in enumerate(courses.items()):
        last = row == len(courses) - 1
        top = _TOP + _ROW * row
        left = Panel(96, top, 378, _HEIGHT, time, error)
        right = Panel(540, top, 374, _HEIGHT, time, load)
        parts += [
            text(8, top + 0.5 * _HEIGHT + 4, f"{pounds} lb"),
            *left.grid(labels=last),
            *right.grid(labels=last),
            right.line(np.array([0.0, time.high]), np.ones(2), TRUTH),
        ]
        for method in in_drawing_order(list(runs_of)):
            parts += _curves(runs_of[method], step, left, right, method)
    height = _TOP + _ROW * len(courses) + 16
    parts += [text(x, height - 12, "time from the beginning of the task, s", "end") for x in (474, 914)]
    title = f"Fig. {FIGURES[experiment]}: errors and torques of every method in experiment ({experiment})"
    return picture(height, title, parts)


def _curves(run: Course, step: float, left: Panel, right: Panel, method: str) -> list[str]:
    time = step * np.arange(run.error.size, dtype=np.float64)
    # Runs begin without any error, which a logarithmic axis cannot show.
    some = run.error > 0.0
    stroke = stroke_of(method)
    error = np.clip(run.error[some], left.y.low, left.y.high)
    load = np.clip(run.load, right.y.low, right.y.high)
    return [left.line(time[some], error, stroke), right.line(time, load, stroke)]


def _seen(courses: Courses, loads: Mapping[str, float], step: float) -> str:
    errors: dict[str, float] = {}
    for runs in courses.values():
        for name, run in runs.items():
            errors[name] = max(errors.get(name, 0.0), float(run.error.max()))
    others = [name for name in errors if name != "ours"]
    worst, best = max(others, key=errors.__getitem__), min(others, key=errors.__getitem__)
    hungry = max(others, key=loads.__getitem__)
    beyond = max(float(run.load.max()) for runs in courses.values() for run in runs.values()) > MOST_LOAD
    clipped = " Curves along the upper edge lie beyond it." if beyond else ""
    return (
        f"Seen, in the first repetition, at a sample every {step:g} s: ours stays within "
        f"{_told(errors['ours'])} mrad with every dumbbell; of the others {best} comes nearest to its "
        f"reference, within {_told(errors[best])} mrad, and {worst} strays farthest, by "
        f"{_told(errors[worst])} mrad. In any cycle of any repetition ours asks for at most "
        f"{_percent(loads['ours'])} of the torque there is (dotted line), and {hungry} for most of the "
        f"others, {_percent(loads[hungry])}.{clipped}"
    )


def _told(value: float) -> str:
    return numeral(value, digits=2)


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
