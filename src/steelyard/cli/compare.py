"""`steelyard compare`: two results, and what moved between them beyond what their intervals explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.compare import compare as workflow

if TYPE_CHECKING:
    from steelyard.model import Difference
    from steelyard.workflows.comparison import ResultComparison


def _show(done: ResultComparison) -> None:
    from steelyard.workflows.comparison import SHOWN

    explained = done.within[:SHOWN]
    for title, rows in (("moved", done.moved), ("largest that the intervals explain", explained)):
        if rows:
            _print_table(done, f"Parameters: {title}", rows)
    if done.parameters.unknown:
        unknown = ", ".join(done.parameters.unknown)
        stdout.print(f"not known in one of the two: {unknown}", markup=False)
    for finding in done.findings:
        stdout.print(str(finding), markup=False, soft_wrap=True)
    if done.torque is not None:
        joints = ", ".join(f"{j} {e:.2f}" for j, e in zip(done.joints, done.torque.joints, strict=True))
        stdout.print(
            f"torques in random states differ by {done.torque.overall:.2f} % of {done.first}'s rms "
            f"({joints})",
            markup=False,
            soft_wrap=True,
        )
    colour = {"pass": "green", "warn": "yellow"}.get(done.status, "white")
    stdout.print(
        f"[bold {colour}]{done.status}[/bold {colour}]: {escape(done.sentence)}",
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
        table.add_row(escape(row.name), *(f"{x:.4g}" for x in numbers), done.found.units[row.name])
    stdout.print(table)


compare = workflow_command(workflow, _show)
