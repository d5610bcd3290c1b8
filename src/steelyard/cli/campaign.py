"""`steelyard campaign`: many runs as one graph of tasks, here or on a cluster; starting it again resumes.

While it runs, a terminal shows a bar and a table by stage, and a pipe only words of trouble.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from steelyard.cli.output import stderr, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.progress import ProgressStep
from steelyard.workflows.campaign import campaign as workflow

if TYPE_CHECKING:
    from steelyard.workflows.campaign_result import CampaignResult


@wraps(workflow)
def _watched(**given: Any) -> CampaignResult:
    """The workflow, with the table where there is a terminal for it."""
    if not stderr.is_terminal:
        return workflow(**given)
    from steelyard.cli.stage_table import StageTable

    hear, table = given.pop("progress"), StageTable()

    def words(step: ProgressStep) -> None:
        # The table has a bar of its own.
        if step.share is None:
            hear(step)

    try:
        return workflow(**given, observer=table, progress=words)
    finally:
        table.close()


def _show(done: CampaignResult) -> None:
    stdout.print(str(done), highlight=False, markup=False)


def _code(done: CampaignResult) -> int:
    return int(bool(done.failed) or done.verdict == "fail")


campaign = workflow_command(_watched, _show, _code)
