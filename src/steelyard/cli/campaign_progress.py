"""The progress of a campaign: a bar and a table by stage on a terminal, only words of trouble in a pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from steelyard.campaign import Event, Graph, Happening
from steelyard.cli.output import say, stderr

_ENDS = (Happening.DONE, Happening.FROM_STORE, Happening.FAILED, Happening.SKIPPED)
_TROUBLE = (Happening.FAILED, Happening.RETRIED, Happening.LOST_WORKER, Happening.NOTE)


class Tally:
    """How many tasks of each kind are where, counted from events."""

    def __init__(self, graph: Graph) -> None:
        self.total = Counter(task.kind for task in graph.tasks.values())
        self.running: set[tuple[str, str]] = set()
        self.ended = {kind: Counter[Happening]() for kind in self.total}
        self.seconds = dict.fromkeys(self.total, 0.0)

    def count(self, event: Event) -> None:
        """Count an event."""
        if event.what is Happening.STARTED:
            self.running.add((event.kind, event.task))
        elif event.what in (*_ENDS, Happening.RETRIED):
            self.running.discard((event.kind, event.task))
        if event.what in _ENDS:
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


@contextmanager
def campaign_progress(graph: Graph) -> Iterator[Callable[[Event], None]]:
    """Show a campaign while it runs; yields what it calls with every event."""
    if not stderr.is_terminal:
        yield _say_trouble
        return
    tally = Tally(graph)
    columns = (TextColumn("   running"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=stderr)
    whole = bar.add_task("campaign", total=len(graph))

    def tell(event: Event) -> None:
        tally.count(event)
        if event.what in _ENDS:
            bar.advance(whole)
        _say_trouble(event)

    with Live(get_renderable=lambda: Group(bar, tally.table()), console=stderr, transient=True):
        yield tell


def _say_trouble(event: Event) -> None:
    if event.what in _TROUBLE:
        whom = f"{event.task}: " if event.task else ""
        what = "" if event.what is Happening.NOTE else f"{event.what.value}: "
        say(f"   {whom}{what}{event.word}".rstrip(": "))
