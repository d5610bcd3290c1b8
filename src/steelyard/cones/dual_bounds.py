"""Lower bounds on an optimum that hold in exact arithmetic, whatever rounding did to the multipliers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.cones.program import (
    AtMost,
    ConeProgram,
    Constraint,
    Equal,
    Exponential,
    LinearProgram,
    SecondOrder,
    Semidefinite,
    checked_interval,
)
from steelyard.errors import ShapeError, SolverError

# Floating-point results with a proven bound on their error.
#
# With unit round-off $u = 2^{-53}$ and $\gamma_k = k u / (1 - k u)$, a computed inner product of length k is
# off by at most $\gamma_k \sum |a_i b_i|$ whatever the order of summation and with or without fused
# operations (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), plus what underflow takes.
# Single operations are rounded to nearest, so their neighbour below is a lower bound.

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


def rounded_product(left: Array, right: Array) -> tuple[Array, Array]:
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
    square, radius = rounded_product(L.T, L)
    shifted = matrix - sigma * np.eye(matrix.shape[0])
    difference = shifted - square
    E = np.abs(difference) + radius + 2.0 * UNIT * (np.abs(shifted) + np.abs(difference)) + 2.0 * UNDERFLOW
    norm = float(above(E.sum(axis=1) * (1.0 + 2.0 * (matrix.shape[0] + 4) * UNIT)).max())
    return math.nextafter(sigma - norm, -math.inf)


# Nearly feasible multipliers moved into the dual cone, provably inside.


def repaired(constraint: Constraint, multiplier: Array) -> Array:
    """A multiplier close to the given one that lies in the constraint's dual cone in exact arithmetic.

    Args:
        constraint: decides the cone.
        multiplier: candidate, in the constraint's natural shape, any unit.

    Returns:
        The multiplier inside the cone, same shape and unit.
    """
    match constraint:
        case Equal():
            return multiplier
        case AtMost():
            return np.maximum(multiplier, 0.0)
        case SecondOrder():
            return _second_order(multiplier)
        case Semidefinite():
            return _semidefinite(multiplier)
        case Exponential():
            return np.array([_exponential(*triple) for triple in multiplier.tolist()]).reshape(-1, 3)


def _second_order(z: Array) -> Array:
    raised = z.copy()
    raised[0] = max(z[0], _norm_above(z[1:]))
    return raised


def _norm_above(vector: Array) -> float:
    if not vector.any():
        return 0.0
    k = vector.size
    # The last term is what squares that underflow can hide.
    return float(np.linalg.norm(vector) * (1.0 + 2.0 * (k + 4) * UNIT) + 2.0 * k * math.sqrt(UNDERFLOW))


def _semidefinite(z: Array) -> Array:
    Z = 0.5 * (z + z.T)
    shift = 0.0
    for _ in range(60):
        least = least_eigenvalue_below(Z)
        if least >= 0.0:
            return Z
        shift = 2.0 * max(shift, -least)
        Z = Z + shift * np.eye(Z.shape[0])
    raise SolverError(
        "no shift of its eigenvalues makes this multiplier provably positive semidefinite.",
        remedy="Scale the program: the multiplier's entries are too large.",
        evidence={"multiplier": z},
    )


def _exponential(p: float, q: float, r: float) -> tuple[float, float, float]:
    r"""Raise r to $-p\,e^{q/p - 1}$, or drop p where that is out of range."""
    if p < 0.0:
        ratio = q / p
        if ratio < 600.0:
            # The exponent is computed within 3 u (1 + |q/p|), and libm's exp is taken to be good to 8 u.
            exponent = ratio - 1.0 + 4.0 * UNIT * (1.0 + abs(ratio))
            least = -p * math.exp(exponent) * (1.0 + 16.0 * UNIT) + 2.0 * UNDERFLOW
            if math.isfinite(least):
                return p, q, max(r, least)
    return 0.0, max(q, 0.0), max(r, 0.0)


# Lower bounds on an optimum that hold in exact arithmetic, from multipliers that are only approximate.
#
# Weak duality makes *any* multipliers inside the dual cones give a lower bound on the optimum, as long as the
# leftover gradient d is paid for. An exact dual solution has d = 0; an approximate one has a small d, whose
# least product with x over a box that holds x costs little. Every step is rounded downwards (`rounding`), so
# the result needs no trust in the solver: a bad multiplier gives a weak bound, never a wrong one. The linear
# case is due to Neumaier and Shcherbina (Safe bounds in linear and mixed-integer linear programming, 2004),
# the conic one to Jansson, Chaykin and Keil (Rigorous error bounds for the optimal value in semidefinite
# programming, 2007).


def safe_linear_bound(program: LinearProgram, objective: ArrayLike, row_duals: ArrayLike) -> float:
    r"""A lower bound on $\min c^T x$ over $\underline b \le A x \le \overline b$, $l \le x \le u$.

    For any y, with $d = c - A^T y$ and for every feasible x,

    $$c^T x = y^T A x + d^T x \ge \sum_i \min(y_i \underline b_i, y_i \overline b_i)
      + \sum_j \min(d_j l_j, d_j u_j).$$

    An entry of y that leans on an infinite row bound is replaced by zero. A variable with an infinite bound
    and a d that is not provably of the right sign makes the bound minus infinity: give the variables a box.

    Args:
        program: the polytope.
        objective: c, shape (n,), any unit.
        row_duals: y, any vector, best the solver's row duals, shape (m,), unit of the objective per unit of
            a row.

    Returns:
        The bound; positive for c = 0 it proves that the polytope is empty.
    """
    c = checked("objective", objective, (program.variables,))
    y = checked("row_duals", row_duals, (program.rows,))
    side = np.where(y > 0.0, program.row_lower, program.row_upper)
    y = np.where(np.isfinite(side), y, 0.0)
    paid = below(y * np.where(y == 0.0, 0.0, side))
    d, radius = rounded_product(np.column_stack([-program.matrix.T, c]), np.append(y, 1.0))
    return total_below(paid[y != 0.0], least_over_box(d, radius, program.lower, program.upper))


def safe_conic_bound(
    program: ConeProgram,
    point: ArrayLike,
    multipliers: Sequence[ArrayLike],
    lower: ArrayLike,
    upper: ArrayLike,
) -> float:
    r"""A lower bound on the optimum of a cone program among the points of a box.

    Take any point $x_0$ with $w = R x_0 - r$, and any multipliers; move each into its dual cone (a matrix
    by a shift of its eigenvalues). For every feasible x, $\langle z_k, b_k - A_k x\rangle \ge 0$ and
    $\tfrac12\|v\|^2 \ge w^T v - \tfrac12\|w\|^2$ with $v = R x - r$, so that

    $$\tfrac12\|R x - r\|^2 + c^T x \ge -\tfrac12\|w\|^2 - w^T r - \sum_k \langle z_k, b_k\rangle + d^T x,
      \qquad d = c + R^T w + \sum_k A_k^T z_k,$$

    and the last term is at least $\sum_j \min(d_j l_j, d_j u_j)$.

    Args:
        program: the cone program.
        point: x_0, best the solver's solution, shape (n,), the program's units.
        multipliers: one for each constraint, in its natural shape, best the solver's.
        lower: l, lower ends of a box that holds every x of interest, shape (n,), the program's units.
        upper: u, upper ends, shape (n,), the program's units.

    Returns:
        The bound; minus infinity when a variable without bounds has a leftover gradient.

    Raises:
        ShapeError: a multiplier has not the shape of its constraint.
    """
    x0 = checked("point", point, (program.variables,))
    box = checked_interval("lower", lower, "upper", upper, program.variables)
    if len(multipliers) != len(program.constraints):
        raise ShapeError(
            f"got {len(multipliers)} for {len(program.constraints)} constraints.",
            place="multipliers",
            evidence={"multipliers": len(multipliers), "constraints": len(program.constraints)},
        )
    w: Array = program.matrix @ x0 - program.target
    gradients, targets, factors = [program.matrix], [program.target], [w]
    for index, (constraint, multiplier) in enumerate(zip(program.constraints, multipliers, strict=True)):
        A, b = constraint.flat()
        shape = constraint.slack(x0).shape
        z = repaired(constraint, checked(f"multipliers[{index}]", multiplier, shape))
        gradients.append(A)
        targets.append(b)
        factors.append(z.ravel())
    y, h = np.concatenate(factors), np.concatenate(targets)
    d, radius = rounded_product(
        np.column_stack([*(A.T for A in gradients), program.linear]), np.append(y, 1.0)
    )
    used = (y != 0.0) & (h != 0.0)
    return total_below(
        below(-0.5 * above(w * w)),
        below(-y[used] * h[used]),
        least_over_box(d, radius, *box),
    )
