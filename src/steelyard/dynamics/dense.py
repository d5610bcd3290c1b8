"""Dense linear algebra on small blocks, four columns at a time so that vector units stay busy (compiled)."""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import dense_kernel


@dense_kernel
def fold_into_triangle(T: Array, A: Array, n: int, m: int) -> None:
    r"""Fold m more equations into a triangle, in place: $T'^T T' = T^T T + A A^T$.

    Householder reflection j acts on row j of T and on the whole block. A is destroyed.

    Args:
        T: upper triangular, shape (≥ n, ≥ n), any unit.
        A: the equations, one *row* per column of the triangle, shape (≥ n, ≥ m), same unit.
        n: columns in use.
        m: equations in use.
    """
    for j in range(n):
        square = 0.0
        for r in range(m):
            square += A[j, r] * A[j, r]
        if square == 0.0:
            continue
        old = T[j, j]
        new = math.sqrt(old * old + square)
        if old > 0.0:
            new = -new
        # The reflection is 1 - t u uᵀ with u = (1, A_j / (old - new)).
        t = (new - old) / new
        scale = 1.0 / (old - new)
        for r in range(m):
            A[j, r] *= scale
        T[j, j] = new
        k = j + 1
        while k + 3 < n:
            d0 = d1 = d2 = d3 = 0.0
            for r in range(m):
                u = A[j, r]
                d0 += u * A[k, r]
                d1 += u * A[k + 1, r]
                d2 += u * A[k + 2, r]
                d3 += u * A[k + 3, r]
            d0 = t * (d0 + T[j, k])
            d1 = t * (d1 + T[j, k + 1])
            d2 = t * (d2 + T[j, k + 2])
            d3 = t * (d3 + T[j, k + 3])
            T[j, k] -= d0
            T[j, k + 1] -= d1
            T[j, k + 2] -= d2
            T[j, k + 3] -= d3
            for r in range(m):
                u = A[j, r]
                A[k, r] -= d0 * u
                A[k + 1, r] -= d1 * u
                A[k + 2, r] -= d2 * u
                A[k + 3, r] -= d3 * u
            k += 4
        while k < n:
            d0 = 0.0
            for r in range(m):
                d0 += A[j, r] * A[k, r]
            d0 = t * (d0 + T[j, k])
            T[j, k] -= d0
            for r in range(m):
                A[k, r] -= d0 * A[j, r]
            k += 1


@dense_kernel
def add_products(G: Array, A: Array, n: int, m: int) -> None:
    r"""Add m equations to the upper half of a Gram matrix, in place: $G' = G + A A^T$.

    Args:
        G: Gram matrix, its upper half in use, shape (≥ n, ≥ n), any unit.
        A: the equations, one *row* per column of the Gram matrix, shape (≥ n, ≥ m), any unit.
        n: columns in use.
        m: equations in use.
    """
    for j in range(n):
        k = j
        while k + 3 < n:
            d0 = d1 = d2 = d3 = 0.0
            for r in range(m):
                u = A[j, r]
                d0 += u * A[k, r]
                d1 += u * A[k + 1, r]
                d2 += u * A[k + 2, r]
                d3 += u * A[k + 3, r]
            G[j, k] += d0
            G[j, k + 1] += d1
            G[j, k + 2] += d2
            G[j, k + 3] += d3
            k += 4
        while k < n:
            d0 = 0.0
            for r in range(m):
                d0 += A[j, r] * A[k, r]
            G[j, k] += d0
            k += 1
