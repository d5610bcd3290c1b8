"""What the commands print: one JSON document on stdout, or a text for people."""

from __future__ import annotations

import atexit
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.segment import Segment
from rich.text import Text

from steelyard.finding import Finding
from steelyard.progress import Progress, ProgressStep

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves a cursor, clears a screen, renames a window or turns the direction of writing."""

LONGEST_WORD = 300
"""Letters of a name that a message repeats: nobody reads more, and files may state any."""
_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def visible(text: str) -> str:
    r"""A text with its control characters written out, as `\x1b`: names come from files that may be hostile.

    Args:
        text: what is to be shown.

    Returns:
        The same text, which does nothing to a terminal but appear on it; lines and tabs stay.
    """
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


class _Terminal(Console):
    """The one door to the terminal: whatever is printed, in a table too, passes `visible`."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))

    def render_str(self, text: str, **options: Any) -> Text:
        # Rich drops some control characters unseen, so they are written out before it looks at the text.
        return super().render_str(visible(text), **options)


# A pipe has no width; tables folded to 80 columns would break names apart.
stdout = _Terminal(width=None if sys.stdout.isatty() else 140)
stderr = _Terminal(stderr=True)

MOST_ALIKE = 3
"""Findings of one kind that are printed in full; all are in the JSON document and in the report."""
MOST_PLACES = 20
"""Places of further findings that are named."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document on stdout.")]


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout; numbers that are not finite become text."""
    from steelyard.archive import to_document

    text = json.dumps(to_document(document), indent=2, ensure_ascii=False, allow_nan=False)
    # JSON writes the first control characters as escapes itself; these are the rest, in its own way.
    typer.echo(_CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def read_back_line(judges: Mapping[str, list[str]]) -> str:
    """The same in a sentence; draws of further models are judged alike and not named."""
    named = {file: by for file, by in judges.items() if "/" not in file}
    return "Read back: " + ", ".join(
        f"{file} by {' and '.join(by) or 'nobody'}" for file, by in named.items()
    )


def announce_compilation(command: str) -> None:
    """Say on stderr what machine code is made: it takes seconds and happens once on a machine.

    Where the command is a program of its own (`HELPERS`), another process makes meanwhile what comes next.
    """
    from steelyard.compiled import before_compilation

    before_compilation(_Compilation(command))


class _Compilation:
    """What is said and done when machine code is missing."""

    def __init__(self, command: str) -> None:
        self._command, self._began = command, False

    def __call__(self, kernel: str) -> None:
        if not self._began:
            self._began = True
            print_progress("Compiling for first use on this machine; later runs start at once.")
            if HELPERS.wanted:
                self._start_helper()
        print_progress(f"   compile {kernel}")

    def _start_helper(self) -> None:
        from steelyard.cli.compile import NEEDED, start_helper
        from steelyard.threads import thread_count

        kernels = NEEDED.get(self._command, ())
        if kernels and thread_count() > 1:
            helper = start_helper(kernels)
            atexit.register(helper.kill)


class _Helpers:
    """Whether a command may start processes that compile beside it: not inside another program."""

    wanted = False


HELPERS = _Helpers()


def complain(message: str) -> None:
    """Print one error message on stderr, on one line whatever names of files it repeats."""
    line = _WORD.sub(lambda found: f"{found.group()[:LONGEST_WORD]}…", visible(" ".join(message.split("\n"))))
    stderr.print(f"error: {line}", style="bold red", highlight=False, markup=False, soft_wrap=True)


def print_progress(message: str) -> None:
    """Print a line of progress on stderr, where it does not disturb a pipe."""
    stderr.print(message, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def listening() -> Iterator[Progress]:
    """What shows the steps of a workflow on stderr: lines, and on a terminal a bar for what takes long."""
    columns = (TextColumn("   {task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Bar(*columns, console=stderr, disable=not stderr.is_terminal, transient=True)
    task = bar.add_task("", total=1.0, visible=False)

    def hear(step: ProgressStep) -> None:
        if step.share is None:
            bar.update(task, visible=False)
            print_progress(step.message)
        else:
            # Only now: a bar has a thread of its own, and workflows fork before they have shares to tell.
            bar.start()
            bar.update(task, description=step.message, completed=step.share, visible=step.share < 1.0)

    try:
        yield hear
    finally:
        bar.stop()


def folded(findings: Sequence[Finding]) -> list[str]:
    """One line for each finding; where many are of one kind, the first ones and how many more."""
    lines, seen = [], Counter(finding.code for finding in findings)
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.code] += 1
        if shown[finding.code] <= MOST_ALIKE:
            lines.append(str(finding))
        elif shown[finding.code] == seen[finding.code]:
            places = [x.place for x in findings if x.code == finding.code][MOST_ALIKE:]
            where = f": {', '.join(dict.fromkeys(places))}" if len(places) <= MOST_PLACES else ""
            lines.append(f"{finding.severity}: {len(places)} more findings of '{finding.code}'{where}")
    return lines
