"""`steelyard campaign`: many runs as one graph of tasks, here or on a cluster; starting it again resumes.

While it runs, a terminal shows a bar and a table by stage, and a pipe only words of trouble.
"""

from __future__ import annotations

from collections import Counter
from functools import wraps
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from steelyard.campaigns import CampaignEvent, Happening, TaskGraph
from steelyard.cli.output import stderr, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.progress import ProgressStep
from steelyard.workflows.campaign import ENDS, CampaignResult
from steelyard.workflows.campaign import campaign as workflow


class Tally:
    """How many tasks of each kind are where, counted from events."""

    def __init__(self, graph: TaskGraph) -> None:
        self.total = Counter(task.kind for task in graph.tasks.values())
        self.running: set[tuple[str, str]] = set()
        self.ended = {kind: Counter[Happening]() for kind in self.total}
        self.seconds = dict.fromkeys(self.total, 0.0)

    def count(self, event: CampaignEvent) -> None:
        """Count an event."""
        if event.what is Happening.STARTED:
            self.running.add((event.kind, event.task))
        elif event.what in (*ENDS, Happening.RETRIED):
            self.running.discard((event.kind, event.task))
        if event.what in ENDS:
            self.ended[event.kind][event.what] += 1
        if event.what is Happening.DONE:
            self.seconds[event.kind] += event.seconds

    def table(self) -> Table:
        """The counts, a row per kind."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("stage")
        for heading in ("tasks", "running", "done", "from store", "failed", "skipped", "mean s"):
            table.add_column(heading, justify="right")
        at_work = Counter(kind for kind, _ in tuple(self.running))
        for kind, total in self.total.items():
            ended = self.ended[kind]
            computed = ended[Happening.DONE]
            mean = f"{self.seconds[kind] / computed:.3g}" if computed else ""
            failed = f"[red]{ended[Happening.FAILED]}[/red]" if ended[Happening.FAILED] else "0"
            table.add_row(
                escape(kind),
                str(total),
                str(at_work[kind]),
                str(computed),
                str(ended[Happening.FROM_STORE]),
                failed,
                str(ended[Happening.SKIPPED]),
                mean,
            )
        return table


class StageTable:
    """A bar and the counts by stage on a terminal, while a campaign runs."""

    def __init__(self) -> None:
        columns = (TextColumn("   running"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=stderr)
        self._live: Live | None = None

    def planned(self, graph: TaskGraph) -> None:
        """Show that nothing is done yet."""
        tally = self._tally = Tally(graph)
        self._whole = self._bar.add_task("campaign", total=len(graph))
        self._live = Live(
            get_renderable=lambda: Group(self._bar, tally.table()), console=stderr, transient=True
        )
        self._live.start()

    def happened(self, event: CampaignEvent) -> None:
        """Count what happened."""
        self._tally.count(event)
        if event.what in ENDS:
            self._bar.advance(self._whole)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live is not None:
            self._live.stop()


@wraps(workflow)
def _watched(**given: Any) -> CampaignResult:
    """The workflow, with the table where there is a terminal for it."""
    if not stderr.is_terminal:
        return workflow(**given)
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
