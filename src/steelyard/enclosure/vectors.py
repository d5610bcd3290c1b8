"""Vectors of three forms, in consecutive rows, whose own parts lie in a box and in a ball (compiled)."""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.enclosure.arithmetic import (
    BALL,
    EPSILON,
    FRESH,
    OPERATIONS,
    RADIUS,
    UNDERFLOW,
    add_own,
    add_product,
    add_shared,
    clear,
    deviate,
    seal,
)


@kernel
def length(x: float, y: float, z: float) -> float:
    """The length of a vector of numbers, rounded up."""
    return math.sqrt(x * x + y * y + z * z) * (1.0 + 8.0 * EPSILON) + UNDERFLOW


@kernel
def clear_vector(X: Array, out: int) -> None:
    """Start a vector at zero."""
    for r in range(3):
        clear(X, out + r)


@kernel
def add_vector(X: Array, out: int, k: float, x: int) -> None:
    """Add k x, for a number k and a sealed vector x."""
    for r in range(3):
        add_shared(X, out + r, k, x + r)
        X[out + r, RADIUS] += abs(k) * X[x + r, RADIUS]
    X[out, BALL] += abs(k) * X[x, BALL]


@kernel
def add_cross(X: Array, out: int, k: float, a: Array, x: int) -> None:
    """Add k a × x, for three numbers a and a sealed vector x."""
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        add_shared(X, out + r, k * a[s], x + t)
        add_shared(X, out + r, -k * a[t], x + s)
        X[out + r, RADIUS] += abs(k * a[s]) * X[x + t, RADIUS] + abs(k * a[t]) * X[x + s, RADIUS]
    X[out, BALL] += abs(k) * length(a[0], a[1], a[2]) * X[x, BALL]


@kernel
def add_matrix(X: Array, out: int, A: Array, x: int) -> None:
    """Add A x, for a matrix of numbers A (3, 3), which lengthens nothing by more than its Frobenius norm."""
    squares = 0.0
    for r in range(3):
        for c in range(3):
            squares += A[r, c] * A[r, c]
            add_shared(X, out + r, A[r, c], x + c)
            X[out + r, RADIUS] += abs(A[r, c]) * X[x + c, RADIUS]
    X[out, BALL] += length(math.sqrt(squares), 0.0, 0.0) * X[x, BALL]


@kernel
def add_dot(X: Array, out: int, a: Array, x: int) -> None:
    """Add a · x to one form, for three numbers a and a sealed vector x."""
    box = 0.0
    for r in range(3):
        add_shared(X, out, a[r], x + r)
        box += abs(a[r]) * X[x + r, RADIUS]
    add_own(X, out, min(box, length(a[0], a[1], a[2]) * X[x, BALL]))


@kernel
def add_times(X: Array, out: int, v: int, x: int) -> None:
    """Add v x, for a sealed form v and a sealed vector x."""
    for r in range(3):
        add_product(X, out + r, 1.0, v, x + r)


@kernel
def add_product_cross(X: Array, out: int, x: int, y: int) -> None:
    """Add x × y, for sealed vectors x and y."""
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        add_product(X, out + r, 1.0, x + s, y + t)
        add_product(X, out + r, -1.0, x + t, y + s)


@kernel
def seal_vector(X: Array, out: int) -> None:
    """Finish a vector: its own part is in the box, in the ball, and in what either leaves of the other."""
    for r in range(3):
        seal(X, out + r)
    ball = X[out, BALL] + length(X[out, FRESH], X[out + 1, FRESH], X[out + 2, FRESH])
    box = length(X[out, RADIUS], X[out + 1, RADIUS], X[out + 2, RADIUS])
    X[out, BALL] = min(ball, box) * (1.0 + OPERATIONS * EPSILON)
    for r in range(3):
        X[out + r, RADIUS] = min(X[out + r, RADIUS], X[out, BALL])
        deviate(X, out + r)
