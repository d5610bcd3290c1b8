"""`steelyard joints`: models of single joints by open-loop experiments, and the controller they give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import complain, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.joints import joints as workflow

if TYPE_CHECKING:
    from steelyard.workflows.joint_models import JointModels


def _show(done: JointModels) -> None:
    """Models and gains joint by joint, and where they were written."""
    from steelyard.workflows.joint_models import HEADINGS, UNITS

    table = Table(
        title=f"{escape(done.robot.name)}: joints as first-order lags with dead time", caption=UNITS
    )
    for head in HEADINGS:
        table.add_column(head, justify="left" if head == "joint" else "right", overflow="fold")
    for name, *numbers in done.rows:
        table.add_row(escape(name), *numbers)
    stdout.print(table)
    folder = Path(done.files["report.html"]).parent
    stdout.print(
        f"{done.lateness} Took {done.seconds:.1f} s; written to {folder}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _code(done: JointModels) -> int:
    """3 where a joint has no model, which is said beside a JSON document too."""
    for error in done.failed.values():
        complain(f"{error} The other joints are written, with a controller for them alone.")
    return 3 if done.failed else 0


joints = workflow_command(workflow, _show, _code)
