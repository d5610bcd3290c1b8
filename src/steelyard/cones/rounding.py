r"""Floating-point results with a proven bound on their error.

With unit round-off $u = 2^{-53}$ and $\gamma_k = k u / (1 - k u)$, a computed inner product of length k is
off by at most $\gamma_k \sum |a_i b_i|$ whatever the order of summation and with or without fused
operations (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), plus what underflow takes.
Single operations are rounded to nearest, so their neighbour below is a lower bound.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array

UNIT = 2.0**-53
# The smallest normal number, not the smallest subnormal: valid too where subnormals are flushed to zero.
UNDERFLOW = float(np.finfo(np.float64).tiny)


def below(values: Array) -> Array:
    """The next numbers towards minus infinity.

    Args:
        values: any shape and unit.

    Returns:
        Their neighbours, same shape and unit.
    """
    lower: Array = np.nextafter(values, -np.inf) - UNDERFLOW
    return lower


def above(values: Array) -> Array:
    """The next numbers towards infinity.

    Args:
        values: any shape and unit.

    Returns:
        Their neighbours, same shape and unit.
    """
    return -below(-values)


def product(left: Array, right: Array) -> tuple[Array, Array]:
    """A matrix product and a bound on its error.

    Args:
        left: shape (..., k), any unit.
        right: shape (k,) or (k, m), any unit.

    Returns:
        The computed product, and the radius around it that holds the exact one, same shape and unit.
    """
    terms = (left != 0.0).astype(np.float64) @ (right != 0.0).astype(np.float64)
    # 1.2 covers the rounding of the radius itself and the denominator of gamma for any length below 1e12.
    # Where every term is zero the product is exact, and so is its radius.
    radius = 1.2 * (terms + 2.0) * UNIT * (np.abs(left) @ np.abs(right)) + 4.0 * terms * UNDERFLOW
    return left @ right, radius


def total_below(*terms: Array) -> float:
    """A lower bound on the sum of all terms, minus infinity when one of them is not a number.

    Args:
        *terms: numbers to be added, each of any shape, same unit.

    Returns:
        A number just below the exact sum, whatever cancels in it.
    """
    values = np.concatenate([np.ravel(term) for term in terms])
    if np.isnan(values).any() or (values == -np.inf).any():
        return -math.inf
    try:
        return math.nextafter(math.fsum(values), -math.inf)
    except OverflowError:
        return -math.inf


def least_over_box(centre: Array, radius: Array, lower: Array, upper: Array) -> Array:
    r"""Lower bounds on $d_j x_j$ for every $d_j$ within its radius and every $x_j$ in its interval.

    Args:
        centre: middle of d, shape (n,), any unit.
        radius: half-width of d, shape (n,), same unit.
        lower: lower end of x, minus infinity allowed, shape (n,), any unit.
        upper: upper end of x, infinity allowed, shape (n,), any unit.

    Returns:
        The bounds, shape (n,), unit of the products; minus infinity where there is none.
    """
    low, high = below(centre - radius), above(centre + radius)
    # What is known exactly gets no slack, so that a zero lets an unbounded variable pass.
    exact = radius == 0.0
    low, high = np.where(exact, centre, low), np.where(exact, centre, high)
    with np.errstate(invalid="ignore", over="ignore"):
        corners = np.stack([low * lower, low * upper, high * lower, high * upper])
    factors = np.stack([low, low, high, high])
    least: Array = np.where(factors == 0.0, 0.0, below(corners)).min(axis=0)
    return least


def least_eigenvalue_below(matrix: Array) -> float:
    r"""A proven lower bound on the least eigenvalue of a symmetric matrix.

    For any σ and any factor L, $M = \sigma I + L^T L + E$ gives
    $\lambda_{\min}(M) \ge \sigma - \|E\|_\infty$. An approximate eigendecomposition proposes σ and L; E is
    evaluated with its round-off, so nothing is assumed about how well the decomposition was computed.

    Args:
        matrix: M, exactly symmetric, shape (d, d), any unit.

    Returns:
        The bound, unit of the matrix.
    """
    values, vectors = np.linalg.eigh(matrix)
    sigma = float(values[0])
    L = np.sqrt(np.maximum(values - sigma, 0.0))[:, None] * vectors.T
    square, radius = product(L.T, L)
    shifted = matrix - sigma * np.eye(matrix.shape[0])
    difference = shifted - square
    E = np.abs(difference) + radius + 2.0 * UNIT * (np.abs(shifted) + np.abs(difference)) + 2.0 * UNDERFLOW
    norm = float(above(E.sum(axis=1) * (1.0 + 2.0 * (matrix.shape[0] + 4) * UNIT)).max())
    return math.nextafter(sigma - norm, -math.inf)
