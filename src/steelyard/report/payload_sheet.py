"""A sheet to draw one view on: a square with a grid in millimetres, seen along an axis of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.report.numerals import MINUS

SIZE, LEFT, BOTTOM, EDGE = 320.0, 34.0, 30.0, 6.0
"""Side of the drawing, and the margins for the labels at its left, below and around it, px."""
LINES = 5
"""About how many lines of the grid there are in each direction."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """One view in parallel projection.

    Attributes:
        axes: which axis of the frame points to the right, and which up.
        middle: what is in the middle, shape (3,), m.
        reach: half the side of the cube that is shown, m.
    """

    axes: tuple[int, int]
    middle: Array
    reach: float

    @property
    def scale(self) -> float:
        """Pixels per metre; a tenth is left free at the border."""
        return (SIZE - LEFT - BOTTOM - 2 * EDGE) / (2.2 * self.reach)

    def place(self, point: Array) -> tuple[float, float]:
        """Where a point is drawn.

        Args:
            point: in the frame, shape (3,), m.

        Returns:
            To the right and down, px.
        """
        right, up = (point - self.middle)[list(self.axes)].tolist()
        return (
            (SIZE + LEFT - EDGE) / 2 + self.scale * right,
            (SIZE - BOTTOM + EDGE) / 2 - self.scale * up,
        )

    def grid(self) -> list[str]:
        """Lines at round numbers of millimetres, with their labels."""
        step = _round_step(2.2 * self.reach / LINES)
        marks = []
        for axis, upright in zip(self.axes, (True, False), strict=True):
            low, high = self.middle[axis] - 1.1 * self.reach, self.middle[axis] + 1.1 * self.reach
            for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1):
                point = self.middle.copy()
                point[axis] = k * step
                x, y = self.place(point)
                line = f"M{x:.1f} {EDGE}V{SIZE - BOTTOM}" if upright else f"M{LEFT} {y:.1f}H{SIZE - EDGE}"
                at = f'x="{x:.1f}" y="{SIZE - BOTTOM + 16}"' if upright else f'x="{LEFT - 5}" y="{y + 4:.1f}"'
                anchor = "middle" if upright else "end"
                told = f"{1e3 * k * step:.6g}".replace("-", MINUS)
                marks.append(f'<path class="grid" d="{line}"/>')
                marks.append(f'<text {at} text-anchor="{anchor}">{told}</text>')
        return marks

    def frame(self) -> list[str]:
        """The frame's origin and its two axes in this view."""
        marks = []
        x, y = self.place(np.zeros(3))
        for axis in self.axes:
            tip = np.zeros(3)
            tip[axis] = 0.45 * self.reach
            u, v = self.place(tip)
            marks.append(f'<path class="bone" d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"/>')
            marks.append(f'<text x="{u + 5:.1f}" y="{v - 5:.1f}">{"xyz"[axis]}</text>')
        marks.append(f'<circle class="joint" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        return marks

    def rectangle(self, corners: Array, kind: str) -> str:
        """A box, cut where it leaves the sheet.

        Args:
            corners: its lower and upper corner in rows, shape (2, 3), m; may be infinite.
            kind: class of the element.

        Returns:
            SVG.
        """
        far = 2.0 * self.reach
        (x, bottom), (right, y) = (
            self.place(np.clip(corner, self.middle - far, self.middle + far)) for corner in corners
        )
        return (
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" '
            f'height="{bottom - y:.1f}"/>'
        )

    def svg(self, marks: Sequence[str], told: str) -> str:
        """The drawing.

        Args:
            marks: SVG elements, those behind first.
            told: what it shows, as plain text without markup.

        Returns:
            SVG.
        """
        return f'<svg role="img" aria-label="{told}" viewBox="0 0 {SIZE:g} {SIZE:g}">{"".join(marks)}</svg>'


def _round_step(raw: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(raw))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= 0.999 * raw))
