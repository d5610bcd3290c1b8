"""Bezier curves cut into parts: where one is split, and within which limits its parts provably stay."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array

HALVINGS = 5
"""A curve is cut into 2⁵ parts, on which Bernstein coefficients exceed it by thousandths of its range."""
_ROUNDING = 1e-9
"""Share of a limit's range that is kept free, far above round-off."""


def split(control: Array, share: float) -> tuple[Array, Array]:
    """The two curves before and after a share of a curve's time (de Casteljau).

    Args:
        control: control points, shape (..., d + 1), any unit.
        share: of the time, between 0 and 1.

    Returns:
        Control points of both curves, shape (..., d + 1), in the unit of the first.
    """
    left, right = np.empty_like(control), np.empty_like(control)
    row = control
    for i in range(control.shape[-1]):
        left[..., i], right[..., -1 - i] = row[..., 0], row[..., -1]
        row = (1.0 - share) * row[..., :-1] + share * row[..., 1:]
    return left, right


def part_coefficients(control: Array, duration: float, order: int) -> Array:
    """Bernstein coefficients of a derivative on equal parts of its time; on each it stays in their hull.

    Args:
        control: control points of n curves, shape (n, d + 1), any unit.
        duration: of the curves, s.
        order: of the derivative, 0 for the curves themselves.

    Returns:
        The coefficients of all parts in turn, shape (n, parts · (d + 1 - order)), in the unit of the control
        points over the order's power of s.
    """
    d = control.shape[1] - 1
    b = math.perm(d, order) / duration**order * np.diff(control, order, axis=1)
    parts = b[:, None]
    for _ in range(HALVINGS):
        parts = np.concatenate(split(parts, 0.5), axis=1)
    return parts.reshape(len(control), -1)


def affine_interval(base: Array, slope: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    r"""The numbers $x_j$ with which every $base_{ji} + slope_i x_j$ is between the limits of j.

    A row without slope is not changed by x, and may lie on a limit: a state may just have reached it.

    Args:
        base: shape (n, m), any unit.
        slope: shape (m,), any unit.
        lower: minus infinity where there is none, shape (n,), unit of the base.
        upper: infinity where there is none, shape (n,), unit of the base.

    Returns:
        The least and the largest, each shape (n,), unit of the base over that of the slope; (∞, -∞) where a
        row without slope is outside.
    """
    moved = slope != 0.0
    room = _ROUNDING * np.where(np.isfinite(upper - lower), upper - lower, 1.0)[:, None]
    low, high = lower[:, None], upper[:, None]
    held = base[:, ~moved]
    outside = ((held < low - room) | (held > high + room)).any(axis=1)
    one, other = (low + room - base[:, moved]) / slope[moved], (high - room - base[:, moved]) / slope[moved]
    least, most = np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)
    return np.where(outside, np.inf, least), np.where(outside, -np.inf, most)
