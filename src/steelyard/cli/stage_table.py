"""What a terminal shows while a campaign runs: a bar, and a table by stage."""

from __future__ import annotations

from collections import Counter

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from steelyard.campaigns import CampaignEvent, Happening, TaskGraph
from steelyard.cli.output import stderr
from steelyard.workflows.campaign_result import ENDS


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
