"""`steelyard sensitivity`: how noise, filters and motions change what a payload weighs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.sensitivity import sensitivity as workflow

if TYPE_CHECKING:
    from steelyard.workflows.sensitivity_study import SensitivityStudy


def _show(done: SensitivityStudy) -> None:
    """Errors by noise and filter, motions beside each other, and where it was written."""
    from steelyard.workflows.sensitivity_study import WORST

    table = done.table
    for kind in table.motions:
        about = f"{escape(done.robot.name)}, {kind}: rms error of {table.trials} trials, the worst of a kind"
        shown = Table(title=about)
        for heading in ("noise", "filter"):
            shown.add_column(heading)
        for heading, _ in WORST:
            shown.add_column(heading, justify="right")
        for noise in table.noises:
            for name in table.filters:
                cell = table.cell(kind, noise, name)
                worst = [f"{cell.rms[which].max():.2g}" for _, which in WORST]
                refused = f" ({cell.refused} refused)" if cell.refused else ""
                shown.add_row(noise.name, name + refused, *worst)
            shown.add_section()
        stdout.print(shown)
    for line in done.conditions:
        stdout.print(line, highlight=False, soft_wrap=True)
    folder = Path(done.files["report.html"]).parent
    stdout.print(
        f"Took {done.seconds:.1f} s; written to {folder}", highlight=False, markup=False, soft_wrap=True
    )


sensitivity = workflow_command(workflow, _show)
