r"""The recursive parameter nullspace algorithm (Wensing et al. 2024, Algorithms 1-3, Appendix I), compiled.

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

import math
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import interpreted_while_cheap, kernel
from steelyard.dynamics.motion_pass import cross, to_child

# Orthonormal bases that grow vector by vector, and the record of every decision about rank (compiled).

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


# How ten inertial parameters enter momentum and move with a body, for one body (compiled).
#
# A body with parameters π has the bilinear form of two velocities (u, ω) and (l, c)
#
# $$M(v, \phi) \cdot \pi = v^T \mathcal I(\pi)\,\phi
#   = m\,(u \cdot l) + h \cdot (u \times c + l \times \omega) + \omega \cdot I c,$$
#
# and when it moves along a twist (l, c) its parameters in the frame it left change at the rate A(Φ) π,
#
# $$\dot m = 0, \qquad \dot h = c \times h + m\,l, \qquad
#   \dot I = [c]_\times I - I [c]_\times + 2\,(l \cdot h)\,1 - l h^T - h l^T.$$
#
# The functions here apply the transposes, which carry coefficients of parameters (Wensing et al. 2024, eqs.
# (36), (40), (42)). Parameters come in the order m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.


@kernel
def bilinear_form(v: Array, at: int, twist: Array, out: Array, out_at: int) -> None:
    """Write M(v, φ) for the velocity v[at : at + 6] and a twist (6,) into out[out_at : out_at + 10]."""
    ux, uy, uz, wx, wy, wz = v[at], v[at + 1], v[at + 2], v[at + 3], v[at + 4], v[at + 5]
    lx, ly, lz, cx, cy, cz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    ax, ay, az = cross(ux, uy, uz, cx, cy, cz)
    bx, by, bz = cross(lx, ly, lz, wx, wy, wz)
    out[out_at] = ux * lx + uy * ly + uz * lz
    out[out_at + 1], out[out_at + 2], out[out_at + 3] = ax + bx, ay + by, az + bz
    out[out_at + 4] = wx * cx
    out[out_at + 5] = wx * cy + wy * cx
    out[out_at + 6] = wy * cy
    out[out_at + 7] = wx * cz + wz * cx
    out[out_at + 8] = wy * cz + wz * cy
    out[out_at + 9] = wz * cz


@kernel
def turn_velocity(v: Array, at: int, twist: Array, out: Array) -> None:
    """Write Φ × v = (c × u + l × ω, c × ω) into out[at : at + 6]."""
    lx, ly, lz, cx, cy, cz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    ax, ay, az = cross(cx, cy, cz, v[at], v[at + 1], v[at + 2])
    bx, by, bz = cross(lx, ly, lz, v[at + 3], v[at + 4], v[at + 5])
    out[at + 3], out[at + 4], out[at + 5] = cross(cx, cy, cz, v[at + 3], v[at + 4], v[at + 5])
    out[at], out[at + 1], out[at + 2] = ax + bx, ay + by, az + bz


@kernel
def turn_coefficients(k: Array, at: int, twist: Array, out: Array) -> None:
    r"""Write Aᵀ k into out[at : at + 10], for the coefficients k[at : at + 10].

    With the coefficients of I as a symmetric matrix S (halves off the diagonal), $k \cdot \pi =
    k_m m + k_h \cdot h + \langle S, I\rangle$ and

    $$(A^T k)_m = k_h \cdot l, \qquad (A^T k)_h = k_h \times c + 2\,(\operatorname{tr} S\,l - S l), \qquad
      S' = S [c]_\times - [c]_\times S.$$
    """
    lx, ly, lz, cx, cy, cz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    hx, hy, hz = k[at + 1], k[at + 2], k[at + 3]
    xx, yy, zz = k[at + 4], k[at + 6], k[at + 9]
    xy, xz, yz = 0.5 * k[at + 5], 0.5 * k[at + 7], 0.5 * k[at + 8]
    ax, ay, az = cross(hx, hy, hz, cx, cy, cz)
    trace = xx + yy + zz
    out[at] = hx * lx + hy * ly + hz * lz
    out[at + 1] = ax + 2.0 * (trace * lx - xx * lx - xy * ly - xz * lz)
    out[at + 2] = ay + 2.0 * (trace * ly - xy * lx - yy * ly - yz * lz)
    out[at + 3] = az + 2.0 * (trace * lz - xz * lx - yz * ly - zz * lz)
    # S' is symmetric; [c]× has the rows (0, -cz, cy), (cz, 0, -cx), (-cy, cx, 0).
    out[at + 4] = 2.0 * (xy * cz - xz * cy)
    out[at + 6] = 2.0 * (yz * cx - xy * cz)
    out[at + 9] = 2.0 * (xz * cy - yz * cx)
    out[at + 5] = 2.0 * (xz * cx - yz * cy + (yy - xx) * cz)
    out[at + 7] = 2.0 * (yz * cz - xy * cx + (xx - zz) * cy)
    out[at + 8] = 2.0 * (xy * cy - xz * cz + (zz - yy) * cx)


@kernel
def turn_parameters(x: Array, at: int, size: int, twist: Array, out: Array) -> None:
    """Write the rate of a velocity (size 6) or of coefficients (size 10) along a twist into out, at `at`."""
    if size == 6:
        turn_velocity(x, at, twist, out)
    else:
        turn_coefficients(x, at, twist, out)


@kernel
def move_velocity(R: Array, p: Array, i: int, v: Array, out: Array, at: int) -> None:
    """Write the velocity v (6,) of the parent's frame, seen by body i, into out[at : at + 6]."""
    ax, ay, az = cross(v[3], v[4], v[5], p[i, 0], p[i, 1], p[i, 2])
    out[at], out[at + 1], out[at + 2] = to_child(R, i, v[0] + ax, v[1] + ay, v[2] + az)
    out[at + 3], out[at + 4], out[at + 5] = to_child(R, i, v[3], v[4], v[5])


