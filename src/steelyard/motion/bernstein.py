"""Polynomials in Bernstein form, whose coefficients enclose them: proven extrema, and parts of curves."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from steelyard.arrays import Array, IntArray, read_only

# Polynomials in Bernstein form, whose coefficients enclose them: proven extrema by subdivision.
#
# On $s \in [0, 1]$, $p(s) = \sum_i b_i \binom{d}{i} s^i (1-s)^{d-i}$ lies between the smallest and the
# largest coefficient, and $b_0$, $b_d$ are its values at the ends. Halving the interval (de Casteljau) brings
# the coefficients quadratically closer to the polynomial; halves that cannot hold the extremum are dropped.

TIGHTNESS = 1e-6
"""How far a proven extremum may lie beyond the true one, as a share of the values' spread."""
_MOST_HALVINGS = 40


@cache
def from_centred_powers(degree: int) -> Array:
    r"""Bernstein coefficients of the powers $(2s - 1)^k$, k = 0 … d.

    $(2s-1)^k = (s - (1-s))^k$ has the coefficients $(-1)^{k-i}$ at degree k; they are then raised to degree
    d, one by one: $b_i \gets \tfrac{i}{k+1} b_{i-1} + (1 - \tfrac{i}{k+1}) b_i$. None exceeds 1 in size.

    Args:
        degree: d.

    Returns:
        One row for each power, shape (d + 1, d + 1), dimensionless.
    """
    rows = np.empty((degree + 1, degree + 1))
    for k in range(degree + 1):
        b = (-1.0) ** np.arange(k, -1, -1)
        for n in range(k + 1, degree + 1):
            share = np.arange(n + 1) / n
            b = share * np.append(0.0, b) + (1.0 - share) * np.append(b, 0.0)
        rows[k] = b
    return read_only(rows)


def from_taylor(derivatives: Array, half_width: Array) -> Array:
    r"""Bernstein coefficients of Taylor polynomials about the middles of their intervals.

    $p(m + h x) = \sum_k \frac{f^{(k)}(m)\,h^k}{k!}\,x^k$ with $x = 2s - 1$.

    Args:
        derivatives: f, f', … at the middles, shape (d + 1, K, nv), SI.
        half_width: h, shape (K,), s.

    Returns:
        The coefficients, shape (K, nv, d + 1), in the unit of f.
    """
    degree = len(derivatives) - 1
    factor = np.stack([half_width**k / math.factorial(k) for k in range(degree + 1)])
    terms = derivatives * factor[:, :, None]
    return np.tensordot(terms, from_centred_powers(degree), axes=(0, 0))


def largest_values(coefficients: Array, group: IntArray, groups: int) -> Array:
    """Upper bounds of groups of polynomials, never below the truth but for round-off.

    Args:
        coefficients: of each polynomial, shape (P, d + 1), any unit.
        group: which group each belongs to, shape (P,), dimensionless.
        groups: how many there are; each has a polynomial.

    Returns:
        A bound that no polynomial of the group exceeds, and that exceeds the largest value by at most
        `TIGHTNESS` of the values' spread in the group and a few units in the coefficients' last place, shape
        (groups,), in the unit of the coefficients.
    """
    noise = np.zeros(groups)
    np.maximum.at(noise, group, 16.0 * np.finfo(np.float64).eps * np.abs(coefficients).max(axis=1))
    reached, lowest, bound = np.full(groups, -np.inf), np.full(groups, np.inf), np.full(groups, -np.inf)
    b, g = coefficients, group
    for halving in range(_MOST_HALVINGS + 1):
        ends = b[:, [0, -1]]
        np.maximum.at(reached, g, ends.max(axis=1))
        np.minimum.at(lowest, g, ends.min(axis=1))
        enough = reached + TIGHTNESS * (reached - lowest) + noise
        hull = b.max(axis=1)
        open_still = hull > enough[g]
        if halving == _MOST_HALVINGS:
            open_still[:] = False
        np.maximum.at(bound, g[~open_still], hull[~open_still])
        if not open_still.any():
            break
        b, g = _halved(b[open_still]), np.tile(g[open_still], 2)
    return bound


def _halved(b: Array) -> Array:
    """Coefficients on the left halves, then on the right ones, (2 P, d + 1)."""
    left, right = np.empty_like(b), np.empty_like(b)
    row = b
    for i in range(b.shape[1]):
        left[:, i], right[:, -1 - i] = row[:, 0], row[:, -1]
        row = 0.5 * (row[:, :-1] + row[:, 1:])
    return np.concatenate((left, right))


# Bezier curves cut into parts: where one is split, and within which limits its parts provably stay.

HALVINGS = 5
"""A curve is cut into 2⁵ parts, on which Bernstein coefficients exceed it by thousandths of its range."""
_ROUNDING = 1e-9
"""Share of a limit's range that is kept free, far above round-off."""


def split_bezier(control: Array, share: float) -> tuple[Array, Array]:
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
        parts = np.concatenate(split_bezier(parts, 0.5), axis=1)
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
