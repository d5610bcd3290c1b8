"""Measured against predicted torque, one row per joint, as a self-contained SVG picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from steelyard.arrays import Array, checked

_WIDTH, _ROW, _LEFT, _RIGHT, _TOP, _GAP = 930, 86, 148, 96, 74, 12
_POINTS = 400
_INK, _QUIET, _MEASURED, _PREDICTED, _RESIDUAL = "#1f2933", "#7b8794", "#9fb3c8", "#c2410c", "#0f766e"


def torque_figure(
    time: Array,
    measured: Array,
    predicted: Array,
    *,
    joints: Sequence[str],
    units: Sequence[str],
    errors: Sequence[float],
    title: str,
) -> str:
    """Draw torques over time.

    Args:
        time: shape (N,), s.
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.
        joints: a name per joint.
        units: a unit per joint.
        errors: relative error per joint, percent.
        title: what the picture shows.

    Returns:
        The SVG text.
    """
    nv = len(joints)
    time = checked("time", time, ("N",))
    tau = checked("measured", measured, (time.size, nv))
    tau_hat = checked("predicted", predicted, (time.size, nv))
    height = _TOP + nv * (_ROW + _GAP) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(_LEFT, 26, title, size=17, weight=600),
        *_legend(),
    ]
    for j, joint in enumerate(joints):
        top = _TOP + j * (_ROW + _GAP)
        parts += _row(time, tau[:, j], tau_hat[:, j], top, joint, units[j], errors[j])
    parts += _time_axis(time, _TOP + nv * (_ROW + _GAP))
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> list[str]:
    parts = []
    for k, (label, colour, width) in enumerate(
        (("measured", _MEASURED, 5.0), ("predicted", _PREDICTED, 1.3), ("difference", _RESIDUAL, 1.0))
    ):
        x = _LEFT + 110 * k
        parts.append(f'<path d="M{x} 46h24" stroke="{colour}" stroke-width="{width}"/>')
        parts.append(_text(x + 30, 50, label, colour=_QUIET))
    return parts


def _row(
    time: Array, tau: Array, tau_hat: Array, top: float, joint: str, unit: str, error: float
) -> list[str]:
    low, high = float(min(tau.min(), tau_hat.min(), 0.0)), float(max(tau.max(), tau_hat.max(), 0.0))
    span = (high - low) or 1.0

    def x_of(t: Array) -> Array:
        return np.asarray(_LEFT + (t - time[0]) / (time[-1] - time[0]) * (_WIDTH - _LEFT - _RIGHT))

    def y_of(value: Array) -> Array:
        return np.asarray(top + _ROW - (value - low) / span * _ROW)

    shown = np.unique(np.linspace(0, time.size - 1, min(_POINTS, time.size)).astype(int))
    zero = float(y_of(np.zeros(1))[0])
    right = _WIDTH - _RIGHT
    parts = [
        f'<path d="M{_LEFT} {zero:.1f}H{right}" stroke="#d9e2ec"/>',
        _text(_LEFT - 12, top + _ROW / 2, joint, anchor="end", weight=600),
        _text(_LEFT - 12, top + _ROW / 2 + 16, f"{low:.3g} … {high:.3g} {unit}", anchor="end", colour=_QUIET),
        _text(right + 12, top + _ROW / 2 + 4, f"{error:.2g} %", weight=600),
    ]
    for values, colour, width in (
        (tau, _MEASURED, 5.0),
        (tau_hat, _PREDICTED, 1.3),
        (tau - tau_hat, _RESIDUAL, 1.0),
    ):
        points = zip(x_of(time[shown]), y_of(values[shown]), strict=True)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
            'stroke-linejoin="round"/>'
        )
    return parts


def _time_axis(time: Array, y: float) -> list[str]:
    right = _WIDTH - _RIGHT
    parts = [f'<path d="M{_LEFT} {y}H{right}" stroke="{_QUIET}"/>']
    for fraction in np.linspace(0.0, 1.0, 6):
        x = _LEFT + fraction * (right - _LEFT)
        value = time[0] + fraction * (time[-1] - time[0])
        parts.append(f'<path d="M{x:.1f} {y}v4" stroke="{_QUIET}"/>')
        parts.append(_text(x, y + 18, f"{value:.3g} s", anchor="middle", colour=_QUIET))
    return parts


def _text(
    x: float,
    y: float,
    content: str,
    *,
    size: int = 12,
    weight: int = 400,
    anchor: str = "start",
    colour: str = _INK,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{colour}">{escape(content)}</text>'
    )
