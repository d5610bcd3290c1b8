"""Orthonormal bases that grow vector by vector, and the record of every decision about rank (compiled)."""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import kernel

SMALLEST = 1e-9
"""A direction counts when this much of a vector of order one is left off the basis so far."""


@kernel
def length_of(x: Array) -> float:
    """The length of a vector, shape (n,), dimensionless; summed in order, as Python does it too."""
    total = 0.0
    for k in range(x.size):
        total += x[k] * x[k]
    return math.sqrt(total)


@kernel
def project_off(unit: Array, x: Array) -> None:
    """Take off x, in place, what lies along a unit vector; both of shape (n,), dimensionless."""
    along = 0.0
    for k in range(x.size):
        along += unit[k] * x[k]
    for k in range(x.size):
        x[k] -= along * unit[k]


@kernel
def left_of(Q: Array, count: int, x: Array) -> float:
    """Project x off an orthonormal basis, twice, in place; return the length of what is left.

    Args:
        Q: the basis, one vector per row, shape (≥ count, n), dimensionless.
        count: vectors in it.
        x: the vector, shape (n,), dimensionless; overwritten.

    Returns:
        The length, dimensionless.
    """
    for _ in range(2):
        for r in range(count):
            project_off(Q[r], x)
    return length_of(x)


@kernel
def absorb(Q: Array, count: int, x: Array, gap: Array) -> int:
    r"""Add what is new in x to an orthonormal basis; return the number of vectors then in it.

    x is projected off the basis twice, and what is left decides by its length alone: vectors come with a
    length of order one, or zero.

    Args:
        Q: the basis, one vector per row, shape (≥ n, n), dimensionless; row `count` may be written.
        count: vectors in it.
        x: the vector, shape (n,), dimensionless; overwritten.
        gap: smallest length that counted and largest that did not, shape (2,), dimensionless; updated.
    """
    n = x.size
    if count == n:
        return count
    length = left_of(Q, count, x)
    if length <= SMALLEST:
        gap[1] = max(gap[1], length)
        return count
    gap[0] = min(gap[0], length)
    for k in range(n):
        Q[count, k] = x[k] / length
    if count + 1 == n:
        # The whole space: its plainest basis keeps all that follows free of round-off.
        for r in range(n):
            for k in range(n):
                Q[r, k] = 1.0 if r == k else 0.0
    return count + 1


@kernel
def absorb_longest_first(rows: Array, size: int, Q: Array, count: int, gap: Array) -> int:
    """Add the first `size` rows to an orthonormal basis; return the number of vectors then in it.

    Of all that is new the longest comes first: short ones, lengthened in turn, would multiply round-off.

    Args:
        rows: the vectors, shape (≥ size, n), dimensionless; overwritten.
        size: their number.
        Q: the basis, one vector per row, shape (n, n), dimensionless.
        count: vectors in it.
        gap: smallest length that counted and largest that did not, shape (2,), dimensionless; updated.
    """
    for r in range(size):
        left_of(Q, count, rows[r])
    while size:
        best, longest = 0, 0.0
        for r in range(size):
            length = length_of(rows[r])
            if length > longest:
                best, longest = r, length
        before, count = count, absorb(Q, count, rows[best], gap)
        if count == before:
            break
        for r in range(size):
            project_off(Q[before], rows[r])
    return count


@kernel
def complement(Q: Array, count: int, n: int, C: Array) -> int:
    """Write an orthonormal basis of what a basis of count vectors leaves out into C; return its size.

    Unit vectors are taken in the order of what is left of them, so no decision is close.
    """
    for filled in range(n - count):
        best, longest = 0, -1.0
        for k in range(n):
            left = 1.0
            for r in range(count):
                left -= Q[r, k] * Q[r, k]
            for r in range(filled):
                left -= C[r, k] * C[r, k]
            if left > longest:
                best, longest = k, left
        for k in range(n):
            C[filled, k] = 1.0 if k == best else 0.0
        for _ in range(2):
            for r in range(count):
                _project(C, filled, Q, r, n)
            for r in range(filled):
                _project(C, filled, C, r, n)
        length = 0.0
        for k in range(n):
            length += C[filled, k] * C[filled, k]
        for k in range(n):
            C[filled, k] /= math.sqrt(length)
    return n - count


@kernel
def _project(X: Array, row: int, Q: Array, r: int, n: int) -> None:
    along = 0.0
    for k in range(n):
        along += Q[r, k] * X[row, k]
    for k in range(n):
        X[row, k] -= along * Q[r, k]
