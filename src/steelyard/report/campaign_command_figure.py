"""Reference commands of a motion: one small picture for each joint, as SVG."""

from __future__ import annotations

from steelyard.arrays import Array, checked
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up
from steelyard.report.thinning import thinned

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 320, 150, 54, 8, 8, 24
POINTS = 600
"""Samples kept of one joint, every extreme among them."""


def command_figure(time: Array, values: Array, joint: str, unit: str) -> str:
    """Draw what one joint was told to do.

    Args:
        time: increasing, shape (N,), s.
        values: commanded position, shape (N,), rad or m.
        joint: its name.
        unit: of the values.

    Returns:
        HTML: a figure with its caption.
    """
    t = checked("time", time, ("N",))
    q = checked("values", values, (len(t),))
    kept = thinned(q[:, None], POINTS)
    low, high = float(q.min()), float(q.max())
    span = high - low or 1.0
    right, floor = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    x = _LEFT + (t[kept] - t[0]) / (t[-1] - t[0]) * (right - _LEFT)
    y = floor - 4.0 - (q[kept] - low) / span * (floor - _TOP - 8.0)
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
    parts = []
    for value in dict.fromkeys((low, 0.0, high)):
        if low <= value <= high and (value in (low, high) or min(value - low, high - value) > 0.15 * span):
            at = floor - 4.0 - (value - low) / span * (floor - _TOP - 8.0)
            kind = "zero" if value == 0.0 else "grid"
            parts.append(f'<path class="{kind}" d="M{_LEFT} {at:.1f}H{right}"/>')
            parts.append(_text(_LEFT - 6, at + 4, numeral(value, digits=3), "end"))
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        moment = float(t[0] + share * (t[-1] - t[0]))
        told = f"{numeral(round(moment, 1), digits=3)}\u202fs"
        parts.append(_text(_LEFT + share * (right - _LEFT), _HEIGHT - 6, told, anchor))
    name, words = marked_up(joint), marked_up(f"Command of {joint} over time")
    return (
        f"<figure><figcaption><strong>{name}</strong><span>{marked_up(unit)}</span></figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{words}">'
        f'{"".join(parts)}<path class="curve predicted" d="M{path}"/></svg></figure>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
