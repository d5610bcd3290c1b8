"""Where a kept change stands in sources that were rearranged since: files merge and definitions move.

A line is known by its text, by the definition it stands in and by the lines above and below it. Of all places
with the same text the one that agrees in most of these is taken. Where none agrees, or two agree as much, the
change is gone: a trial of something else would say nothing about it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mutation.changes import Change, changes_of
from mutation.sample import changes_by_room, draw_room


@dataclass(frozen=True)
class Line:
    """The line of a change and its neighbours, without indentation.

    Attributes:
        text: the line.
        above: the line before it; empty where there is none.
        below: the line after it.
    """

    text: str
    above: str
    below: str


def line_of(change: Change, source: str) -> Line:
    """The line in which a change of a source begins."""
    lines = ["", *(line.strip() for line in source.splitlines()), ""]
    return Line(lines[change.line], lines[change.line - 1], lines[change.line + 1])


class Sources:
    """The files of a package, in which changes of earlier sources are looked for."""

    def __init__(self, package: Path) -> None:
        """Read every file."""
        self._package = package
        self._texts = {
            file.relative_to(package).as_posix(): file.read_text() for file in sorted(package.rglob("*.py"))
        }
        self._changes: dict[str, list[Change]] = {}

    def line(self, change: Change) -> Line:
        """The line of a change of these sources."""
        return line_of(change, self._texts[change.file])

    def changed(self, change: Change) -> str:
        """The line as the change makes it."""
        return line_of(change, change.applied(self._texts[change.file])).text

    def found(self, change: Change, line: Line, after: str) -> Change | None:
        """The same change in these sources.

        Args:
            change: in the earlier sources.
            line: its line there.
            after: that line as the change makes it.

        Returns:
            The change at its present place, or None where that is gone or cannot be told from another.
        """
        alike = list(self._alike(change.kind, line.text, after))
        ranked: dict[tuple[int, ...], list[Change]] = {}
        for candidate in alike:
            here = self.line(candidate)
            is_same = _name(candidate) == _name(change)
            around = (here.above == line.above != "") + (here.below == line.below != "")
            # In a definition of another name one neighbour is enough for a line that there is only once.
            if is_same or around == 2 or (around and len(alike) == 1):
                stays = candidate.file == change.file
                stays_there = stays and candidate.line == change.line
                ranked.setdefault((is_same + around, stays, stays_there), []).append(candidate)
        best = ranked[max(ranked)] if ranked else []
        return best[0] if len(best) == 1 else None

    def drawn_instead(self, room: str, taken: Iterable[Change], number: int, seed: int) -> list[Change]:
        """Other changes of a room, drawn by a seed, on lines that are not taken."""
        lines = {(change.file, change.line) for change in taken}
        found = changes_by_room(self._package)[room]
        return draw_room(found, number, random.Random(f"{seed} {room} instead"), lines)

    def _alike(self, kind: str, before: str, after: str) -> Iterator[Change]:
        """Every change of a kind that turns a line of one text into a line of the other."""
        for file, source in self._texts.items():
            if before not in source:
                continue
            if file not in self._changes:
                self._changes[file] = changes_of(file, source)
            for candidate in self._changes[file]:
                is_same = candidate.kind == kind and self.line(candidate).text == before
                if is_same and self.changed(candidate) == after:
                    yield candidate


def _name(change: Change) -> str:
    """The name of the innermost definition."""
    return change.owner.rpartition(".")[2]
