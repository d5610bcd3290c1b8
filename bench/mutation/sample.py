"""A sample of changes over all rooms, drawn by a seed."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from mutation.changes import Change, changes_of, code_lines

FEWEST = 3
"""Changes of the smallest room."""


def draw(package: Path, number: int, seed: int) -> list[Change]:
    """Draw changes from every room: a few each, and the others in proportion to its lines of code.

    In a room the kind of change is drawn first, so that the rare kinds are seen too; no line is drawn twice.

    Args:
        package: folder of the package.
        number: how many.
        seed: the same seed and the same sources give the same sample.

    Returns:
        The changes by room and place.
    """
    lines: dict[str, int] = defaultdict(int)
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package).as_posix()
        lines[path.partition("/")[0] if "/" in path else "ground"] += code_lines(file.read_text())
    found = changes_by_room(package)
    drawn = []
    for room, size in shares({room: lines[room] for room in sorted(found)}, number).items():
        rng = random.Random(f"{seed} {room}")
        drawn += draw_room(found[room], size, rng)
    return sorted(drawn, key=lambda change: (change.room, change.file, change.line))


def changes_by_room(package: Path) -> dict[str, dict[str, list[Change]]]:
    """Every change of a package, by room and kind."""
    found: dict[str, dict[str, list[Change]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted(package.rglob("*.py")):
        for change in changes_of(file.relative_to(package).as_posix(), file.read_text()):
            found[change.room][change.kind].append(change)
    return found


def shares(lines: dict[str, int], number: int) -> dict[str, int]:
    """How many changes each room gets: `FEWEST`, and the others by lines of code, by largest remainder."""
    rest = number - FEWEST * len(lines)
    if rest < 0:
        raise ValueError(f"{number} changes are too few for {len(lines)} rooms with {FEWEST} each")
    exact = {room: rest * size / sum(lines.values()) for room, size in lines.items()}
    given = {room: int(share) for room, share in exact.items()}
    by_remainder = sorted(exact, key=lambda room: (given[room] - exact[room], room))
    for room in by_remainder[: rest - sum(given.values())]:
        given[room] += 1
    return {room: FEWEST + share for room, share in given.items()}


def draw_room(
    found: dict[str, list[Change]], size: int, rng: random.Random, taken: Iterable[tuple[str, int]] = ()
) -> list[Change]:
    """Draw changes of one room by kind.

    Args:
        found: its changes, by kind.
        size: how many; fewer where there are fewer.
        rng: the source of chance.
        taken: files and lines that are not drawn.

    Returns:
        The changes in the order of the draw, each on a line of its own.
    """
    left = {kind: rng.sample(changes, len(changes)) for kind, changes in sorted(found.items())}
    drawn: list[Change] = []
    lines = set(taken)
    while left and len(drawn) < size:
        kind = rng.choice(sorted(left))
        change = left[kind].pop()
        if not left[kind]:
            del left[kind]
        if (change.file, change.line) not in lines:
            lines.add((change.file, change.line))
            drawn.append(change)
    return drawn
