r"""How vectors of a block vary as its coordinate moves: by harmonics, with no step and no rate (compiled).

Several bodies share one coordinate q; body b turns by k_b q about its axis and slides along it. Let T be the
turn at unit speed, whose eigenvalues are 0 and ±i for velocities, and ±2i too for coefficients of parameters.
The part of a vector that varies h times as fast as the body turns is

$$v_1 = -T^2 v, \qquad
  k_1 = -\tfrac13\,T^2 (T^2 + 4)\,k, \qquad k_2 = \tfrac1{12}\,T^2 (T^2 + 1)\,k,$$

and what is left is steady. Parts that vary equally fast, h_a |k_a| = h_b |k_b|, vary together; a quarter of a
period later such a part y has become J y, with J = T / h in each body. Slides commute with turns and are
nilpotent. So all that a vector becomes at any q is spanned by its parts of each frequency, their J, and what
slides make of these. Powers of ratios, which differ by orders of magnitude in a geared block, and steps of
the coordinate, which some ratios make alike, appear nowhere.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.identifiability.parameter_maps import turn
from steelyard.identifiability.spans import length_of

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
def split(x: Array, size: int, turns: Array, parts: Array) -> None:
    """Write the parts of x (m size,) that vary 0, 1 and 2 times as fast as their bodies turn into parts."""
    once, twice, again = np.empty(x.size), np.empty(x.size), np.empty(x.size)
    for b in range(turns.shape[0]):
        at = size * b
        turn(x, at, size, turns[b], once)
        turn(once, at, size, turns[b], twice)  # T² x
        turn(twice, at, size, turns[b], once)
        turn(once, at, size, turns[b], again)  # T⁴ x
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
def slide(rows: Array, first: int, count: int, size: int, slides: Array) -> int:
    """Append what slides make of the rows from `first` on, over and over; return the number of rows then."""
    r = first
    last = count
    for _ in range(1 if size == 6 else 2):
        while r < last:
            for b in range(slides.shape[0]):
                turn(rows[r], size * b, size, slides[b], rows[count])
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
    split(x, size, turns, parts)
    rows[count] = parts[0]
    count = slide(rows, count, count + 1, size, slides) if any_slide else count + 1
    for c in range(frequencies(speeds, size, fast)):
        first = count
        rows[count], rows[count + 1] = 0.0, 0.0
        for b in range(m):
            for h in range(1, 2 if size == 6 else 3):
                if speeds[b] > 0.0 and abs(h * speeds[b] - fast[c]) <= SAME * fast[c]:
                    for k in range(size * b, size * b + size):
                        rows[first, k] = parts[h, k]
                    turn(rows[first], size * b, size, turns[b], rows[first + 1])
                    for k in range(size * b, size * b + size):
                        rows[first + 1, k] /= h
        count += 2
        if any_slide:
            count = slide(rows, first, count, size, slides)
    return count


@kernel
def most_positions(bodies: int, size: int) -> int:
    """How many vectors `all_positions` writes at most."""
    return (1 + 2 * bodies * (1 if size == 6 else 2)) * (2 if size == 6 else 3)
