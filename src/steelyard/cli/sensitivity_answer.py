"""What `steelyard sensitivity` says: one JSON document, or tables for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from steelyard.arrays import Array
from steelyard.cli.output import stdout
from steelyard.cli.sensitivity_line import Studied
from steelyard.inertia import PARAMETER_NAMES

_WORST = (("m, kg", [0]), ("m c, kg m", [1, 2, 3]), ("m G, kg m²", [4, 6, 9]), ("products", [5, 7, 8]))
"""Columns for people: numbers of one unit, of which the worst is shown."""


def answer(done: Studied, files: dict[str, str], seconds: float) -> dict[str, Any]:
    """Everything a script may ask for."""
    table = done.table
    return {
        "robot": done.robot.name,
        "frame": table.frame,
        "payload": _named(table.truth),
        "rate": table.rate,
        "trials": table.trials,
        "errors": [
            {
                "motion": cell.motion,
                "noise": {"q": cell.noise.position, "v": cell.noise.velocity, "tau": cell.noise.torque},
                "filter": cell.filter,
                "mean_squared_error": _named(cell.squared),
                "mean_error": _named(cell.mean),
                "deviation": _named(cell.deviation),
                "answered": cell.answered,
                "refused": cell.refused,
                "reason": cell.reason,
            }
            for cell in table.cells
        ],
        "motions": {
            spread.motion: {
                "count": len(spread.conditions),
                "cond": {
                    "mean": float(spread.conditions.mean()),
                    "smallest": float(spread.conditions.min()),
                    "largest": float(spread.conditions.max()),
                },
                "rms_error": _named(spread.rms),
            }
            for spread in table.spreads
        },
        "left_out": dict(done.left_out),
        "running_mass": [
            {
                "motion": running.motion,
                "noise": running.noise.name,
                "samples": int(running.samples[-1]),
                "last": running.mass[:, -1].tolist(),
            }
            for running in table.running
        ],
        "seconds": seconds,
        "files": files,
    }


def print_answer(done: Studied, document: dict[str, Any]) -> None:
    """Errors by noise and filter, motions beside each other, and where it was written."""
    table = done.table
    for kind in table.motions:
        about = f"{escape(done.robot.name)}, {kind}: rms error of {table.trials} trials, the worst of a kind"
        shown = Table(title=about)
        for heading in ("noise", "filter"):
            shown.add_column(heading)
        for heading, _ in _WORST:
            shown.add_column(heading, justify="right")
        for noise in table.noises:
            for name in table.filters:
                cell = table.cell(kind, noise, name)
                worst = [f"{cell.rms[which].max():.2g}" for _, which in _WORST]
                refused = f" ({cell.refused} refused)" if cell.refused else ""
                shown.add_row(noise.name, name + refused, *worst)
            shown.add_section()
        stdout.print(shown)
    for spread in table.spreads:
        stdout.print(
            f"{spread.motion}: condition number {spread.conditions.mean():.3g} on average, "
            f"{spread.conditions.min():.3g} to {spread.conditions.max():.3g}, of {len(spread.conditions)}",
            highlight=False,
            soft_wrap=True,
        )
    folder = Path(document["files"]["report.html"]).parent
    stdout.print(
        f"Took {document['seconds']:.1f} s; written to {folder}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _named(ten: Array) -> dict[str, float]:
    return dict(zip(PARAMETER_NAMES, ten.tolist(), strict=True))