@kernel
def move_coefficients(R: Array, p: Array, i: int, k: Array, out: Array, at: int) -> None:
    r"""Write Bᵀ k into out[at : at + 10]: what coefficients k (10,) of the parent ask of body i.

    $$(B^T k)_h = R^T\big(k_h + 2\,(\operatorname{tr} S\,p - S p)\big), \qquad S' = R^T S R, \qquad
      (B^T k)_m = k_m + k_h \cdot p + \operatorname{tr} S\,|p|^2 - p^T S p.$$
    """
    xx, yy, zz = k[4], k[6], k[9]
    xy, xz, yz = 0.5 * k[5], 0.5 * k[7], 0.5 * k[8]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    trace = xx + yy + zz
    sx, sy, sz = xx * px + xy * py + xz * pz, xy * px + yy * py + yz * pz, xz * px + yz * py + zz * pz
    out[at] = k[0] + k[1] * px + k[2] * py + k[3] * pz
    out[at] += trace * (px * px + py * py + pz * pz) - (px * sx + py * sy + pz * sz)
    out[at + 1], out[at + 2], out[at + 3] = to_child(
        R,
        i,
        k[1] + 2.0 * (trace * px - sx),
        k[2] + 2.0 * (trace * py - sy),
        k[3] + 2.0 * (trace * pz - sz),
    )
    # Columns of S R, then Rᵀ (S R).
    for c in range(3):
        ax, ay, az = to_child(
            R,
            i,
            xx * R[i, 0, c] + xy * R[i, 1, c] + xz * R[i, 2, c],
            xy * R[i, 0, c] + yy * R[i, 1, c] + yz * R[i, 2, c],
            xz * R[i, 0, c] + yz * R[i, 1, c] + zz * R[i, 2, c],
        )
        if c == 0:
            out[at + 4], out[at + 5], out[at + 7] = ax, 2.0 * ay, 2.0 * az
        elif c == 1:
            out[at + 6], out[at + 8] = ay, 2.0 * az
        else:
            out[at + 9] = az


# How vectors of a block vary as its coordinate moves: by harmonics, with no step and no rate (compiled).
#
# Several bodies share one coordinate q; body b turns by k_b q about its axis and slides along it. Let T be
# the turn at unit speed, whose eigenvalues are 0 and ±i for velocities, and ±2i too for coefficients of
# parameters. The part of a vector that varies h times as fast as the body turns is
#
# $$v_1 = -T^2 v, \qquad
#   k_1 = -\tfrac13\,T^2 (T^2 + 4)\,k, \qquad k_2 = \tfrac1{12}\,T^2 (T^2 + 1)\,k,$$
#
# and what is left is steady. Parts that vary equally fast, h_a |k_a| = h_b |k_b|, vary together; a quarter of
# a period later such a part y has become J y, with J = T / h in each body. Slides commute with turns and are
# nilpotent. So all that a vector becomes at any q is spanned by its parts of each frequency, their J, and
# what slides make of these. Powers of ratios, which differ by orders of magnitude in a geared block, and
# steps of the coordinate, which some ratios make alike, appear nowhere.

SAME = 1e-9
"""Frequencies that differ by less than this part are equal: ratios are products of a few stated numbers."""


@kernel
def unit_turns(bodies: IntArray, twists: Array, turns: Array, speeds: Array) -> None:
    """Write each body's turn at unit speed (m, 6) into turns, and its speed (m,) into speeds."""
    for b in range(bodies.size):
        speeds[b] = length_of(twists[bodies[b], 0, 3:])
        turns[b] = 0.0
        for k in range(3, 6):
            if speeds[b] > 0.0:
                turns[b, k] = twists[bodies[b], 0, k] / speeds[b]


@kernel
def unit_slides(bodies: IntArray, twists: Array, slides: Array) -> bool:
    """Write each body's slide (m, 6), the longest of them one, into slides; return whether there is any."""
    longest = 0.0
    for b in range(bodies.size):
        longest = max(longest, length_of(twists[bodies[b], 0, :3]))
    slides[:] = 0.0
    for b in range(bodies.size):
        for k in range(3):
            if longest > 0.0:
                slides[b, k] = twists[bodies[b], 0, k] / longest
    return longest > 0.0


