"""The parts of a sensitivity study's page: errors, running masses, motions."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.payload import FILTER_MEANINGS, ErrorCell, Noise, SensitivityTable
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up, unit_text
from steelyard.report.sensitivity_figures import condition_figure, error_figure, mass_figure

BLIND = 1e10
"""Condition number from which on a motion hides some combination of the ten numbers."""
_HIDDEN = (
    " Some of the motions do not show all ten numbers: of those that explain the torques alike, least "
    "squares takes the shortest, and its error is the choice's rather than the noise's."
)
_AXIS = "SI"


def noise_words(noise: Noise) -> str:
    """A noise, for people.

    Args:
        noise: the standard deviations.

    Returns:
        HTML.
    """
    parts = (
        ("q", noise.position, "rad"),
        ("v", noise.velocity, "rad/s"),
        ("τ", noise.torque, "N·m"),
    )
    said = [f"σ({symbol}) = {value:g}\u202f{unit}" for symbol, value, unit in parts if value]
    return ", ".join(said) or "no noise"


def error_section(table: SensitivityTable, motion: str) -> str:
    """Errors of the ten numbers along one motion, by noise and filter.

    Args:
        table: what was found.
        motion: kind of the motion.

    Returns:
        HTML.
    """
    key = "".join(
        f"<li><strong>{marked_up(name)}</strong>: {marked_up(FILTER_MEANINGS[name])}</li>"
        for name in table.filters
    )
    parts = [
        f'<ul class="steps">{key}</ul>\n<p>Noise of states draws least squares towards zero. Where the truth '
        "is zero that looks like a small error.</p>\n"
    ]
    for noise in table.noises:
        cells = {name: table.cell(motion, noise, name) for name in table.filters}
        title = f"{motion}, {noise.name}: root mean squared error of the ten numbers by filter"
        figure = error_figure({n: c.rms for n, c in cells.items()}, PARAMETER_NAMES, title, _AXIS)
        parts.append(
            f"<h3>{noise_words(noise)}</h3>\n<figure>{figure}</figure>\n{_refusals(cells)}"
            f"<details><summary>the same as a table</summary>{_error_table(table, cells)}</details>\n"
        )
    return "".join(parts)


def running_section(table: SensitivityTable) -> str:
    """The mass against the number of samples.

    Args:
        table: what was found.

    Returns:
        HTML; empty where no torque was noisy.
    """
    if not table.running:
        return ""
    parts = [
        "<p>Least squares of all samples so far, without any filter, one line for each trial. Masses below "
        "half and above one and a half times the truth are drawn at the edge.</p>\n"
    ]
    for running in table.running:
        title = f"{running.motion}, {running.noise.name}: mass against the number of samples"
        figure = mass_figure(running.samples, running.mass, float(table.truth[0]), title)
        off = abs(running.mass[:, -1] - table.truth[0]).max()
        parts.append(
            f"<h3>{marked_up(running.motion)}, {noise_words(running.noise)}</h3>\n"
            f"<figure>{figure}</figure>\n<p>After all {running.samples[-1]} samples the worst of "
            f"{len(running.mass)} trials is off by {numeral(float(off), digits=2)}\u202fkg.</p>\n"
        )
    return "".join(parts)


def motion_section(table: SensitivityTable) -> str:
    """Motions of each kind beside each other.

    Args:
        table: what was found.

    Returns:
        HTML.
    """
    conditions = {spread.motion: spread.conditions for spread in table.spreads}
    errors = {spread.motion: spread.rms for spread in table.spreads}
    rows = "".join(
        f'<tr><th scope="row">{marked_up(spread.motion)}</th><td>{len(spread.conditions)}</td>'
        f"<td>{numeral(float(spread.durations.mean()), digits=3)}\u202fs</td>"
        + "".join(
            f"<td>{numeral(float(value), digits=3)}</td>"
            for value in (spread.conditions.mean(), spread.conditions.min(), spread.conditions.max())
        )
        + "</tr>"
        for spread in table.spreads
    )
    heads = "".join(
        f'<th scope="col">{head}</th>'
        for head in ("motion", "motions", "mean duration", "mean cond", "smallest", "largest")
    )
    blind = any((spread.conditions > BLIND).any() for spread in table.spreads)
    return (
        "<p>Condition numbers of the data matrix without noise, in SI units."
        f"{_HIDDEN if blind else ''}</p>\n"
        f"<figure>{condition_figure(conditions, 'condition numbers by kind of motion')}</figure>\n"
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>\n'
        f"<p>Root mean squared error of the ten numbers without any filter, each motion weighed once, "
        f"{noise_words(table.spreads[0].noise)}.</p>\n"
        f"<figure>{error_figure(errors, PARAMETER_NAMES, 'errors by kind of motion', _AXIS)}</figure>\n"
    )


def _refusals(cells: dict[str, ErrorCell]) -> str:
    return "".join(
        f"<p><strong>{marked_up(name)}</strong> gave no answer in {cell.refused} of "
        f"{cell.refused + cell.answered} trials: {marked_up(cell.reason)}</p>\n"
        for name, cell in cells.items()
        if cell.refused
    )


def _error_table(table: SensitivityTable, cells: dict[str, ErrorCell]) -> str:
    """Root mean squared error, and mean and deviation below it."""
    heads = "".join(f'<th scope="col">{marked_up(name)}</th>' for name in cells)
    rows = []
    for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True)):
        values = "".join(f"<td>{_told(cell.rms, k)}{_spread(cell, k)}</td>" for cell in cells.values())
        truth = numeral(float(table.truth[k]), digits=3)
        rows.append(
            f'<tr><th scope="row">{name} <small>{unit_text(unit)}</small></th><td>{truth}</td>{values}</tr>'
        )
    return (
        '<div class="scroll"><table><thead><tr><th scope="col">rms error (mean ± deviation)</th>'
        f'<th scope="col">truth</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _spread(cell: ErrorCell, k: int) -> str:
    return f"<br><small>{_told(cell.mean, k)} ± {_told(cell.deviation, k)}</small>"


def _told(values: Array, k: int) -> str:
    return numeral(float(values[k]), digits=2)
