"""`steelyard compare`: two results, and what moved between them beyond what their intervals explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import JsonOption, announce_compilation, print_json, stdout

if TYPE_CHECKING:
    from steelyard.audit import Difference
    from steelyard.cli.compare_line import ResultComparison

SHOWN = 12
"""Differences listed for people of those the intervals explain; all are in the JSON."""


def compare(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A", help="A result folder, or a description of its robot.", show_default=False
        ),
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", help="Another; one of the two is a result.", show_default=False)
    ],
    level: Annotated[
        float, typer.Option(help="Probability that nothing is named which did not move.", min=0.0, max=1.0)
    ] = 0.95,
    json: JsonOption = False,
) -> None:
    """Say what moved between two results beyond what their intervals explain.

    The verdict is `warn` where something moved and `pass` where nothing did; the exit code is 0 for both: a
    change is no failure. The numbers of a description count as exact.
    """
    from steelyard.cli.compare_line import comparison_of
    from steelyard.cli.validate_model import given_model

    announce_compilation("compare")
    done = comparison_of(given_model(first), given_model(second), level)
    if json:
        print_json(_document(done))
    else:
        _print(done, first, second)


def _document(done: ResultComparison) -> dict[str, Any]:
    def line(difference: Difference) -> dict[str, Any]:
        return {
            "name": difference.name,
            "class": "base" if difference.name.endswith("+") else "alone",
            "unit": done.units[difference.name],
            "first": difference.first,
            "second": difference.second,
            "change": difference.change,
            "deviation": difference.deviation,
            "score": difference.score,
            "chance": difference.chance,
        }

    torque = done.torque
    return {
        "verdict": done.status,
        "moved": [line(difference) for difference in done.parameters.moved],
        "within": [line(difference) for difference in done.parameters.within],
        "unknown": done.parameters.unknown,
        "level": done.parameters.level,
        "correction": "Holm",
        "torque": None
        if torque is None
        else {"overall": torque.overall, "joints": dict(zip(done.joints, torque.joints, strict=True))},
        "findings": [
            {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
            for f in done.findings
        ],
    }


def _print(done: ResultComparison, first: str, second: str) -> None:
    found = done.parameters
    count = len(found.moved) + len(found.within)
    for title, rows in (("moved", found.moved), ("largest that the intervals explain", found.within[:SHOWN])):
        if rows:
            _print_table(done, f"Parameters: {title}", rows)
    if found.unknown:
        stdout.print(f"not known in one of the two: {', '.join(found.unknown)}", markup=False)
    for finding in done.findings:
        stdout.print(str(finding), markup=False, soft_wrap=True)
    if done.torque is not None:
        joints = ", ".join(f"{j} {e:.2f}" for j, e in zip(done.joints, done.torque.joints, strict=True))
        stdout.print(
            f"torques in random states differ by {done.torque.overall:.2f} % of {first}'s rms ({joints})",
            markup=False,
            soft_wrap=True,
        )
    colour = {"pass": "green", "warn": "yellow"}.get(done.status, "white")
    stdout.print(
        f"[bold {colour}]{done.status}[/bold {colour}]: {len(found.moved)} of {count} parameters moved from "
        f"{escape(first)} to {escape(second)} (Holm's correction for {count} at {100 * found.level:g} %)",
        soft_wrap=True,
    )


def _print_table(done: ResultComparison, title: str, rows: tuple[Difference, ...]) -> None:
    table = Table(title=title)
    table.add_column("parameter")
    for heading in ("A", "B", "B - A", "deviation", "in deviations", "chance"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    for row in rows:
        numbers = (row.first, row.second, row.change, row.deviation, row.score, row.chance)
        table.add_row(escape(row.name), *(f"{x:.4g}" for x in numbers), done.units[row.name])
    stdout.print(table)