@kernel
def split_harmonics(x: Array, size: int, turns: Array, parts: Array) -> None:
    """Write the parts of x (m size,) that vary 0, 1 and 2 times as fast as their bodies turn into parts."""
    once, twice, again = np.empty(x.size), np.empty(x.size), np.empty(x.size)
    for b in range(turns.shape[0]):
        at = size * b
        turn_parameters(x, at, size, turns[b], once)
        turn_parameters(once, at, size, turns[b], twice)  # T² x
        turn_parameters(twice, at, size, turns[b], once)
        turn_parameters(once, at, size, turns[b], again)  # T⁴ x
        for k in range(at, at + size):
            if size == 6:
                parts[1, k], parts[2, k] = -twice[k], 0.0
            else:
                parts[1, k] = -(again[k] + 4.0 * twice[k]) / 3.0
                parts[2, k] = (again[k] + twice[k]) / 12.0
            parts[0, k] = x[k] - parts[1, k] - parts[2, k]


@kernel
def frequencies(speeds: Array, size: int, found: Array) -> int:
    """Write how fast parts of a block's vectors vary, without repetition, into found; return their number."""
    count = 0
    for b in range(speeds.size):
        for h in range(1, 2 if size == 6 else 3):
            f = h * speeds[b]
            known = f == 0.0
            for c in range(count):
                known = known or abs(found[c] - f) <= SAME * f
            if not known:
                found[count] = f
                count += 1
    return count


@kernel
def slide_harmonics(rows: Array, first: int, count: int, size: int, slides: Array) -> int:
    """Append what slides make of the rows from `first` on, over and over; return the number of rows then."""
    r = first
    last = count
    for _ in range(1 if size == 6 else 2):
        while r < last:
            for b in range(slides.shape[0]):
                turn_parameters(rows[r], size * b, size, slides[b], rows[count])
            count += 1
            r += 1
        last = count
    return count


@kernel
def all_positions(x: Array, size: int, bodies: IntArray, twists: Array, rows: Array, count: int) -> int:
    """Append vectors that span all that x becomes as the block's coordinate moves, the steady part first.

    Args:
        x: velocities (size 6) or coefficients (size 10) of the bodies, shape (m size,), dimensionless.
        size: of one body's part.
        bodies: the bodies, shape (m,), dimensionless.
        twists: Φ, shape (nb, 6, 6), dimensionless.
        rows: out, shape (≥ count + `most_positions`, m size), dimensionless.
        count: vectors in it.

    Returns:
        The number of vectors then in it.
    """
    m = bodies.size
    turns, speeds, slides = np.empty((m, 6)), np.empty(m), np.empty((m, 6))
    unit_turns(bodies, twists, turns, speeds)
    any_slide = unit_slides(bodies, twists, slides)
    parts, fast = np.empty((3, m * size)), np.empty(2 * m)
    split_harmonics(x, size, turns, parts)
    rows[count] = parts[0]
    count = slide_harmonics(rows, count, count + 1, size, slides) if any_slide else count + 1
    for c in range(frequencies(speeds, size, fast)):
        first = count
        rows[count], rows[count + 1] = 0.0, 0.0
        for b in range(m):
            for h in range(1, 2 if size == 6 else 3):
                if speeds[b] > 0.0 and abs(h * speeds[b] - fast[c]) <= SAME * fast[c]:
                    for k in range(size * b, size * b + size):
                        rows[first, k] = parts[h, k]
                    turn_parameters(rows[first], size * b, size, turns[b], rows[first + 1])
                    for k in range(size * b, size * b + size):
                        rows[first + 1, k] /= h
        count += 2
        if any_slide:
            count = slide_harmonics(rows, first, count, size, slides)
    return count


@kernel
def most_positions(bodies: int, size: int) -> int:
    """How many vectors `all_positions` writes at most."""
    return (1 + 2 * bodies * (1 if size == 6 else 2)) * (2 if size == 6 else 3)


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
            turn_parameters(Q[r], 0, size, twists[d], x)
            count = absorb(Q, count, x, gap)
        r += 1
    return count


@kernel
def carried_velocity(
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
            turn_parameters(fall, 0, 6, twists[bodies[0], d], x)
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
        v_count = carried_velocity(basis, size, mine, n, R, p, twists, found.gap, V)
        basis, size = (found.G[parent], found.dim_G[parent]) if parent >= 0 else (still, 0)
        g_count = carried_velocity(basis, size, mine, n, R, p, twists, found.gap, G)
        before = found.fall[parent] if parent >= 0 else base_fall
        g_count = carried_gravity(before, mine, n, R, p, twists, found.gap, G, g_count, fall)
        basis, size = (found.K[parent], found.dim_K[parent]) if parent >= 0 else (nothing, 0)
        k_count = carried_velocity(basis, size, mine, n, R, p, twists, found.gap, K)
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
