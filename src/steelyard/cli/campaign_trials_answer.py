"""What `steelyard campaign` writes and prints of a Monte Carlo study: trials and table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.campaign import table_path, write_table

_FIGURES = {"error": ("off the truth", "%"), "held_out": ("off the held-out log", "%"), "cond": ("cond", "1")}
"""What a figure is called, and its unit."""
_LEGEND = (
    "Median (lower to upper quartile) of the trials. Torques of the estimate are off those of the true",
    "parameters along the planned motion, and off those measured on a motion held out, in % of their rms.",
)


def write_trials(answer: Mapping[str, Any], out: Path) -> dict[str, str]:
    """Write every trial and the table; returns their paths by name."""
    units = {figure: unit for figure, (_, unit) in _FIGURES.items() if unit == "%"}
    trials = table_path(out, "trials")
    write_table(trials, _columns(answer["trials"]), units)
    rows = [_flat(row) for row in answer["rows"]]
    flat_units = {
        name: unit
        for row in rows
        for name in row
        for figure, unit in units.items()
        if name.startswith(figure)
    }
    table = table_path(out, "table")
    write_table(table, _columns(rows), flat_units)
    return {path.name: str(path) for path in (trials, table)}


def trials_summary(document: Mapping[str, Any]) -> str:
    """How the tasks ended, the table of a study where there is one, and what failed."""
    lines = [f"{document['done']} of {document['tasks']} tasks done, {document['failed']} failed."]
    rows = document.get("rows", ())
    if rows:
        lines += ["", *_aligned(rows), "", *_LEGEND]
    if document["failures"]:
        lines += ["", *(f"   {name}: {reason}" for name, reason in document["failures"].items())]
    return "\n".join(lines)


def _aligned(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each row, below a heading with units; text to the left, numbers to the right."""
    told = [name for name in rows[0] if name not in _FIGURES]
    heading = [*told, *(f"{words}, %" if unit == "%" else words for words, unit in _FIGURES.values())]
    cells = [
        [*(_said(row[name]) for name in told), *(_spread(row[name]) for name in _FIGURES)] for row in rows
    ]
    widths = [max(len(line[k]) for line in (heading, *cells)) for k in range(len(heading))]
    left = [k for k, name in enumerate(told) if isinstance(rows[0][name], str)]
    return [
        "   ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (heading, *cells)
    ]


def _said(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spread(found: Mapping[str, float] | None) -> str:
    if found is None:
        return "no result"
    low, middle, high = (_number(found[key]) for key in ("lower_quartile", "median", "upper_quartile"))
    return f"{middle} ({low} to {high})"


def _number(value: float) -> str:
    """Three digits, in plain notation wherever that is short."""
    return f"{value:#.3g}".rstrip(".") if 1e-3 <= abs(value) < 1e3 else f"{value:.2e}" if value else "0"


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with a column for each number of a figure."""
    flat = {name: value for name, value in row.items() if name not in _FIGURES}
    for figure in _FIGURES:
        for key in ("lower_quartile", "median", "upper_quartile"):
            flat[f"{figure}_{key}"] = None if row[figure] is None else row[figure][key]
    return flat


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
