"""The progress of a search: a bar with the best so far on a terminal, nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from steelyard.cli.output import stderr
from steelyard.excitation import Progress as State


@contextmanager
def search_progress(criterion: str, seconds: float) -> Iterator[Callable[[State], None]]:
    """Show a search while it runs; yields what it calls after every round."""
    columns = (
        TextColumn("   searching"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
    )
    with Progress(*columns, console=stderr, disable=not stderr.is_terminal, transient=True) as bar:
        task = bar.add_task("search", total=seconds, best="")

        def tell(state: State) -> None:
            best = "no motion within the limits yet" if state.best != state.best else f"{state.best:.4g}"
            bar.update(
                task,
                completed=min(state.seconds, seconds),
                best=f"{criterion} {best} after {state.rounds} rounds",
            )

        yield tell
