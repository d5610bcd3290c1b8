"""Linear systems of a few unknowns, where a call of LAPACK costs more than the solution (compiled)."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.compiled import kernel


@kernel
def copy(x: Array, out: Array) -> None:
    """Write x into out; a loop compiles ten times faster than a slice."""
    for k in range(out.size):
        out[k] = x[k]


@kernel
def hold(A: Array, x: Array, j: int) -> None:
    """Replace equation j of A x = b by x_j = 0, the b of the others being in x, and take it out of them."""
    for k in range(x.size):
        A[j, k] = A[k, j] = 0.0
    A[j, j], x[j] = 1.0, 0.0


@kernel
def product(A: Array, row: int, x: Array) -> float:
    """One row of A x."""
    total = 0.0
    for k in range(x.size):
        total += A[row, k] * x[k]
    return total


@kernel
def solve_in_place(A: Array, x: Array) -> None:
    r"""Replace x (n,) by $A^{-1} x$: Gaussian elimination, the largest pivot of each column first.

    A (n, n) is destroyed. What a singular A leaves is not finite.
    """
    n = x.size
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[pivot, j]):
                pivot = i
        if pivot != j:
            for k in range(j, n):
                A[j, k], A[pivot, k] = A[pivot, k], A[j, k]
            x[j], x[pivot] = x[pivot], x[j]
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, n):
            factor = A[i, j] * inverse
            if factor != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= factor * A[j, k]
                x[i] -= factor * x[j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            x[j] -= A[j, k] * x[k]
        x[j] /= A[j, j]
