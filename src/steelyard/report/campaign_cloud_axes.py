"""The frame of a cloud's picture: where its axes end, their numbers and words, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import CloudStage, ParameterCloud
from steelyard.report.numerals import MINUS
from steelyard.report.safe_text import marked_up

SIZE, LEFT, RIGHT, TOP, BOTTOM = 320, 34, 8, 8, 36
"""Side of a picture and the room around its frame, in units of the picture."""
COVERED = 0.95
"""Share of all answers that the axes must hold besides all of the last stage; the rest stands at the edge."""


def reach(stages: Sequence[CloudStage]) -> tuple[Array, Array]:
    """Ends of axes that hold the last of some stages, and most of every other.

    Args:
        stages: in their order.

    Returns:
        Lower and upper ends, each shape (2,), dimensionless.
    """
    ends = []
    for stage in stages:
        scores = score_pair(stage.scores)[stage.answered]
        if len(scores):
            tail = 0.0 if stage is stages[-1] else (1.0 - COVERED) / 2.0
            ends.append(np.quantile(scores, (tail, 1.0 - tail), axis=0))
    low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    room = 0.06 * np.where(high > low, high - low, 1.0)
    return low - room, high + room


def axes(low: Array, high: Array, cloud: ParameterCloud) -> list[str]:
    """A frame with round numbers along two scores, and what they are.

    Args:
        low: lower ends, shape (2,), dimensionless.
        high: upper ends, shape (2,), dimensionless.
        cloud: whose scores they are.

    Returns:
        SVG elements.
    """
    right, floor = SIZE - RIGHT, SIZE - BOTTOM
    parts = [f'<path class="grid" d="M{LEFT} {TOP}H{right}V{floor}H{LEFT}Z"/>']
    for value in _ticks(float(low[0]), float(high[0])):
        x = LEFT + (value - low[0]) / (high[0] - low[0]) * (right - LEFT)
        parts.append(f'<path class="{_line(value)}" d="M{x:.1f} {TOP}V{floor}"/>')
        parts.append(text_at(x, floor + 14, short(value), "middle"))
    for value in _ticks(float(low[1]), float(high[1])):
        y = floor - (value - low[1]) / (high[1] - low[1]) * (floor - TOP)
        parts.append(f'<path class="{_line(value)}" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(text_at(LEFT - 5, y + 4, short(value), "end"))
    shares = [100.0 * float(share) for share in (*cloud.explained[:2], 0.0)]
    parts.append(text_at(right, SIZE - 5, f"score 1 ({shares[0]:.0f} % of variance)", "end"))
    parts.append(text_at(LEFT + 5, TOP + 13, f"score 2 ({shares[1]:.0f} %)", "start", clear=True))
    return parts


def score_pair(scores: Array) -> Array:
    """The first two scores; one parameter alone has no second.

    Args:
        scores: shape (n, k), dimensionless.

    Returns:
        shape (n, 2), dimensionless.
    """
    return np.column_stack((scores, np.zeros(len(scores))))[:, :2]


def short(value: float) -> str:
    """A score with three digits at most.

    Args:
        value: dimensionless.

    Returns:
        Text with a true minus sign.
    """
    return f"{float(value):.3g}".replace("-", MINUS)


def text_at(x: float, y: float, text: str, anchor: str, *, clear: bool = False) -> str:
    """Words in a picture.

    Args:
        x: across, in units of the picture.
        y: of the line they stand on, in units of the picture.
        text: the words.
        anchor: which part of them stands at x: start, middle or end.
        clear: whether a seam of paper keeps them readable over lines and marks.

    Returns:
        An SVG element.
    """
    edge = ' stroke="var(--paper)" stroke-width="3" paint-order="stroke"' if clear else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{edge}>{marked_up(text)}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers between two ends."""
    raw = (high - low) / 4.0
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= 0.999 * raw)
    return [k * step for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _line(value: float) -> str:
    return "zero" if value == 0.0 else "grid"
