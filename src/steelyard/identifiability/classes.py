"""The class of each parameter: known alone, as the head of a grouping, inside one, or not at all (compiled).

Where several choices of base parameters are possible, the one that comes first in `TIE_BREAK` is preferred,
body after body (the order of the tables of paper 002).
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import interpreted_while_cheap, kernel
from steelyard.identifiability.nullspace import SECONDS, Spans
from steelyard.identifiability.parameter_maps import move_coefficients
from steelyard.identifiability.spans import SMALLEST, absorb, complement
from steelyard.layout import Class

TIE_BREAK = (0, 1, 2, 3, 4, 6, 9, 8, 7, 5)
"""m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy as indices of the ten parameters."""


CLASSES = tuple(Class)
"""The classes by their number in compiled code."""


@interpreted_while_cheap(lambda starts, bodies, *_: SECONDS * bodies.size)
@kernel
def classify(
    starts: IntArray,
    bodies: IntArray,
    parents: IntArray,
    widths: IntArray,
    order: IntArray,
    R: Array,
    p: Array,
    found: Spans,
    out: IntArray,
) -> None:
    r"""Write the class of every column of every block.

    With the unseen changes $R = \mathrm{Null}(N)$ of a block, handed on to its carrier as $-B R$, a parameter
    takes part in an unseen change when its row of R is not zero, or its row of $B_j R_j$ for a block j that
    its body carries; otherwise it is known alone. It is out of reach when its row of K is zero. Of the
    others, those whose columns of N are independent from left to right are the base parameters.

    Args:
        starts: where each block's bodies start, shape (C + 1,), dimensionless.
        bodies: the bodies, block by block, shape (nb,), dimensionless.
        parents: the carrier of each block, shape (C,), dimensionless.
        widths: number of columns of each block, shape (C,), dimensionless.
        order: `TIE_BREAK`, shape (10,), dimensionless.
        R: rotations of the placements, shape (nb, 3, 3), dimensionless.
        p: offsets of the placements over the length, shape (nb, 3), dimensionless.
        found: what `find_spans` found.
        out: the classes, as indices of `CLASSES`, shape (C, w), dimensionless.
    """
    involved = np.zeros((found.K.shape[0], 10))
    for c in range(parents.size - 1, -1, -1):
        mine, width, rank = bodies[starts[c] : starts[c + 1]], widths[c], found.rank[c]
        m = mine.size
        N, unseen = found.N[c], np.zeros((width, width))
        free = complement(N, rank, width, unseen)
        if parents[c] >= 0:
            hand_on(mine, parents[c], R, p, unseen, free, involved)
        pivots, pivot_count, column = np.zeros((rank, rank)), 0, np.empty(rank)
        for j in range(width):
            k = 10 * (j // 10) + order[j % 10] if j < 10 * m else j
            seen, taken = 0.0, 0.0
            for r in range(rank):
                column[r] = N[r, k]
                seen = max(seen, abs(N[r, k]))
            for r in range(free):
                taken = max(taken, abs(unseen[r, k]))
            if k < 10 * m:
                taken = max(taken, involved[mine[k // 10], k % 10])
                seen = 0.0
                for r in range(found.dim_K[mine[k // 10]]):
                    seen = max(seen, abs(found.K[mine[k // 10], r, k % 10]))
            before = pivot_count
            if rank > 0:
                pivot_count = absorb(pivots, pivot_count, column, found.gap)
            if seen <= SMALLEST:
                out[c, k] = 3
            elif pivot_count == before:
                out[c, k] = 2
            else:
                out[c, k] = 0 if taken <= SMALLEST else 1


@kernel
def hand_on(
    bodies: IntArray, parent: int, R: Array, p: Array, unseen: Array, count: int, involved: Array
) -> None:
    """Mark the parameters of the carrier that take part in the unseen changes of a block."""
    unit, row = np.zeros(10), np.empty(10)
    for k in range(10):
        unit[:] = 0.0
        unit[k] = 1.0
        for r in range(count):
            total = 0.0
            for b in range(bodies.size):
                move_coefficients(R, p, bodies[b], unit, row, 0)
                for j in range(10):
                    total += row[j] * unseen[r, 10 * b + j]
            involved[parent, k] = max(involved[parent, k], abs(total))
