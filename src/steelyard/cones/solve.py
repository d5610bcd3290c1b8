"""The door to Clarabel: a cone program in, a checked solution or an error with its certificate out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Any, Literal

import clarabel
import numpy as np
import scipy

from steelyard.arrays import Array, IntArray, read_only
from steelyard.cones.program import (
    AtMost,
    ConeProgram,
    Constraint,
    Equal,
    Exponential,
    InfeasibleError,
    SecondOrder,
    Semidefinite,
    UnboundedError,
)
from steelyard.errors import InputError, SolverError

# Symmetric matrices as vectors, in the order and scale Clarabel's semidefinite cone wants.
#
# The upper triangle is read column by column and entries off the diagonal are multiplied by $\sqrt 2$, so
# that $\langle X, Y\rangle = \mathrm{svec}(X)^T\,\mathrm{svec}(Y)$. Nothing outside this file knows the
# order.


@lru_cache(maxsize=64)
def _upper_by_columns(order: int) -> tuple[IntArray, IntArray, Array]:
    columns, rows = np.tril_indices(order)
    return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))


def svec(matrices: Array) -> Array:
    """Pack symmetric matrices.

    Args:
        matrices: symmetric, shape (..., d, d), any unit.

    Returns:
        The packed matrices, shape (..., d (d + 1) / 2), same unit.
    """
    rows, columns, scale = _upper_by_columns(matrices.shape[-1])
    packed: Array = matrices[..., rows, columns] * scale
    return packed


def smat(vectors: Array) -> Array:
    """Unpack what `svec` packed.

    Args:
        vectors: packed matrices, shape (..., d (d + 1) / 2), any unit.

    Returns:
        The symmetric matrices, shape (..., d, d), same unit.
    """
    d = (isqrt(8 * vectors.shape[-1] + 1) - 1) // 2
    rows, columns, scale = _upper_by_columns(d)
    matrices = np.empty((*vectors.shape[:-1], d, d))
    matrices[..., rows, columns] = vectors / scale
    matrices[..., columns, rows] = matrices[..., rows, columns]
    return matrices


# A program as Clarabel reads it.
#
# Minimise $\tfrac12 y^T P y + q^T y$ subject to $A y + s = b$ with s in a product of cones.


def standard_form(program: ConeProgram) -> tuple[Any, Array, Any, Array, list[Any]]:
    r"""Write a program in the variables (x, v) with $v = R x - r$.

    The sum of squares is first reduced by an orthogonal transformation to at most n rows.

    Args:
        program: the program in x.

    Returns:
        P, q, A, b and the cones; P and A sparse, shapes (n + k, n + k), (n + k,), (m, n + k), (m,), in the
        program's units.
    """
    n = program.variables
    R, r = program.matrix, program.target
    if R.shape[0] > n:
        triangle: Array = np.asarray(np.linalg.qr(np.column_stack([R, r]), mode="r"))
        R, r = triangle[:n, :n], triangle[:n, n]
    k = R.shape[0]
    matrices, vectors, cones = [R], [r], ([clarabel.ZeroConeT(k)] if k else [])
    for constraint in program.constraints:
        A, b = _packed(constraint)
        matrices.append(A)
        vectors.append(b)
        cones += _cones(constraint)
    rows = scipy.sparse.csc_matrix(np.vstack(matrices))
    diagonal = np.arange(k)
    minus_v = scipy.sparse.csc_matrix((-np.ones(k), (diagonal, diagonal)), shape=(rows.shape[0], k))
    P = scipy.sparse.csc_matrix((np.ones(k), (n + diagonal, n + diagonal)), shape=(n + k, n + k))
    q = np.concatenate([program.linear, np.zeros(k)])
    return P, q, scipy.sparse.hstack([rows, minus_v], format="csc"), np.concatenate(vectors), cones


def _packed(constraint: Constraint) -> tuple[Array, Array]:
    if isinstance(constraint, Semidefinite):
        return -svec(constraint.coefficients).T, svec(constraint.constant)
    return constraint.flat()


def _cones(constraint: Constraint) -> list[Any]:
    match constraint:
        case Semidefinite():
            return [clarabel.PSDTriangleConeT(constraint.constant.shape[0])]
        case Exponential():
            return [clarabel.ExponentialConeT()] * constraint.vector.shape[0]
    m = constraint.vector.size
    if m == 0:
        return []
    match constraint:
        case Equal():
            return [clarabel.ZeroConeT(m)]
        case SecondOrder() if m > 1:
            return [clarabel.SecondOrderConeT(m)]
        case AtMost() | SecondOrder():
            return [clarabel.NonnegativeConeT(m)]


def natural(program: ConeProgram, z: Array) -> tuple[Array, ...]:
    """Cut Clarabel's multipliers into one array for each constraint, leaving out those of v = R x - r.

    Args:
        program: the program they belong to.
        z: all multipliers, shape (m,), any unit.

    Returns:
        The multipliers of each constraint in its natural shape, same units.
    """
    sizes = [_packed_size(constraint) for constraint in program.constraints]
    z = z[z.size - sum(sizes) :]
    pieces = np.split(z, np.cumsum(sizes)[:-1]) if sizes else []
    return tuple(
        read_only(
            smat(piece) if isinstance(constraint, Semidefinite) else piece.reshape(constraint.vector.shape)
        )
        for constraint, piece in zip(program.constraints, pieces, strict=True)
    )


def _packed_size(constraint: Constraint) -> int:
    if isinstance(constraint, Semidefinite):
        d = int(constraint.constant.shape[0])
        return d * (d + 1) // 2
    return int(constraint.vector.size)


@dataclass(frozen=True, eq=False)
class ConeSolution:
    r"""An approximate optimum with the multipliers that support it.

    With $w = R x - r$ and multipliers $z_k$ of the constraints $b_k - A_k x \in K_k$, an optimum has
    $c + R^T w + \sum_k A_k^T z_k = 0$ and $\langle z_k, b_k - A_k x\rangle = 0$; the residuals say how
    nearly.

    Attributes:
        x: the point, shape (n,), the program's units.
        value: the objective at x.
        dual_value: $-\tfrac12 w^T w - w^T r - \sum_k \langle z_k, b_k\rangle$, equal to the value at an
            optimum; `safe_conic_bound` turns it into a bound that holds.
        multipliers: z_k, one array for each constraint, in its natural shape.
        accuracy: "full" when the asked tolerance was met, "reduced" when the solver stalled near it.
        iterations: interior-point iterations.
        primal_residual: the largest entry of $b_k - A_k x - s_k$, with $s_k$ the solver's point of the cone.
        dual_residual: the largest entry of $c + R^T w + \sum_k A_k^T z_k$.
    """

    x: Array
    value: float
    dual_value: float
    multipliers: tuple[Array, ...]
    accuracy: Literal["full", "reduced"]
    iterations: int
    primal_residual: float
    dual_residual: float

    @property
    def gap(self) -> float:
        """Value minus dual value; near zero, of either sign, at an approximate optimum."""
        return self.value - self.dual_value


def solve(
    program: ConeProgram,
    *,
    tolerance: float = 1e-8,
    iteration_limit: int = 200,
    accept_reduced: bool = False,
) -> ConeSolution:
    r"""Solve a cone program by Clarabel's interior-point method, on one thread, always in the same way.

    The sum of squares is passed as $v = R x - r$ with objective $\tfrac12 v^T v$, after an orthogonal
    reduction to at most n rows. Against passing $P = R^T R$ this needs fewer iterations and its relative
    accuracy refers to the residual instead of to $\|r\|^2$.

    Args:
        program: what to minimise.
        tolerance: on the residuals and on the gap, absolute and relative, dimensionless.
        iteration_limit: most interior-point iterations.
        accept_reduced: whether to return a solution of reduced accuracy instead of raising.

    Raises:
        InfeasibleError: no point satisfies the constraints. The evidence holds `certificate`, multipliers
            in the dual cones with $\sum_k \langle z_k, b_k\rangle = -1$, and `residual`, the largest entry of
            $\sum_k A_k^T z_k$, zero for an exact certificate.
        UnboundedError: the objective has no lower bound. The evidence holds `ray`, with
            $c^T \text{ray} = -1$.
        SolverError: the solver gave up, or reached reduced accuracy only; then the evidence holds `solution`.
    """
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"must lie between 0 and 1, got {tolerance}.", place="tolerance")
    P, q, A, b, cones = standard_form(program)
    answer = clarabel.DefaultSolver(P, q, A, b, cones, _settings(tolerance, iteration_limit)).solve()
    status = str(answer.status)
    x, multipliers = np.array(answer.x)[: program.variables], natural(program, np.array(answer.z))
    if status == "PrimalInfeasible":
        raise _infeasible(program, multipliers)
    if status == "DualInfeasible":
        fall = -float(program.linear @ x)
        raise UnboundedError(
            "the objective falls without end inside the constraints.",
            remedy="Bound the variables along the ray.",
            evidence={"ray": read_only(x / fall)},
        )
    if status not in ("Solved", "AlmostSolved"):
        raise SolverError(
            f"Clarabel stopped with status {status} after {answer.iterations} iterations.",
            remedy="Scale the variables to similar size, or ask for a looser tolerance.",
            evidence={"status": status, "iterations": answer.iterations, "x": read_only(x)},
        )
    leftover, dual_value = _dual(program, x, multipliers)
    solution = ConeSolution(
        x=read_only(x),
        value=program.value(x),
        dual_value=dual_value,
        multipliers=multipliers,
        accuracy="full" if status == "Solved" else "reduced",
        iterations=int(answer.iterations),
        primal_residual=float(np.abs(A @ np.array(answer.x) + np.array(answer.s) - b).max(initial=0.0)),
        dual_residual=float(np.abs(leftover).max()),
    )
    if solution.accuracy == "reduced" and not accept_reduced:
        raise SolverError(
            f"the tolerance {tolerance:g} was not reached: dual residual {solution.dual_residual:.1e}, "
            f"gap {solution.gap:.1e}.",
            remedy="Scale the variables to similar size, loosen the tolerance, or pass accept_reduced=True.",
            evidence={"status": status, "solution": solution},
        )
    return solution


def _settings(tolerance: float, iteration_limit: int) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "qdldl"
    settings.max_iter = iteration_limit
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    # Presolve drops rows whose bound exceeds 1e20, and the chordal decomposition splits sparse matrices and
    # completes their multipliers afterwards: both would answer another question than the one asked.
    settings.presolve_enable = False
    settings.chordal_decomposition_enable = False
    return settings


def _pull(program: ConeProgram, multipliers: tuple[Array, ...]) -> tuple[Array, float]:
    r"""The pair $\sum_k A_k^T z_k$ and $\sum_k \langle z_k, b_k\rangle$."""
    pulled, paid = np.zeros(program.variables), 0.0
    for constraint, z in zip(program.constraints, multipliers, strict=True):
        A, b = constraint.flat()
        pulled += A.T @ z.ravel()
        paid += float(b @ z.ravel())
    return pulled, paid


def _dual(program: ConeProgram, x: Array, multipliers: tuple[Array, ...]) -> tuple[Array, float]:
    """The leftover gradient of the Lagrangian and the dual value."""
    w = program.matrix @ x - program.target
    pulled, paid = _pull(program, multipliers)
    leftover: Array = program.linear + program.matrix.T @ w + pulled
    return leftover, float(-0.5 * w @ w - w @ program.target) - paid


def _infeasible(program: ConeProgram, multipliers: tuple[Array, ...]) -> InfeasibleError:
    pulled, paid = _pull(program, multipliers)
    return InfeasibleError(
        "no point satisfies all constraints together.",
        remedy="The largest multipliers of the certificate show which constraints contradict each other.",
        evidence={
            "certificate": tuple(read_only(z / -paid) for z in multipliers),
            "residual": float(np.abs(pulled / paid).max()),
        },
    )
