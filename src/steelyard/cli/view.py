"""`steelyard view`: a robot, a result or a motion in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.cli.output import print_progress, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.view import view as workflow

if TYPE_CHECKING:
    from steelyard.workflows.shown import View


def _show(done: View) -> None:
    for finding in done.scene.findings[:10]:
        print_progress(str(finding))
    stdout.print(str(done), highlight=False, markup=False, soft_wrap=True)


def _wait(done: View) -> int:
    """Serve until Ctrl-C, which ends with 130 as it does everywhere."""
    with done:
        if done.url is not None:
            stdout.file.flush()
            done.wait()
    return 0


view = workflow_command(workflow, _show, _wait)
