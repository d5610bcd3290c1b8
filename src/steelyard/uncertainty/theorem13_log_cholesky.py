r"""Paper 000's Theorem 13 as published: the minimiser in log-Cholesky coordinates and its sensitivity.

$$\eta^* = \arg\min_\eta J, \qquad J = \tfrac12 \lVert A P(\eta) - y \rVert^2, \qquad
  \theta \in P(\eta^*) \pm \big(|S|\,b + |S B|\,d\big), \qquad
  S = D \Big(\frac{\partial^2 J}{\partial\eta^2}\Big)^{-1} D^T A^T,$$

with $D = \partial P/\partial\eta$ at $\eta^*$: (25), (27) and (42)-(46) of the paper. It is here for
comparison; it is no guarantee, for two reasons.

P maps all of $\mathbb R^{10}$ onto the *open* cone of possible bodies, one to one and smoothly both ways, and
the squares are convex in θ. So a local minimiser in η is a global one in θ: **there is a minimiser exactly
when plain least squares is a possible body, and then it is that body**, $S$ is the pseudo-inverse of A, and
the bound is the one of `linear_bounds`. Otherwise the squares fall towards the edge of the cone, where
coordinates are infinite; a solver stops somewhere on the way, and the sensitivity there depends on where.

The theorem also asks for the derivative over all measurements that the errors admit, hence for a minimiser at
each of them. What is released (RAPTOR) takes the derivative at one point, as is done here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.optimize import minimize

from steelyard.arrays import Array, read_only
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
from steelyard.uncertainty.bounded_rows import TEN, BoundedRows
from steelyard.uncertainty.theorem13 import BLIND, least_squares_map

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
    """Theorem 13 of paper 000 with the derivative at one point, for comparison.

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
