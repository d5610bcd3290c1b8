"""Pictures as SVG in the classes of the house's style sheet: strokes, words, legends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.report.html import marked_up

WIDTH = 930
"""Of every picture, in the units of its coordinates."""


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn.

    Attributes:
        colour: readable on light and dark paper.
        dashes: lengths of dashes and gaps; empty for a line without gaps.
        width: of the line.
    """

    colour: str
    dashes: str = ""
    width: float = 1.4

    def __str__(self) -> str:
        dashed = f' stroke-dasharray="{self.dashes}"' if self.dashes else ""
        return f'fill="none" stroke="{self.colour}" stroke-width="{self.width}"{dashed}'


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Words in a picture, from, around or up to a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{marked_up(words)}</text>'


def legend(entries: Sequence[tuple[str, Stroke]], left: float = 60.0, top: float = 14.0) -> list[str]:
    """What each line means, in as many rows as it takes; every row is 20 high."""
    parts, x, y = [], left, top
    for name, stroke in entries:
        length = 44.0 + 6.4 * len(name)
        if x + length > WIDTH:
            x, y = left, y + 20.0
        parts += [f'<path d="M{x:.1f} {y - 4:.1f}h26" {stroke}/>', text(x + 32, y, name)]
        x += length + 12.0
    return parts


def picture(height: float, title: str, parts: Sequence[str]) -> str:
    """A picture with what it shows said for those who cannot see it."""
    name = marked_up(title)
    drawn = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{name}"><title>{name}</title>\n'
        f"{drawn}\n</svg>\n"
    )
