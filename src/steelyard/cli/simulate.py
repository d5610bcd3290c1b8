"""`steelyard simulate`: runs a motion on a simulated robot and writes its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.cli.output import print_progress, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.simulate import simulate as workflow

if TYPE_CHECKING:
    from steelyard.workflows.simulation import Simulation


def _show(done: Simulation) -> None:
    for name, cycles in done.clipped.items():
        if cycles:
            print_progress(
                f"{name}: the command was cut at the torque limit in {cycles} of the control cycles."
            )
    if done.held is not None:
        held = f"{done.held} is held at {done.robot.tool_frame.name}."
        stdout.print(held, highlight=False, markup=False, soft_wrap=True)
    stdout.print(str(done), highlight=False, markup=False, soft_wrap=True)


simulate = workflow_command(workflow, _show)
