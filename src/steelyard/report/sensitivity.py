"""The page of a sensitivity study: one self-contained HTML file that needs no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.arrays import Array, IntArray, checked
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.payloads import FILTER_MEANINGS, ErrorCell, MotionSpread, Noise, SensitivityTable
from steelyard.report.html import Typeset, marked_up, numeral, unit_words
from steelyard.report.page import COLOURS
from steelyard.report.render import markup, render_page

# Pictures of a sensitivity study: errors of the ten numbers, running masses, condition numbers; as SVG.

_MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "M-3.6 -3.6h7.2v7.2h-7.2Z",
    "M0 -4.8L4.8 0L0 4.8L-4.8 0Z",
    "M0 -4.6L4.4 3.4H-4.4Z",
    "M-1.4 -4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2Z",
    "M0 4.6L4.4 -3.4H-4.4Z",
)
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 930, 72, 16, 36, 34


def error_figure(series: Mapping[str, Array], names: Sequence[str], title: str, unit: str) -> str:
    """Draw errors of some numbers over a logarithmic axis, one mark for each series.

    Args:
        series: errors by the name of the series, each shape (n,), SI; what is not positive is left out.
        names: of the n numbers.
        title: what the picture shows, for those who cannot see it.
        unit: of the axis.

    Returns:
        SVG text.
    """
    rows = [checked(name, values, (len(names),), finite=False) for name, values in series.items()]
    low, high = _decades(np.concatenate(rows)) if rows else (-1, 0)
    height = 260
    span = _WIDTH - _LEFT - _RIGHT
    parts = [*_legend(list(series)), *_log_axis(low, high, height, unit)]
    step = span / len(names)
    for k, name in enumerate(names):
        middle = _LEFT + (k + 0.5) * step
        parts.append(_label(middle, height - _BOTTOM + 20, name, "middle"))
        for s, values in enumerate(rows):
            if np.isfinite(values[k]) and values[k] > 0.0:
                x = middle + (s - 0.5 * (len(rows) - 1)) * min(14.0, 0.8 * step / max(len(rows), 1))
                parts.append(_mark(s, x, _log_y(float(values[k]), low, high, height)))
    return _svg(height, title, parts)


def mass_figure(samples: IntArray, masses: Array, truth: float, title: str) -> str:
    """Draw running masses of several trials over the number of samples, which grows logarithmically.

    Args:
        samples: numbers of samples, positive and increasing, shape (k,), dimensionless.
        masses: one trial in each row, shape (trials, k), kg.
        truth: the mass, kg.
        title: what the picture shows, for those who cannot see it.

    Returns:
        SVG text; masses beyond half and one and a half times the truth run off the picture's edge.
    """
    m = checked("masses", masses, ("trials", len(samples)))
    height = 220
    low, high = 0.5 * truth, 1.5 * truth
    floor, top = height - _BOTTOM, 26

    def y_of(value: float) -> float:
        return floor - (min(max(value, low), high) - low) / (high - low) * (floor - top)

    logs = np.log(samples)
    scale = (_WIDTH - _LEFT - _RIGHT) / (logs[-1] - logs[0] or 1.0)
    x = _LEFT + (logs - logs[0]) * scale
    parts = []
    for share in (0.5, 0.75, 1.0, 1.25, 1.5):
        y = y_of(share * truth)
        parts.append(
            f'<path class="{"zero" if share == 1.0 else "grid"}" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        )
        parts.append(_label(_LEFT - 8, y + 4, numeral(share * truth, digits=3), "end"))
    parts.append(_label(_LEFT - 8, top - 14, "kg", "end"))
    for trial in m:
        points = " ".join(f"{a:.1f},{y_of(float(b)):.1f}" for a, b in zip(x, trial, strict=True))
        parts.append(
            f'<polyline class="curve" points="{points}" stroke="{COLOURS[2]}" stroke-opacity="0.7"/>'
        )
    for exponent in range(math.ceil(math.log10(samples[0])), math.floor(math.log10(samples[-1])) + 1):
        at = _LEFT + (exponent * math.log(10.0) - logs[0]) * scale
        parts.append(_label(at, floor + 20, f"{10**exponent}", "middle"))
    parts.append(_label(_WIDTH - _RIGHT, floor + 20, "samples", "end"))
    return _svg(height, title, parts)


def condition_figure(conditions: Mapping[str, Array], title: str) -> str:
    """Draw condition numbers of motions, one row for each kind, over a logarithmic axis.

    Args:
        conditions: by kind, each shape (n,), dimensionless; infinite ones stand at the right edge.
        title: what the picture shows, for those who cannot see it.

    Returns:
        SVG text.
    """
    finite = np.concatenate([values[np.isfinite(values)] for values in conditions.values()])
    low, high = 0, max(_decades(finite)[1], 1) if finite.size else 1
    row, left, top = 30, 130, 10
    height = top + row * len(conditions) + 34
    span = _WIDTH - left - 30
    parts = []
    for exponent in range(low, high + 1):
        x = left + (exponent - low) / (high - low) * span
        parts.append(f'<path class="grid" d="M{x:.1f} {top}V{height - 30}"/>')
        parts.append(_label(x, height - 12, _power(exponent), "middle"))
    for k, (kind, values) in enumerate(conditions.items()):
        y = top + (k + 0.5) * row
        parts.append(_label(left - 12, y + 4, kind, "end"))
        for value in values:
            share = min((math.log10(value) - low) / (high - low), 1.0) if np.isfinite(value) else 1.0
            parts.append(_mark(k, left + share * span, y))
    return _svg(height, title, parts)


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for k, name in enumerate(names):
        x = _LEFT + 10 + 150 * k
        parts += [_mark(k, x, _TOP - 24), _label(x + 12, _TOP - 20, name, "start")]
    return parts


def _log_axis(low: int, high: int, height: int, unit: str) -> list[str]:
    parts = []
    for exponent in range(low, high + 1):
        y = _log_y(10.0**exponent, low, high, height)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(_label(_LEFT - 8, y + 4, _power(exponent), "end"))
    return [*parts, _label(_LEFT - 8, _TOP - 20, unit, "end")]


def _log_y(value: float, low: int, high: int, height: int) -> float:
    floor = height - _BOTTOM
    return floor - (math.log10(value) - low) / (high - low) * (floor - _TOP)


def _decades(values: Array) -> tuple[int, int]:
    """Powers of ten that hold all positive finite values."""
    shown = values[np.isfinite(values) & (values > 0.0)]
    if not shown.size:
        return -1, 0
    low = math.floor(math.log10(shown.min()))
    return low, max(math.ceil(math.log10(shown.max())), low + 1)


def _power(exponent: int) -> str:
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"


def _mark(place: int, x: float, y: float) -> str:
    shape, colour = _MARKS[place % len(_MARKS)], COLOURS[place % len(COLOURS)]
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shape}" fill="{colour}"/>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{marked_up(text)}</text>'


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    name = marked_up(title)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{name}"><title>{name}</title>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


# The parts of a sensitivity study's page: errors, running masses, motions.

BLIND = 1e10
"""Condition number from which on a motion hides some combination of the ten numbers."""
_AXIS = "SI"


def noise_words(noise: Noise) -> Typeset:
    """A noise, for people.

    Args:
        noise: the standard deviations.

    Returns:
        Those that are not zero, with their units.
    """
    parts = (
        ("q", noise.position, "rad"),
        ("v", noise.velocity, "rad/s"),
        ("τ", noise.torque, "N·m"),
    )
    said = [f"σ({symbol}) = {value:g}\u202f{unit}" for symbol, value, unit in parts if value]
    return Typeset(", ".join(said) or "no noise")


def _errors(table: SensitivityTable, motion: str) -> list[dict[str, Any]]:
    """Errors of the ten numbers along one motion, by noise and filter."""
    told = []
    for noise in table.noises:
        cells = {name: table.cell(motion, noise, name) for name in table.filters}
        title = f"{motion}, {noise.name}: root mean squared error of the ten numbers by filter"
        figure = error_figure({n: c.rms for n, c in cells.items()}, PARAMETER_NAMES, title, _AXIS)
        told.append(
            {
                "words": noise_words(noise),
                "drawing": markup(figure),
                "refusals": [
                    {
                        "filter": name,
                        "refused": cell.refused,
                        "trials": cell.refused + cell.answered,
                        "reason": cell.reason,
                    }
                    for name, cell in cells.items()
                    if cell.refused
                ],
                "heads": ("rms error (mean ± deviation)", "truth", *cells),
                "rows": _error_rows(table, cells),
            }
        )
    return told


def _error_rows(table: SensitivityTable, cells: dict[str, ErrorCell]) -> list[dict[str, Any]]:
    """Root mean squared error of each number, and mean and deviation below it, by filter."""
    return [
        {
            "name": name,
            "unit": unit_words(unit),
            "truth": numeral(float(table.truth[k]), digits=3),
            "cells": [
                {
                    "rms": _told(cell.rms, k),
                    "mean": _told(cell.mean, k),
                    "deviation": _told(cell.deviation, k),
                }
                for cell in cells.values()
            ],
        }
        for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))
    ]


def _running(table: SensitivityTable) -> list[dict[str, Any]]:
    """The mass against the number of samples; nothing where no torque was noisy."""
    told = []
    for running in table.running:
        title = f"{running.motion}, {running.noise.name}: mass against the number of samples"
        figure = mass_figure(running.samples, running.mass, float(table.truth[0]), title)
        off = abs(running.mass[:, -1] - table.truth[0]).max()
        told.append(
            {
                "motion": running.motion,
                "noise": noise_words(running.noise),
                "drawing": markup(figure),
                "samples": running.samples[-1],
                "trials": len(running.mass),
                "off": numeral(float(off), digits=2),
            }
        )
    return told


def _motions(table: SensitivityTable) -> dict[str, Any]:
    """Motions of each kind beside each other."""
    conditions = {spread.motion: spread.conditions for spread in table.spreads}
    errors = {spread.motion: spread.rms for spread in table.spreads}
    blind = any((spread.conditions > BLIND).any() for spread in table.spreads)
    return {
        "blind": blind,
        "conditions": markup(condition_figure(conditions, "condition numbers by kind of motion")),
        "heads": ("motion", "motions", "mean duration", "mean cond", "smallest", "largest"),
        "rows": [{"motion": spread.motion, "cells": _spread_cells(spread)} for spread in table.spreads],
        "noise": noise_words(table.spreads[0].noise),
        "errors": markup(error_figure(errors, PARAMETER_NAMES, "errors by kind of motion", _AXIS)),
    }


def _spread_cells(spread: MotionSpread) -> list[str]:
    c = spread.conditions
    return [
        str(len(c)),
        Typeset(f"{numeral(float(spread.durations.mean()), digits=3)}\u202fs"),
        *(numeral(float(value), digits=3) for value in (c.mean(), c.min(), c.max())),
    ]


def _told(values: Array, k: int) -> str:
    return numeral(float(values[k]), digits=2)


_METHOD = (
    (
        "Runs",
        "Torques come from inverse dynamics along the exact motion: no controller, no plant, no friction. "
        "Loaded and empty run coincide.",
    ),
    (
        "Estimator",
        "Residual torques, ten numbers, plain least squares. Only weighted and momentum weigh the joints by "
        "their noise.",
    ),
    (
        "Noise",
        "Drawn for the loaded and for the empty run. That of differences grows with the rate of sampling: at "
        "1 kHz it is five times that at 200 Hz. Noise of torques alone leaves least squares without bias.",
    ),
    (
        "Filter",
        "Butterworth: second order, 10 Hz, on torques and accelerations; it runs forwards and backwards, so "
        "that nothing is delayed, and what it cannot know at both ends is cut.",
    ),
)
"""What was done, by topic."""


def sensitivity_page(table: SensitivityTable, *, robot: str, seed: int, version: str = "") -> str:
    """Write the page of a study.

    Args:
        table: what was found.
        robot: name of the robot.
        seed: of motions and noise.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    anchors = {f"errors-{k}": kind for k, kind in enumerate(table.motions)}
    running = _running(table)
    headings = {
        "verdict": "Study",
        **{anchor: f"Noise and filters, {kind}" for anchor, kind in anchors.items()},
        **({"running": "Mass against samples"} if running else {}),
        "motions": "Motions",
        "method": "How it is done",
    }
    told = {
        "robot": robot,
        "figures": _figures(table),
        "frame": table.frame,
        "seed": seed,
        "filters": [(name, FILTER_MEANINGS[name]) for name in table.filters],
        "errors": [{"anchor": anchor, "noises": _errors(table, kind)} for anchor, kind in anchors.items()],
        "running": running,
        "motions": _motions(table),
        "method": _METHOD,
    }
    return render_page(
        "sensitivity.html",
        f"{robot}: sensitivity of the payload",
        headings,
        told,
        {},
        styles=("page.css",),
        scripts=(),
        version=version,
    )


def _figures(table: SensitivityTable) -> list[tuple[str, str]]:
    return [
        ("mass of the payload", Typeset(f"{numeral(float(table.truth[0]), digits=3)}\u202fkg")),
        ("trials of each case", str(table.trials)),
        ("samples per second", f"{table.rate:g}"),
        *(
            (f"mean condition number, {spread.motion}", numeral(float(spread.conditions.mean()), digits=3))
            for spread in table.spreads
        ),
    ]
