"""What the commands print: one JSON document on stdout, or a text for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from steelyard.archive import to_document

# A pipe has no width; tables folded to 80 columns would break names apart.
stdout = Console(width=None if sys.stdout.isatty() else 140)
stderr = Console(stderr=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document on stdout.")]


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout; numbers that are not finite become text."""
    typer.echo(json.dumps(to_document(document), indent=2, ensure_ascii=False, allow_nan=False))


def announce_compilation() -> None:
    """Say on stderr when machine code is made for the first time: it takes seconds and happens once."""
    from steelyard.compiled import before_first_compilation

    before_first_compilation(
        lambda: say("Compiling for first use on this machine; later runs start at once.")
    )


def complain(message: str) -> None:
    """Print one error message on stderr, on one line whatever names of files it repeats."""
    line = " ".join(message.splitlines())
    stderr.print(f"error: {line}", style="bold red", highlight=False, markup=False, soft_wrap=True)


def say(message: str) -> None:
    """Print a line of progress on stderr, where it does not disturb a pipe."""
    stderr.print(message, highlight=False, markup=False, soft_wrap=True)
