r"""The entropic fit at one strength: a smooth convex problem, solved by damped primal-dual Newton steps.

$$\min_x\; \tfrac12\lVert A x - b\rVert^2 + \tfrac{\gamma}{2} D(x, x_0), \qquad
  D = \sum_i \mathrm{tr}(J_{0i}^{-1} J_i) - \log\det(J_{0i}^{-1} J_i) - 4
    + \sum_k \frac{x_k}{x_{0k}} - \log\frac{x_k}{x_{0k}} - 1$$

with links i and the drive terms k that cannot be negative and have a positive prior. With $S$ the slacks of
both and $Z = \tfrac\gamma2 S^{-1}$, the gradient vanishes when

$$A^T(Ax - b) + \tfrac\gamma2 J^*(S_0^{-1}) = J^*(Z), \qquad S Z = \tfrac\gamma2 \mathbb 1 .$$

Newton's method on x alone runs into the edge when the prior is weak; on x and Z together it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from steelyard.arrays import Array, IntArray
from steelyard.consistency import Slack, SlackMap
from steelyard.errors import SolverError

ITERATION_LIMIT = 100
_GAP = 1e-10
_ROUND_OFF = 1e-12
_SHRINK = 0.1
_TO_THE_EDGE = 0.95


@dataclass(frozen=True, eq=False)
class EntropicPoint:
    """The solution at one strength.

    Attributes:
        x: scaled parameters, shape (p,), dimensionless.
        squares: the squared residual, SI.
        divergence: D, dimensionless.
        gap: what the objective is at most above its optimum, relative to it, dimensionless.
        iterations: number of steps.
    """

    x: Array
    squares: float
    divergence: float
    gap: float
    iterations: int


def entropic_point(
    matrix: Array,
    target: Array,
    strength: float,
    inside: SlackMap,
    centre: Array,
    start: Array,
    free: IntArray,
    least: float,
) -> EntropicPoint:
    """Solve the problem of this file.

    Args:
        matrix: A, shape (k, p), SI.
        target: b, shape (k,), SI.
        strength: gamma, positive, SI.
        inside: the slacks that the divergence is about.
        centre: x_0, strictly inside, shape (p,), dimensionless.
        start: a point strictly inside to begin with, shape (p,), dimensionless.
        free: indices of the parameters that may move, shape (n,), dimensionless.
        least: values of the objective below this are as good as zero, SI.

    Returns:
        The solution.

    Raises:
        SolverError: it was not reached.
    """
    A, b, half, x = matrix, target, 0.5 * strength, start
    P = (A.T @ A)[np.ix_(free, free)]
    root_0 = inside.value(centre).inverse_root()
    pull_0, S = half * inside.adjoint(root_0.squared()), inside.value(x)
    w = A @ x - b
    Z = max(0.1 * float(w @ w) / S.order, half) * S.inverse_root().squared()
    for iteration in range(ITERATION_LIMIT):
        w = A @ x - b
        g = A.T @ w + pull_0
        roots = S.joined(Z).inverse_root()
        inverse = roots.first_half().squared()
        leftover = float(np.abs(g - inside.adjoint(Z))[free] @ np.maximum(1.0, np.abs(x[free])))
        gap = leftover + _apart(S, Z, roots, half)
        divergence = _divergence(S, root_0, roots.first_half())
        value = 0.5 * float(w @ w) + half * divergence
        # The logarithms of a strong pull lose digits to each other.
        if gap <= _GAP * max(value, least) + _ROUND_OFF * half * S.order:
            return EntropicPoint(x, float(w @ w), divergence, gap / max(value, least), iteration)
        mu = max(half, _SHRINK * S.dot(Z) / S.order)
        H = P + inside.curvature(inverse, Z)[np.ix_(free, free)]
        dx = np.zeros_like(x)
        dx[free] = _solved(H, (mu * inside.adjoint(inverse) - g)[free])
        dS = inside.change(dx)
        dZ = mu * inverse - Z - inverse.product(dS, Z)
        t = min(1.0, _TO_THE_EDGE * roots.room(dS.joined(dZ)))
        x, S, Z = x + t * dx, S + t * dS, Z + t * dZ
    raise SolverError(
        f"the entropic fit of strength {strength:.2g} did not settle in {ITERATION_LIMIT} steps; "
        f"a gap of {gap:.1e} is left of {value:.1e}.",
        remedy="Use a larger strength, or `fit_lmi` where the prior should hardly count.",
        evidence={"strength": strength, "gap": gap, "value": value},
    )


def _apart(S: Slack, Z: Slack, roots: Slack, half: float) -> float:
    r"""The gap $\langle S, Z\rangle - h\,(\log\det SZ + n - n\log h)$ with $h = \gamma/2$."""
    return abs(S.dot(Z) + half * (_log_det(roots) + S.order * (float(np.log(half)) - 1.0)))


def _log_det(root: Slack) -> float:
    r"""Of the inverse, $\log\det G^T G$."""
    diagonals = np.diagonal(root.matrices, axis1=1, axis2=2)
    return 2.0 * float(np.log(np.abs(diagonals)).sum() + np.log(root.numbers).sum())


def _divergence(S: Slack, root_0: Slack, root: Slack) -> float:
    return root_0.squared().dot(S) + _log_det(root) - _log_det(root_0) - S.order


def _solved(H: Array, g: Array) -> Array:
    try:
        return np.asarray(cho_solve(cho_factor(H), g))
    except LinAlgError:  # What neither data nor prior says anything about stays where it is.
        return np.asarray(np.linalg.lstsq(H, g, rcond=None)[0])
