"""`steelyard identifiability`: which numbers of a robot torques can ever tell, and which they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.identifiability import ROTORS
from steelyard.workflows.identifiability import identifiability as workflow

if TYPE_CHECKING:
    from steelyard.workflows.identifiable_parameters import IdentifiableParameters


class BareRotors(TyperCommand):
    """A command in which `--rotors` may stand without a word, and then means the gyroscopic ones."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write the word out that was left out."""
        written: list[str] = []
        for k, word in enumerate(args):
            written.append(word)
            if word == "--rotors" and (k + 1 == len(args) or args[k + 1] not in ROTORS):
                written.append(ROTORS[0])
        return list(super().parse_args(ctx, written))


COMMAND_CLASS = BareRotors


def _show(found: IdentifiableParameters) -> None:
    """Print the count, the table of symbols, the groupings and what should be known about them."""
    from steelyard.workflows.identifiable_parameters import LEGEND

    stdout.print(f"[bold]{escape(found.robot.name)}[/bold]: {found.headline}")
    if found.unsnapped:
        stdout.print(found.unsnapped)
    stdout.print(_table(found))
    stdout.print("  ".join(f"{kind.symbol} {word}" for kind, word in LEGEND.items()), style="dim")
    if found.known_together:
        stdout.print("\n[bold]Known only together[/bold]")
        for line in found.known_together:
            stdout.print("  " + escape(line), soft_wrap=True)
    if not found.exact:
        stdout.print(
            f"\nSmallest direction that counted {found.kept:.1e}, largest that did not {found.dropped:.1e}"
            + (": [bold yellow]too close to call[/bold yellow]." if found.doubtful else "."),
            highlight=False,
        )
    for note in found.notes:
        stdout.print(escape(note), soft_wrap=True)


def _table(found: IdentifiableParameters) -> Table:
    from steelyard.workflows.identifiable_parameters import DIMENSIONS

    heads, *rows = found.table
    table = Table(box=None, pad_edge=False)
    table.add_column("", style="bold")
    for link in heads[1:]:
        table.add_column(escape(link), justify="center", overflow="fold")
    for title, *symbols in rows:
        table.add_row(escape(title), *symbols, style="dim" if title in DIMENSIONS else None)
    return table


identifiability = workflow_command(workflow, _show)
