r"""A program as Clarabel reads it.

Minimise $\tfrac12 y^T P y + q^T y$ subject to $A y + s = b$ with s in a product of cones.
"""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy

from steelyard.arrays import Array, read_only
from steelyard.cones.constraints import AtMost, Constraint, Equal, Exponential, SecondOrder, Semidefinite
from steelyard.cones.packing import smat, svec
from steelyard.cones.program import ConeProgram


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
