"""`steelyard validate`: an existing model, of whatever tool, against logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.validate import validate as workflow

if TYPE_CHECKING:
    from steelyard.workflows.validation import Validation


def _show(done: Validation) -> None:
    table = Table(title="Unexplained torque, percent of its rms")
    table.add_column("joint")
    for name in done.logs:
        table.add_column(escape(Path(name).name), justify="right")
    for k, joint in enumerate(done.joints):
        table.add_row(escape(joint), *(f"{error.joints[k]:.2f}" for error in done.logs.values()))
    table.add_row("overall", *(f"{error.overall:.2f}" for error in done.logs.values()), style="bold")
    stdout.print(table)
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for finding in done.findings:
        stdout.print(str(finding), markup=False, soft_wrap=True)
    verdict = done.verdict.status
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(verdict, "white")
    stdout.print(
        f"[bold {colour}]{verdict}[/bold {colour}]: {done.error.overall:.2f} % of the torque is "
        f"unexplained; {done.seconds:.1f} s"
    )


def _code(done: Validation) -> int:
    from steelyard.audit import Status

    return 1 if done.verdict.status is Status.FAIL else 0


validate = workflow_command(workflow, _show, _code)
