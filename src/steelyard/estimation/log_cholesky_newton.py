r"""Newton's method in a trust region, for squares of linear equations in log coordinates.

$$f(\eta) = \lVert A\,x(\eta) - b\rVert^2, \qquad \tfrac12\nabla f = D^T A^T w, \qquad
  \tfrac12\nabla^2 f = D^T A^T A\, D + \sum_n (A^T w)_n \nabla^2 x_n, \qquad w = A x - b .$$

Each step minimises the quadratic model exactly within a ball, from the eigenvalues of the Hessian, so
indefinite and singular Hessians need no special care: along what the data does not see nothing moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from steelyard.arrays import Array
from steelyard.estimation.log_cholesky_coordinates import LogCoordinates

_WORTH = 1e-10
_NEGLIGIBLE = 1e-24


@dataclass(frozen=True, eq=False)
class TrustRegionResult:
    """Where the search ended.

    Attributes:
        coordinates: eta, shape (n,), dimensionless.
        squares: the squared residual, SI.
        gradient: largest entry of half the gradient, SI.
        iterations: number of steps tried.
        status: "converged", or "iteration limit".
    """

    coordinates: Array
    squares: float
    gradient: float
    iterations: int
    status: str


def minimise_squares(
    matrix: Array, target: Array, coordinates: LogCoordinates, start: Array, iteration_limit: int
) -> TrustRegionResult:
    """Minimise the squares of this file.

    Args:
        matrix: A, shape (k, p), SI.
        target: b, shape (k,), SI.
        coordinates: the map x.
        start: eta, shape (n,), dimensionless.
        iteration_limit: most steps.

    Returns:
        The end of the search.
    """
    A, b, eta, radius = matrix, target, start, 1.0
    at, P = coordinates.places, A.T @ A
    P = P[np.ix_(at, at)]
    worth = _NEGLIGIBLE * float(b @ b)
    w = A @ coordinates.x(eta) - b
    value, moved, status, iterations = float(w @ w), True, "iteration limit", 0
    for _ in range(iteration_limit):
        iterations += 1
        if moved:
            slope = A.T @ w
            D, second = coordinates.derivatives(eta, slope)
            g, H = D.T @ slope[at], D.T @ P @ D + second
            eigenvalues, V = np.linalg.eigh(H)
        step = V @ _within(eigenvalues, V.T @ g, radius)
        promised = -float(2.0 * g @ step + step @ H @ step)
        if promised <= _WORTH * value + worth:
            status = "converged"
            break
        trial = A @ coordinates.x(eta + step) - b
        gained = (value - float(trial @ trial)) / promised
        moved = gained > 1e-4
        length = float(np.linalg.norm(step))
        radius = 0.25 * length if gained < 0.25 else max(radius, 3.0 * length) if gained > 0.75 else radius
        if moved:
            eta, w, value = eta + step, trial, float(trial @ trial)
    return TrustRegionResult(eta, value, float(np.abs(g).max()), iterations, status)


def _within(eigenvalues: Array, g: Array, radius: float) -> Array:
    r"""The minimiser of $2 g^T p + p^T \Lambda p$ with $|p| \le$ radius, in the eigenvectors' axes."""
    scale = float(np.abs(eigenvalues).max()) or 1.0
    # A direction the data does not see has a curvature and a slope of round-off: it is left alone.
    blind = np.abs(eigenvalues) <= 1e-13 * scale
    lam, slope = eigenvalues[~blind], g[~blind]
    step = np.zeros_like(g)

    def length(shift: float) -> float:
        return float(np.linalg.norm(slope / (lam + shift)))

    if lam.size == 0:
        return step
    low = max(0.0, -float(lam[0]) * (1.0 + 1e-12) + 1e-15 * scale) if lam[0] < 0 else 0.0
    if low == 0.0 and length(0.0) <= radius:
        step[~blind] = -slope / lam
        return step
    high = low + float(np.linalg.norm(slope)) / radius
    if length(low) <= radius:  # The hard case: fill up along the lowest direction.
        part = -slope / (lam + low)
        part[0] += np.sqrt(max(radius**2 - float(part @ part), 0.0))
        step[~blind] = part
        return step
    shift = brentq(lambda s: length(s) - radius, low, high, xtol=1e-14 * max(high, 1e-300), rtol=1e-10)
    step[~blind] = -slope / (lam + shift)
    return step
