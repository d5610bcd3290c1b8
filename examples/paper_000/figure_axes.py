"""Axes, lines and bands of a picture, as SVG in the classes of the house's style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.report.safe_text import marked_up

WIDTH = 930
"""Of every picture, in the units of its coordinates."""
_MINUS = "\u2212"


@dataclass(frozen=True)
class Scale:
    """What an axis spans.

    Attributes:
        low: its beginning.
        high: its end.
        logarithmic: whether equal factors are equally far apart.
    """

    low: float
    high: float
    logarithmic: bool = False

    def shares(self, values: Array) -> Array:
        """How far along the axis values lie.

        Args:
            values: shape (n,), SI; what lies beyond an end is drawn at it.

        Returns:
            From 0 to 1, shape (n,), dimensionless.
        """
        low, high, x = self.low, self.high, np.clip(values, self.low, self.high)
        if self.logarithmic:
            low, high, x = math.log10(low), math.log10(high), np.log10(x)
        return np.asarray((x - low) / (high - low))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Round values along the axis, each with its label.

        Args:
            most: how many there may be on a linear axis; a logarithmic one has its powers of ten.

        Returns:
            Values and labels.
        """
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [(10.0**k, f"{10.0**k:g}") for k in range(first, last + 1)]
        span = self.high - self.low
        decade = 10.0 ** math.floor(math.log10(span / most))
        step = next(decade * k for k in (1, 2, 5, 10) if span / (decade * k) <= most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:.6g}".replace("-", _MINUS)) for k in range(first, last + 1)]


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


@dataclass(frozen=True)
class Panel:
    """A rectangle with two axes.

    Attributes:
        left: of its left edge.
        top: of its upper edge.
        width: from left to right.
        height: from top to bottom.
        x: what its width spans.
        y: what its height spans, upwards.
    """

    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    @property
    def floor(self) -> float:
        """Of its lower edge."""
        return self.top + self.height

    def places(self, x: Array, y: Array) -> Array:
        """Where points of the axes lie in the picture.

        Args:
            x: shape (n,), SI.
            y: shape (n,), SI.

        Returns:
            Coordinates, shape (n, 2), dimensionless.
        """
        across = self.left + self.width * self.x.shares(np.asarray(x))
        return np.column_stack([across, self.floor - self.height * self.y.shares(np.asarray(y))])

    def grid(self, *, labels: bool = True, rows: int = 5, columns: int = 6) -> list[str]:
        """Lines across at round values, labels at both axes.

        Args:
            labels: whether the axis below bears its labels.
            rows: how many lines there may be.
            columns: how many labels there may be below.

        Returns:
            SVG elements.
        """
        parts = []
        for value, label in self.y.ticks(rows):
            y = self.floor - self.height * float(self.y.shares(np.array([value]))[0])
            parts.append(f'<path class="grid" d="M{self.left:.1f} {y:.1f}h{self.width:.1f}"/>')
            parts.append(text(self.left - 6, y + 4, label, "end"))
        for value, label in self.x.ticks(columns) if labels else ():
            x = self.left + self.width * float(self.x.shares(np.array([value]))[0])
            parts.append(f'<path class="tick" d="M{x:.1f} {self.floor:.1f}v4"/>')
            parts.append(text(x, self.floor + 17, label, "middle"))
        return parts

    def line(self, x: Array, y: Array, stroke: Stroke) -> str:
        """A line through points.

        Args:
            x: shape (n,), SI.
            y: shape (n,), SI.
            stroke: how it is drawn.

        Returns:
            An SVG element.
        """
        return f'<polyline class="curve" points="{_listed(self.places(x, y))}" {stroke}/>'

    def band(self, x: Array, low: Array, high: Array, colour: str) -> str:
        """What lies between two lines.

        Args:
            x: shape (n,), SI.
            low: of the lower line, shape (n,), SI.
            high: of the upper line, shape (n,), SI.
            colour: of the band.

        Returns:
            An SVG element.
        """
        edge = np.vstack([self.places(x, low), self.places(x, high)[::-1]])
        return f'<polygon points="{_listed(edge)}" fill="{colour}" fill-opacity="0.13"/>'


def stairs(time: Array, values: Array, end: float) -> tuple[Array, Array]:
    """What stays until it changes, as corners of a line.

    Args:
        time: of the changes, shape (k,), s.
        values: from then on, shape (k,), SI.
        end: of the last, s.

    Returns:
        Times, shape (2 k,), s, and values, shape (2 k,), SI.
    """
    return np.append(np.repeat(time, 2)[1:], end), np.repeat(values, 2)


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


def _listed(places: Array) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())
