r"""The linear form of paper 000's Theorem 13: how far least squares can be off when errors are bounded.

With a fixed matrix A the least-squares estimate is linear in the measurements and in the robot's parameters.
For any L with $L A = 1$, the equations $y = A\theta + B\delta + e$ with $|e| \le b$, $|\delta| \le d$ give

$$|\theta - L y| \le |L|\,b + |L B|\,d,$$

and no mean-value theorem is needed. Where the log-Cholesky form of the theorem has a minimiser it is this one
(`log_cholesky_bounds`). The rows of L are multipliers of the linear programs whose optima are the exact
interval hull, feasible but not optimal ones: the hull is never wider.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.cones import LinearProgram, safe_linear_bound
from steelyard.errors import InputError
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows

BLIND = 1e-10
"""A combination of the ten numbers with less than this share of the largest singular value is not shown."""
SLACK, TINY = 1e-9, 1e-200
"""Where the search for a box that holds every solution begins: share of what cancels; for zero data."""
ATTEMPTS = 5
"""How often that box is enlarged before a number counts as unbounded."""


@dataclass(frozen=True, eq=False)
class LinearBounds:
    """Least squares, and how far it can be off.

    Attributes:
        estimate: least squares, shape (10,), SI.
        lower: guaranteed lower ends, minus infinity where the data is blind, shape (10,), SI.
        upper: guaranteed upper ends, infinity where the data is blind, shape (10,), SI.
    """

    estimate: Array
    lower: Array
    upper: Array


def linear_bounds(rows: BoundedRows, weights: ArrayLike | None = None) -> LinearBounds:
    r"""The least-squares estimate $L y$ with $L = (W A)^+ W$ and the intervals of this file.

    They hold in exact arithmetic, although L is only computed: what is left of $L A - 1$ is paid for. A
    number that the data does not show has no bound, nor has one that cannot be told exactly from it.

    Args:
        rows: the equations.
        weights: the diagonal of W, best one over the error of each row, shape (m,), SI; None for ones.

    Returns:
        The bounds.

    Raises:
        InputError: a weight is negative.
    """
    w = np.ones(rows.count) if weights is None else checked("weights", weights, (rows.count,))
    if (w < 0.0).any():
        raise InputError("must not be negative.", place="weights")
    L = least_squares_map(rows.load, w)
    estimate = L @ rows.target
    wide = np.abs(L) @ rows.error + np.abs(L @ rows.robot) @ rows.spread
    size = 2.0 * (np.abs(estimate) + wide) + SLACK * np.abs(L) @ np.abs(rows.target) + TINY
    for attempt in count():
        lower, upper = _ends(rows, L, size)
        # Both ends allow for M = |LA - 1| times any θ in the box. That no θ lies outside it, where they lie
        # inside, follows from M ≥ 0: t = |θ| ≤ u + M t and u + M s < s together give t < s.
        reached = np.maximum(np.abs(lower), np.abs(upper))
        outside = np.isfinite(size) & ~(reached < size)
        if not outside.any():
            break
        size[outside] = 2.0 * reached[outside] if attempt < ATTEMPTS else np.inf
    blind = np.isinf(size)
    return LinearBounds(
        read_only(estimate),
        read_only(np.where(blind, -np.inf, lower)),
        read_only(np.where(blind, np.inf, upper)),
    )


def least_squares_map(load: Array, weights: Array) -> Array:
    r"""The matrix $L = (W A)^+ W$ that gives the weighted least-squares estimate.

    Args:
        load: A, shape (m, 10), SI.
        weights: the diagonal of W, shape (m,), SI.

    Returns:
        L, shape (10, m), SI; combinations that the data does not show get zero.
    """
    A = weights[:, None] * load
    lengths = np.linalg.norm(A, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(np.linalg.pinv(A / lengths, rcond=BLIND) * weights / lengths[:, None])


def _ends(rows: BoundedRows, L: Array, size: Array) -> tuple[Array, Array]:
    """Weak duality with the rows of L as multipliers, for every θ with |θ| at most `size`."""
    polytope = LinearProgram(
        np.hstack([rows.load, rows.robot]),
        np.nextafter(rows.target - rows.error, -np.inf),
        np.nextafter(rows.target + rows.error, np.inf),
        np.concatenate([-size, -rows.spread]),
        np.concatenate([size, rows.spread]),
    )
    unit = np.eye(polytope.variables)[:TEN]
    lower = np.array([safe_linear_bound(polytope, c, y) for c, y in zip(unit, L, strict=True)])
    upper = np.array([-safe_linear_bound(polytope, -c, -y) for c, y in zip(unit, L, strict=True)])
    return lower, upper
