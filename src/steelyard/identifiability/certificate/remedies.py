"""What would show a direction that data leaves open, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NAMED = 4
"""Up to how many single joints are named as alternatives."""


@dataclass(frozen=True)
class Remedy:
    """What would show a direction.

    Attributes:
        moving: joints that have to move.
        elsewhere: joints that have to be at another place, moving or not.
    """

    moving: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def __str__(self) -> str:
        """A clause: `joint5 moves freely while joint4 is elsewhere`."""
        moving = (
            f"{_listed(self.moving)} {_verb(self.moving, 'moves freely', 'move freely')}"
            if self.moving
            else ""
        )
        verb = _verb(self.elsewhere, "is elsewhere", "are elsewhere")
        elsewhere = f"{_listed(self.elsewhere)} {verb}" if self.elsewhere else ""
        return " while ".join(part for part in (moving, elsewhere) if part)


def alternatives(remedies: Sequence[Remedy]) -> str:
    """What would show a direction, in one clause.

    Args:
        remedies: each enough by itself.

    Returns:
        `joint4 or joint6 moves freely`; many single joints are counted instead of named.
    """
    single = [remedy for remedy in remedies if len(remedy.moving) + len(remedy.elsewhere) == 1]
    if len(single) > NAMED:
        return f"any of {len(single)} joints moves freely or is elsewhere"
    moving = [remedy.moving[0] for remedy in single if remedy.moving]
    elsewhere = [remedy.elsewhere[0] for remedy in single if remedy.elsewhere]
    parts = [f"{' or '.join(moving)} moves freely"] if moving else []
    parts += [f"{' or '.join(elsewhere)} is elsewhere"] if elsewhere else []
    return " or ".join([*parts, *(str(remedy) for remedy in remedies if remedy not in single)])


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(names: Sequence[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many
