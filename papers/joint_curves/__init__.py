"""One or two curves of every joint over time, one panel below the other, on a page that needs no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paper_000.figure_axes import Panel
from paper_000.figure_picture import WIDTH, Stroke, picture, text
from paper_000.figure_scale import Scale
from steelyard import __version__
from steelyard.arrays import Array
from steelyard.report.page import page

WIDE, THIN = Stroke("#9fb3c8", width=3.4), Stroke("#c2410c")
HEIGHT, GAP, LEFT = 74.0, 16.0, 60.0
POINTS = 700
"""Samples of a curve that are drawn."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves of n joints.

    Attributes:
        time: shape (N,), s.
        wide: drawn with a wide pale line, shape (N, n), SI.
        thin: drawn over it with a thin line, shape (N, n), SI; None for nothing.
    """

    time: Array
    wide: Array
    thin: Array | None = None


def drawn(title: str, joints: Sequence[str], curves: Curves, unit: str) -> str:
    """A picture with a panel for every joint.

    Args:
        title: what it shows.
        joints: their names.
        curves: what is drawn.
        unit: of the curves.

    Returns:
        SVG.
    """
    step = max(1, len(curves.time) // POINTS)
    time = curves.time[::step] - curves.time[0]
    parts = [text(LEFT, 14.0, f"{title}, {unit} over s")]
    for k, name in enumerate(joints):
        lines = [(curves.wide[::step, k], WIDE)]
        if curves.thin is not None:
            lines.append((curves.thin[::step, k], THIN))
        low, high = (float(end([end(line) for line, _ in lines])) for end in (np.min, np.max))
        room = 0.05 * (high - low) + 1e-9
        panel = Panel(
            *(LEFT, 24.0 + k * (HEIGHT + GAP), WIDTH - LEFT - 110.0, HEIGHT),
            Scale(0.0, float(time[-1])),
            Scale(low - room, high + room),
        )
        parts += panel.grid(labels=k == len(joints) - 1, rows=3)
        parts += [panel.line(time, line, stroke) for line, stroke in lines]
        parts.append(text(WIDTH - 104.0, panel.top + 0.5 * HEIGHT, name))
    return picture(24.0 + len(joints) * (HEIGHT + GAP) + 14.0, title, parts)


def write_page(out: Path, title: str, sections: Mapping[str, str]) -> None:
    """Write the page.

    Args:
        out: where.
        title: of the page.
        sections: HTML by heading, such as `Fig. 5`.
    """
    named = {name: (name.lower().replace(". ", "-"), html) for name, html in sections.items()}
    styled = page(title, named, {}, styles=("page.css",), scripts=(), version=__version__)
    out.write_text(styled, encoding="utf-8")
