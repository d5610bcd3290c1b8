"""Axes, and lines and bands along them, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paper_000.figure_picture import Stroke, text
from paper_000.figure_scale import Scale
from steelyard.arrays import Array


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

    def band(self, x: Array, low: Array, high: Array, stroke: Stroke) -> str:
        """What lies between two lines, shaded.

        Args:
            x: shape (n,), SI.
            low: of the lower line, shape (n,), SI.
            high: of the upper line, shape (n,), SI.
            stroke: how the lines are drawn, but thin.

        Returns:
            SVG elements.
        """
        edge = np.vstack([self.places(x, low), self.places(x, high)[::-1]])
        thin = Stroke(stroke.colour, stroke.dashes, 1.0)
        shade = f'<polygon points="{_listed(edge)}" fill="{stroke.colour}" fill-opacity="0.12"/>'
        return shade + self.line(x, low, thin) + self.line(x, high, thin)

    def outline(self) -> str:
        """Its four edges."""
        size = f'width="{self.width:.1f}" height="{self.height:.1f}"'
        return f'<rect class="grid" x="{self.left:.1f}" y="{self.top:.1f}" {size}/>'

    def clipped(self, parts: Sequence[str], name: str) -> list[str]:
        """What lies inside it, of parts that may reach beyond.

        Args:
            parts: SVG elements.
            name: that nothing else on the page has.

        Returns:
            SVG elements.
        """
        edges = self.outline().replace(' class="grid"', "")
        return [
            f'<clipPath id="{name}">{edges}</clipPath><g clip-path="url(#{name})">',
            *parts,
            "</g>",
        ]


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


def _listed(places: Array) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())
