"""`steelyard replay`: make a result again from its record, and compare it bit by bit."""

from __future__ import annotations

from rich.markup import escape

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.replay import Replay
from steelyard.workflows.replay import replay as workflow


def _show(done: Replay) -> None:
    if done.sentence:
        stdout.print(done.sentence, highlight=False, markup=False, soft_wrap=True)
        return
    for name, state in done.states.items():
        stdout.print(f"{state:>8}  {name}", markup=False)
    for name, (then, now) in done.versions.items():
        stdout.print(f"{name} was {then} and is {now}", markup=False)
    if done.same:
        stdout.print("[bold green]pass[/bold green]: the same result, bit by bit")
        return
    stdout.print(f"[bold red]fail[/bold red]: not the same bits: {escape(done.reason)}", soft_wrap=True)


replay = workflow_command(workflow, _show, lambda done: 0 if done.same else 1)
