"""Theorem 13 of Zhang et al. (2025): how far least squares can be off when errors are bounded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import count

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from steelyard.arrays import Array, checked, read_only
from steelyard.cones import LinearProgram
from steelyard.cones.dual_bounds import safe_linear_bound
from steelyard.errors import InputError
from steelyard.inertia import (
    ROUND_OFF,
    check_body,
    from_log_cholesky,
    log_cholesky,
    log_cholesky_hessian,
    log_cholesky_jacobian,
    pseudo_inertia,
    relative_eigenvalue,
)
from steelyard.uncertainty.payload_polytope import BoundedRows

# The linear form of Theorem 13 of Zhang et al. (2025): how far least squares can be off when errors are
# bounded.
#
# With a fixed matrix A the least-squares estimate is linear in the measurements and in the robot's
# parameters. For any L with $L A = 1$, the equations $y = A\theta + B\delta + e$ with $|e| \le b$, $|\delta|
# \le d$ give
#
# $$|\theta - L y| \le |L|\,b + |L B|\,d,$$
#
# and no mean-value theorem is needed. Where the log-Cholesky form of the theorem has a minimiser it is this
# one (`log_cholesky_bounds`). The rows of L are multipliers of the linear programs whose optima are the exact
# interval hull, feasible but not optimal ones: the hull is never wider.

TEN = 10
"""Numbers of a payload."""
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


# Theorem 13 of Zhang et al. (2025) as published: the minimiser in log-Cholesky coordinates and its
# sensitivity.
#
# $$\eta^* = \arg\min_\eta J, \qquad J = \tfrac12 \lVert A P(\eta) - y \rVert^2, \qquad
#   \theta \in P(\eta^*) \pm \big(|S|\,b + |S B|\,d\big), \qquad
#   S = D \Big(\frac{\partial^2 J}{\partial\eta^2}\Big)^{-1} D^T A^T,$$
#
# with $D = \partial P/\partial\eta$ at $\eta^*$: (25), (27) and (42)-(46) of the paper. It is here for
# comparison; it is no guarantee, for two reasons.
#
# P maps all of $\mathbb R^{10}$ onto the *open* cone of possible bodies, one to one and smoothly both ways,
# and the squares are convex in θ. So a local minimiser in η is a global one in θ: **there is a minimiser
# exactly when plain least squares is a possible body, and then it is that body**, $S$ is the pseudo-inverse
# of A, and the bound is the one of `linear_bounds`. Otherwise the squares fall towards the edge of the cone,
# where coordinates are infinite; a solver stops somewhere on the way, and the sensitivity there depends on
# where.
#
# The theorem also asks for the derivative over all measurements that the errors admit, hence for a minimiser
# at each of them. What is released (RAPTOR) takes the derivative at one point, as is done here.

FARTHEST = 50.0
"""Coordinate beyond which no search goes: some are logarithms, and squares of more would overflow."""


class Minimiser(Enum):
    """Where (25) has a minimiser."""

    EVERYWHERE = "at every measurement that the errors admit"
    HERE = "at this measurement, but not shown to be there at every measurement that the errors admit"
    NOWHERE = "at this measurement there is none"


@dataclass(frozen=True, eq=False)
class LogCholeskyBounds:
    """What the published theorem answers, and whether its hypothesis holds; no guarantee.

    Attributes:
        point: the minimiser, or where the search for one stopped, shape (10,), SI.
        half_width: point derivative times the bounds of the errors, infinite where the second derivative is
            singular, shape (10,), SI.
        minimiser: where there is one; only `Minimiser.EVERYWHERE` is the theorem's hypothesis.
        reason: why there is none here, or not everywhere; empty where the hypothesis holds.
        gradient: largest entry of dJ/dη per row at the point, SI.
        condition: condition number of the second derivative there, dimensionless.
    """

    point: Array
    half_width: Array
    minimiser: Minimiser
    reason: str
    gradient: float
    condition: float

    @property
    def lower(self) -> Array:
        """Lower ends, shape (10,), SI."""
        return self.point - self.half_width

    @property
    def upper(self) -> Array:
        """Upper ends, shape (10,), SI."""
        return self.point + self.half_width


def log_cholesky_bounds(
    rows: BoundedRows, *, gradient_tolerance: float = 1e-6, iteration_limit: int = 100
) -> LogCholeskyBounds:
    """Theorem 13 of Zhang et al. (2025) with the derivative at one point, for comparison.

    Where there is no minimiser the search starts from the coordinates zero, as the released program does, and
    both options decide where it stops.

    Args:
        rows: the equations.
        gradient_tolerance: size of the gradient of J per row at which a search stops, SI.
        iteration_limit: most steps of a search.

    Returns:
        The bounds and what their hypothesis is worth.
    """
    A, y = rows.load, rows.target
    # As RAPTOR does, J is taken per row, so that tolerances mean the same for short and long logs.
    triangle = np.asarray(np.linalg.qr(np.column_stack([A, y]), mode="r")) / np.sqrt(max(rows.count, 1))
    R, r = triangle[:, :TEN], triangle[:, TEN]
    plain = least_squares_map(A, np.ones(rows.count)) @ y
    reason = _no_minimiser(R, plain)
    eta = _searched(R, r, gradient_tolerance, iteration_limit) if reason else log_cholesky(plain)
    point, D = from_log_cholesky(eta), log_cholesky_jacobian(eta)
    H = _second_derivative(R, r, eta)
    half_width = np.full(TEN, np.inf)
    condition = float(np.linalg.cond(H))
    if condition < 1.0 / np.finfo(np.float64).eps:
        S = D @ np.linalg.solve(H, D.T @ A.T) / max(rows.count, 1)
        half_width = np.abs(S) @ rows.error + np.abs(S @ rows.robot) @ rows.spread
    minimiser = Minimiser.NOWHERE
    if not reason:
        inside = _stays_possible(plain, half_width)
        minimiser = Minimiser.EVERYWHERE if inside else Minimiser.HERE
        reason = "" if inside else "errors within their bounds may move least squares out of the possible."
    return LogCholeskyBounds(
        read_only(point),
        read_only(half_width),
        minimiser,
        reason,
        float(np.abs(_squares(R, r, eta)[1]).max()),
        condition,
    )


def _no_minimiser(R: Array, plain: Array) -> str:
    """Why (25) has no single minimiser; empty where it has one."""
    lengths = np.linalg.norm(R, axis=0)
    s = np.linalg.svd(R / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False)
    if s.size < TEN or s[-1] <= BLIND * s[0]:
        return "the data does not show all ten numbers."
    if relative_eigenvalue(plain) > ROUND_OFF:
        return ""
    why = " ".join(str(violation) for violation in check_body(plain).reasons) or "it is on the edge."
    return f"least squares is not a possible body, so the squares fall all the way to infinity: {why}"


def _squares(R: Array, r: Array, eta: Array) -> tuple[float, Array]:
    """J and its gradient in the coordinates."""
    w = R @ from_log_cholesky(eta) - r
    return 0.5 * float(w @ w), log_cholesky_jacobian(eta).T @ (R.T @ w)


def _second_derivative(R: Array, r: Array, eta: Array) -> Array:
    """The second derivative of J in the coordinates, (43)."""
    RD = R @ log_cholesky_jacobian(eta)
    slope = R.T @ (R @ from_log_cholesky(eta) - r)
    return np.asarray(RD.T @ RD + np.tensordot(slope, log_cholesky_hessian(eta), 1))


def _searched(R: Array, r: Array, tolerance: float, limit: int) -> Array:
    """Where a trust-region search stops, or the farthest that numbers can follow it."""

    def squares(eta: Array) -> tuple[float, Array]:
        J, slope = _squares(R, r, np.clip(eta, -FARTHEST, FARTHEST))
        return (J if np.abs(eta).max() <= FARTHEST else np.inf), slope

    found = minimize(
        squares,
        np.zeros(TEN),
        jac=True,
        hess=lambda eta: _second_derivative(R, r, np.clip(eta, -FARTHEST, FARTHEST)),
        method="trust-exact",
        options={"gtol": tolerance, "maxiter": limit},
    )
    return np.asarray(found.x, dtype=np.float64)


def _stays_possible(body: Array, half_width: Array) -> bool:
    r"""Whether every point of a box around a possible body is possible.

    With $J(\theta) = C C^T$ it is, where $\lVert \sum_k h_k\,|C^{-1} J_k C^{-T}|\,\rVert_2 < 1$.
    """
    if not np.isfinite(half_width).all():
        return False
    C = np.linalg.cholesky(pseudo_inertia(body))
    turned = np.linalg.solve(C, np.swapaxes(np.linalg.solve(C, pseudo_inertia(np.eye(TEN))), -1, -2))
    return bool(np.linalg.norm(np.tensordot(half_width, np.abs(turned), 1), 2) < 1.0)


# Both forms of Theorem 13 of Zhang et al. (2025) on one set of equations, to stand beside the guaranteed
# bounds.


@dataclass(frozen=True, eq=False)
class Theorem13:
    """What the theorem answers.

    Attributes:
        linear: its linear form, a guarantee; the interval hull of the same equations is nowhere wider.
        log_cholesky: as it is published; a guarantee only where its minimiser exists everywhere.
    """

    linear: LinearBounds
    log_cholesky: LogCholeskyBounds

    @property
    def sentence(self) -> str:
        """Whether the published form has the minimiser that it asks for."""
        found = self.log_cholesky
        if found.minimiser is Minimiser.EVERYWHERE:
            return f"Its log-Cholesky form has its minimiser {found.minimiser.value}: it is the linear form."
        if found.minimiser is Minimiser.HERE:
            return f"Its log-Cholesky form has its minimiser {found.minimiser.value}: no guarantee."
        return f"Its log-Cholesky form has no minimiser, so no guarantee: {found.reason}"


def theorem13_of(rows: BoundedRows) -> Theorem13:
    """Ask both forms of the theorem, with every equation weighted alike as the paper does.

    Args:
        rows: the equations.

    Returns:
        Their answers.
    """
    return Theorem13(linear_bounds(rows), log_cholesky_bounds(rows))
