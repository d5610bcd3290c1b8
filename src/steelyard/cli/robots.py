"""`steelyard robots`: lists the zoo."""

from __future__ import annotations

from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.robots import RobotCatalogue
from steelyard.workflows.robots import robots as workflow


def _show(found: RobotCatalogue) -> None:
    table = Table(title="Robots of the zoo", title_justify="left")
    for heading in ("name", "what it is", "joints", "mass"):
        table.add_column(heading, justify="right" if heading in ("joints", "mass") else "left")
    for entry in found:
        table.add_row(entry.name, entry.summary, str(entry.robot.nv), f"{entry.mass:.3g} kg")
    stdout.print(table)
    for entry in found:
        stdout.print(f"\n[bold]{entry.name}[/bold]: where its numbers come from")
        for what, source in entry.sources.items():
            stdout.print(f"  {what}: {source}", highlight=False, soft_wrap=True)


robots = workflow_command(workflow, _show)
