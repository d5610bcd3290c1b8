"""`steelyard patch`: a user's own description, changed in the identified numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from steelyard.cli.output import print_progress, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.patch import patch as workflow

if TYPE_CHECKING:
    from steelyard.workflows.patched_description import PatchedDescription


def _show(done: PatchedDescription) -> None:
    if not done.files:
        # The difference alone goes to stdout, so that a pipe takes what `patch` reads.
        typer.echo(done.difference, nl=False)
        for line in (*done.notes, done.sentence):
            print_progress(line)
        return
    for line in (*done.notes, done.sentence):
        stdout.print(line, markup=False, highlight=False, soft_wrap=True)
    for path in done.files.values():
        stdout.print(f"{path}: written.", markup=False, highlight=False, soft_wrap=True)


patch = workflow_command(workflow, _show)
