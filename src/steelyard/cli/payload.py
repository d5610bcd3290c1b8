"""`steelyard payload`: what the arm holds, weighed from its logs, as an asset for simulators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import folded, read_back_line, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.payload import payload as workflow

if TYPE_CHECKING:
    from steelyard.workflows.weighed_payload import Payload


def _show(done: Payload) -> None:
    """Tables, checks, findings and the verdict."""
    from steelyard.workflows.record import read_back
    from steelyard.workflows.weighed_payload import HEADS

    table = Table(title=f"What {done.robot.name} holds, in {escape(done.held.frame)}")
    for heading in HEADS:
        table.add_column(heading, justify="right" if heading in HEADS[1:4] else "left")
    for row in done.table:
        table.add_row(*row)
    stdout.print(table)
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for line in folded(done.findings):
        stdout.print(line, markup=False, soft_wrap=True)
    verdict = done.verdict.status.value
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(verdict, "white")
    folder = Path(done.files["record.json"]).parent
    stdout.print(
        f"[bold {colour}]{verdict}[/bold {colour}] in {done.seconds:.1f} s; written to {escape(str(folder))}"
    )
    stdout.print(read_back_line(read_back(done.files)), markup=False, highlight=False, soft_wrap=True)


def _code(done: Payload) -> int:
    from steelyard.audit import Status

    return 1 if done.verdict.status is Status.FAIL else 0


payload = workflow_command(workflow, _show, _code)
