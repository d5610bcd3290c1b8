"""`steelyard online`: certified motion and guaranteed bounds of an unknown load, in closed loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.cli.output import print_progress, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.online import online as workflow

if TYPE_CHECKING:
    from steelyard.workflows.safe_learning import SafeLearning


def _show(learned: SafeLearning) -> None:
    for line in learned.lines:
        stdout.print(line, highlight=False, markup=False, soft_wrap=True)
    document = learned.document
    for line in (*document["events"], *document["violations"]):
        print_progress(line)


def exit_code(learned: SafeLearning) -> int:
    """What the command ends with.

    Args:
        learned: the run.

    Returns:
        1 where something was broken, 3 where shapes of the robot are missing and nobody accepts it, else 0.
    """
    if learned.verdict == "fail":
        return 1
    return 0 if learned.settled else 3


online = workflow_command(workflow, _show, exit_code)
