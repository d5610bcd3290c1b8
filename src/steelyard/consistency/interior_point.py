r"""Least squares over possible parameters: a primal-dual interior-point method made for links.

Minimise over y, with $x = x_0 + N y$,

$$\tfrac12 \lVert A y - b \rVert^2 \quad\text{subject to}\quad
  S_i(x) = J(x_i) - F_i \succeq 0, \qquad s_j(x) = \sigma_j x_{k_j} - c_j \ge 0 .$$

With multipliers $Z_i \succeq 0$, $z_j \ge 0$, an optimum satisfies

$$A^T(Ay - b) = N^T\Big(\sum_i J^*(Z_i) + \sum_j \sigma_j z_j e_{k_j}\Big), \qquad S_i Z_i = 0, \quad
  s_j z_j = 0 .$$

Newton's method is applied to this with $S_i Z_i = \sigma\mu\,\mathbb 1$ (the direction of Helmberg, Rendl,
Vanderbei and Wolkowicz), with Mehrotra's prediction and correction. Its matrix is $A^T A$ plus one 10 x 10
block per link, so a step costs one Cholesky factorisation of the size of y; the gradient is taken from the
factor A and keeps the digits that $A^T A$ loses. A start outside the constraints is given slacks of its own,
and the difference is closed on the way.

Where the data is blind the optimum is not unique, and the optima may reach to infinity. The cones make the
matrix of the step positive definite there too, and a step along such a direction is a fraction of the slack:
the method ends within reach of its start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from steelyard.arrays import Array
from steelyard.consistency.slack import Slack, SlackMap
from steelyard.errors import NoSolutionError

ITERATION_LIMIT = 100
REDUCED = 1e-5
"""Largest gap relative to the value that is returned at all, where round-off keeps the asked one away."""
_TO_THE_EDGE = 0.98
_CLOSED = 1e-11


@dataclass(frozen=True, eq=False)
class ConicFit:
    """An optimum of least squares over possible parameters, with the multipliers that support it.

    Attributes:
        x: the scaled parameters, shape (p,), dimensionless.
        value: half the squared residual, SI.
        gap: what the value is at most above the optimum, for optima within the size of x from x, SI.
        slack: of every constraint.
        multipliers: of every constraint.
        iterations: number of steps.
        full_accuracy: whether the gap is within the tolerance asked for.
    """

    x: Array
    value: float
    gap: float
    slack: Slack
    multipliers: Slack
    iterations: int
    full_accuracy: bool


def minimise_over_possible(
    matrix: Array,
    target: Array,
    constraints: SlackMap,
    start: Array,
    basis: Array | None = None,
    *,
    least: float,
    tolerance: float = 1e-10,
) -> ConicFit:
    r"""Solve the program of this file.

    Args:
        matrix: A, shape (k, n), SI.
        target: b, shape (k,), SI.
        constraints: S and s as functions of x.
        start: x_0, shape (p,), dimensionless.
        basis: N, shape (p, n), dimensionless; None for the identity.
        least: values below this are as good as zero, SI.
        tolerance: gap allowed, relative to the value or to `least`, whichever is more.

    Returns:
        The optimum; its slacks are strictly inside.

    Raises:
        NoSolutionError: the gap could not be closed to `REDUCED`, or the constraints contradict each other.
    """
    A, b, N = matrix, target, basis
    P, x, y, w = A.T @ A, start, np.zeros(A.shape[1]), -b
    S = constraints.value(x).inside()
    Z = max(0.1 * float(w @ w), least) / S.order * S.inverse_root().squared()
    for iteration in range(ITERATION_LIMIT):
        g = A.T @ w
        pull = _onto(N, constraints.adjoint(Z))
        value, complementary = 0.5 * float(w @ w), S.dot(Z)
        gap = complementary + float(np.abs(g - pull) @ np.maximum(1.0, np.abs(y)))
        outside = constraints.value(x) - S
        allowed, closed = tolerance * max(value, least), outside.largest <= _CLOSED * S.largest
        fit = ConicFit(x, value, gap, S, Z, iteration, gap <= allowed)
        if closed and fit.full_accuracy:
            return fit
        if closed and complementary <= 1e-3 * allowed:
            break  # Only round-off is left of the gap.
        try:
            roots = S.joined(Z).inverse_root()
        except np.linalg.LinAlgError:
            break
        mu, inverse = complementary / S.order, roots.first_half().squared()
        H = P + _between(N, constraints.curvature(inverse, Z))
        factor = _factorised(H)
        missing = inverse.product(outside, Z)
        # Prediction: straight at complementarity zero.
        dy = dpotrs(factor, -g - _onto(N, constraints.adjoint(missing)), lower=1)[0]
        dS = constraints.change(_along(N, dy)) + outside
        dZ = -1.0 * (Z + inverse.product(dS, Z))
        t = min(1.0, roots.room(dS.joined(dZ)))
        sigma = ((S + t * dS).dot(Z + t * dZ) / complementary) ** 3
        # Correction: at what the prediction promises, with the product of its changes taken off.
        aim = sigma * mu * inverse - inverse.product(dS, dZ)
        right = _onto(N, constraints.adjoint(aim - missing)) - g
        dy = dpotrs(factor, right, lower=1)[0]
        dy = dy + dpotrs(factor, right - H @ dy, lower=1)[0]
        dS = constraints.change(_along(N, dy)) + outside
        dZ = aim - Z - inverse.product(dS, Z)
        t = min(1.0, _TO_THE_EDGE * roots.room(dS.joined(dZ)))
        y = y + t * dy
        x, w, S, Z = start + _along(N, y), A @ y - b, S + t * dS, Z + t * dZ
    if closed and fit.gap <= REDUCED * max(fit.value, least):
        return fit
    raise NoSolutionError(
        f"no best possible vector was found: after {fit.iterations} steps a gap of {fit.gap:.1e} is left "
        f"of a value of {fit.value:.1e}, constraints are missed by {outside.largest:.1e}.",
        place="possible parameters",
        remedy="Check that bounds and fixed parameters leave room for a body, and the size of the prior.",
        evidence={"gap": fit.gap, "value": fit.value, "missed": outside.largest},
    )


def _along(N: Array | None, y: Array) -> Array:
    return y if N is None else np.asarray(N @ y)


def _onto(N: Array | None, pull: Array) -> Array:
    return pull if N is None else np.asarray(N.T @ pull)


def _between(N: Array | None, H: Array) -> Array:
    return H if N is None else np.asarray(N.T @ H @ N)


def _factorised(H: Array) -> Array:
    """The Cholesky factor; a matrix singular up to round-off is raised by round-off, which shortens steps."""
    # H is symmetric; its transpose is in the order LAPACK reads.
    factor, failed = dpotrf(H.T, lower=1)
    raised = np.finfo(float).eps * float(np.trace(H))
    while failed:
        factor, failed = dpotrf((H + raised * np.eye(len(H))).T, lower=1)
        raised *= 10.0
    return np.asarray(factor)
