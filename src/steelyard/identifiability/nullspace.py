r"""The recursive parameter nullspace algorithm (paper 002, Algorithms 1 to 3 and Appendix I), compiled.

From the base outwards, each block of bodies gets the span V of velocities it can have and the span K of
parameter coefficients that its kinetic energy can show. A change of its parameters that is handed to the body
carrying it goes unseen when it neither changes the momentum along the joint nor how the parameters add up in
the carrier as the joint moves:

$$N = \begin{bmatrix} M(V, \Phi)^T \\ K_-^T A(\Phi) \end{bmatrix}, \qquad N\,\delta\pi = 0.$$

The rank of N is what the block adds to the number of identifiable combinations. Gravity acts like a velocity
that the base can have and nobody measures; in static experiments it is the only one. It is kept apart from
the true velocities, and split into what varies in the body's frame and what never does, because a constant
torque offset hides the latter. The armature joins the momentum along the joint's own velocity alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import interpreted_while_cheap, kernel
from steelyard.identifiability.harmonics import all_positions, most_positions
from steelyard.identifiability.parameter_maps import (
    bilinear_form,
    move_coefficients,
    move_velocity,
    turn,
    turn_coefficients,
)
from steelyard.identifiability.spans import SMALLEST, absorb, absorb_longest_first, length_of, project_off

SECONDS = 5e-3
"""What Python takes for a body of an arm, about."""


class Spans(NamedTuple):
    """What the algorithm finds, by body and by block; vectors are rows, zero beyond their number.

    Attributes:
        V: orthonormal basis of the velocities of each body, shape (nb, 6, 6), dimensionless.
        dim_V: its size, shape (nb,), dimensionless.
        G: orthonormal basis of how gravity varies in each body, shape (nb, 6, 6), dimensionless.
        dim_G: its size, shape (nb,), dimensionless.
        fall: the part of gravity that is the same in each body whatever the robot does, shape (nb, 6),
            dimensionless.
        K: orthonormal basis of the coefficients each body can show, shape (nb, 10, 10), dimensionless.
        dim_K: its size, shape (nb,), dimensionless.
        N: orthonormal basis of the conditions of each block, shape (C, w, w), dimensionless. Its columns are
            the parameters of the block's bodies, then the armatures of their joints, then the offsets.
        rank: its size, shape (C,), dimensionless.
        gap: smallest length that counted and largest that did not, shape (2,), dimensionless.
    """

    V: Array
    dim_V: IntArray
    G: Array
    dim_G: IntArray
    fall: Array
    K: Array
    dim_K: IntArray
    N: Array
    rank: IntArray
    gap: Array


def empty_spans(bodies: int, blocks: int, width: int) -> Spans:
    """Memory for the results of a mechanism whose widest block has `width` parameters."""
    return Spans(
        np.zeros((bodies, 6, 6)),
        np.zeros(bodies, dtype=np.int64),
        np.zeros((bodies, 6, 6)),
        np.zeros(bodies, dtype=np.int64),
        np.zeros((bodies, 6)),
        np.zeros((bodies, 10, 10)),
        np.zeros(bodies, dtype=np.int64),
        np.zeros((blocks, width, width)),
        np.zeros(blocks, dtype=np.int64),
        np.array([np.inf, 0.0]),
    )


@kernel
def close(Q: Array, count: int, size: int, twists: Array, dofs: int, gap: Array) -> int:
    """Extend a basis of what one body has by what it becomes when the joint moves; return its number then."""
    x = np.empty(size)
    r = 0
    while r < count:
        for d in range(dofs):
            turn(Q[r], 0, size, twists[d], x)
            count = absorb(Q, count, x, gap)
        r += 1
    return count


@kernel
def carried(
    basis: Array,
    number: int,
    bodies: IntArray,
    dofs: int,
    R: Array,
    p: Array,
    twists: Array,
    gap: Array,
    Q: Array,
) -> int:
    """Write what a carrier's velocities or coefficients become in a block, at any joint position, into Q.

    Args:
        basis: what the carrier has, shape (≥ number, 6 or 10), dimensionless.
        number: vectors in it.
        bodies: the block's bodies, shape (m,), dimensionless.
        dofs: degrees of freedom of the block.
        R: rotations of the placements, shape (nb, 3, 3), dimensionless.
        p: offsets of the placements over the length, shape (nb, 3), dimensionless.
        twists: Φ, shape (nb, 6, 6), dimensionless.
        gap: see `spans.absorb`.
        Q: out, an orthonormal basis, shape (6 m, 6 m) or (10 m, 10 m), dimensionless.

    Returns:
        The number of vectors in it.
    """
    m, size = bodies.size, basis.shape[1]
    rows = np.empty((number * most_positions(m, size) if m > 1 else 0, size * m))
    x = np.empty(size * m)
    count = 0
    for r in range(number):
        for b in range(m):
            if size == 6:
                move_velocity(R, p, bodies[b], basis[r], x, 6 * b)
            else:
                move_coefficients(R, p, bodies[b], basis[r], x, 10 * b)
        x /= length_of(x)
        count = all_positions(x, size, bodies, twists, rows, count) if m > 1 else absorb(Q, count, x, gap)
    if m > 1:
        return absorb_longest_first(rows, count, Q, 0, gap)
    return close(Q, count, size, twists[bodies[0]], dofs, gap)


@kernel
def carried_gravity(
    before: Array,
    bodies: IntArray,
    dofs: int,
    R: Array,
    p: Array,
    twists: Array,
    gap: Array,
    Q: Array,
    count: int,
    fall: Array,
) -> int:
    """Split the carrier's steady gravity (6,) into what varies in the block, added to Q, and what stays.

    Gravity turns with the joint about its axis: what the joint changes and all that this becomes varies, the
    rest of it stays and is written into fall (6 m,).
    """
    m = bodies.size
    for b in range(m):
        move_velocity(R, p, bodies[b], before, fall, 6 * b)
    fall /= np.sqrt(np.float64(m))
    if m > 1:
        rows = np.empty((most_positions(m, 6), 6 * m))
        number = all_positions(fall, 6, bodies, twists, rows, 0)
        fall[:] = rows[0]
        count = absorb_longest_first(rows[1:], number - 1, Q, count, gap)
    else:
        x = np.empty(6)
        for d in range(dofs):
            turn(fall, 0, 6, twists[bodies[0], d], x)
            count = absorb(Q, count, x, gap)
        count = close(Q, count, 6, twists[bodies[0]], dofs, gap)
    for _ in range(2):
        for r in range(count):
            project_off(Q[r], fall)
    left = length_of(fall)
    if left <= SMALLEST:
        gap[1] = max(gap[1], left)
        fall[:] = 0.0
    else:
        gap[0] = min(gap[0], left)
    return count


@interpreted_while_cheap(lambda starts, bodies, *_: SECONDS * bodies.size)
@kernel
def find_spans(
    starts: IntArray,
    bodies: IntArray,
    parents: IntArray,
    dofs: IntArray,
    R: Array,
    p: Array,
    twists: Array,
    ratios: Array,
    gravity: Array,
    armatures: bool,
    offsets: bool,
    static: bool,
    found: Spans,
) -> None:
    """Run the algorithm over all blocks of a mechanism, see `mechanism.flat_blocks`.

    Args:
        starts: where each block's bodies start, shape (C + 1,), dimensionless.
        bodies: the bodies, block by block, shape (nb,), dimensionless.
        parents: the carrier of each block, shape (C,), dimensionless.
        dofs: degrees of freedom of each block, shape (C,), dimensionless.
        R: rotations of the placements, shape (nb, 3, 3), dimensionless.
        p: offsets of the placements over the length, shape (nb, 3), dimensionless.
        twists: how the bodies move with their joints, Φ, shape (nb, 6, 6), dimensionless.
        ratios: how far each joint moves with its block, shape (nb,), dimensionless.
        gravity: unit vector of free fall, or zero, shape (3,), dimensionless.
        armatures: whether each joint with one degree of freedom has an armature.
        offsets: whether each joint with one degree of freedom has a constant torque.
        static: whether nothing moves while it is measured.
        found: out.
    """
    still, nothing, base_fall = np.zeros((6, 6)), np.zeros((10, 10)), np.zeros(6)
    base_fall[:3] = gravity
    for c in range(parents.size):
        mine, parent, n = bodies[starts[c] : starts[c + 1]], parents[c], dofs[c]
        m = mine.size
        driven = m if n == 1 else 0
        width = 10 * m + driven * (int(armatures) + int(offsets))
        V, G, K = np.zeros((6 * m, 6 * m)), np.zeros((6 * m, 6 * m)), np.zeros((10 * m, 10 * m))
        fall = np.zeros(6 * m)
        basis, size = (found.V[parent], found.dim_V[parent]) if parent >= 0 else (still, 0)
        v_count = carried(basis, size, mine, n, R, p, twists, found.gap, V)
        basis, size = (found.G[parent], found.dim_G[parent]) if parent >= 0 else (still, 0)
        g_count = carried(basis, size, mine, n, R, p, twists, found.gap, G)
        before = found.fall[parent] if parent >= 0 else base_fall
        g_count = carried_gravity(before, mine, n, R, p, twists, found.gap, G, g_count, fall)
        basis, size = (found.K[parent], found.dim_K[parent]) if parent >= 0 else (nothing, 0)
        k_count = carried(basis, size, mine, n, R, p, twists, found.gap, K)
        N = found.N[c, :width, :width]
        rank = mapping_condition(mine, n, twists, K, k_count, N, found.gap)
        own = np.zeros((n, 6 * m))
        for d in range(0 if static else n):
            for b in range(m):
                own[d, 6 * b : 6 * b + 6] = twists[mine[b], d]
        row = np.zeros(width)
        for r in range(v_count + g_count + 1 + (0 if static else n)):
            steady, along = r == v_count + g_count, r - v_count - g_count - 1
            if r < v_count:
                v = V[r]
            elif r < v_count + g_count:
                v = G[r - v_count]
            else:
                v = fall if steady else own[along]
            for d in range(n):
                for b in range(m):
                    bilinear_form(v, 6 * b, twists[mine[b], d], row, 10 * b)
                links = row[: 10 * m].copy()
                k_count = absorb(K, k_count, links, found.gap)
                for b in range(driven):
                    k = ratios[mine[b]]
                    if armatures:
                        row[10 * m + b] = k * k if along >= 0 else 0.0
                    if offsets:
                        row[10 * m + b + (m if armatures else 0)] = (
                            k / np.sqrt(np.float64(m)) if steady else 0.0
                        )
                rank = absorb(N, rank, row, found.gap)
        found.rank[c] = rank
        for d in range(0 if static else n):
            x = own[d] / length_of(own[d])
            v_count = absorb(V, v_count, x, found.gap)
        share_among_bodies(mine, V, v_count, G, g_count, fall, K, k_count, found)


@kernel
def mapping_condition(
    bodies: IntArray, dofs: int, twists: Array, K: Array, k_count: int, N: Array, gap: Array
) -> int:
    """Write the conditions that nothing shows in the carrier as the joint moves into N; return their rank."""
    row = np.zeros(N.shape[0])
    rank = 0
    for r in range(k_count):
        for d in range(dofs):
            row[:] = 0.0
            for b in range(bodies.size):
                turn_coefficients(K[r], 10 * b, twists[bodies[b], d], row)
            rank = absorb(N, rank, row, gap)
    return rank


@kernel
def share_among_bodies(
    bodies: IntArray,
    V: Array,
    v_count: int,
    G: Array,
    g_count: int,
    fall: Array,
    K: Array,
    k_count: int,
    found: Spans,
) -> None:
    """Write each body's part of its block's spans."""
    velocity, coefficients = np.empty(6), np.empty(10)
    for b in range(bodies.size):
        i = bodies[b]
        for r in range(v_count):
            velocity[:] = V[r, 6 * b : 6 * b + 6]
            found.dim_V[i] = absorb(found.V[i], found.dim_V[i], velocity, found.gap)
        for r in range(g_count):
            velocity[:] = G[r, 6 * b : 6 * b + 6]
            found.dim_G[i] = absorb(found.G[i], found.dim_G[i], velocity, found.gap)
        # Of what stays in the block, what varies in the body is not steady there.
        velocity[:] = fall[6 * b : 6 * b + 6] * np.sqrt(np.float64(bodies.size))
        for _ in range(2):
            for r in range(found.dim_G[i]):
                project_off(found.G[i, r], velocity)
        found.fall[i] = velocity if length_of(velocity) > SMALLEST else np.zeros(6)
        for r in range(k_count):
            coefficients[:] = K[r, 10 * b : 10 * b + 10]
            found.dim_K[i] = absorb(found.K[i], found.dim_K[i], coefficients, found.gap)
