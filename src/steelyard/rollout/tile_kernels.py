"""Arithmetic on derivatives in tiles (compiled).

A row is `LANES` numbers, the derivatives of one quantity in as many columns. Those of the state and of a
law's memory stand in one array: all tiles of q, then of v, then of the memory; those of the command and of
the memory after it in another. A slope of the law takes a row of the one to a row of the other, tile by tile.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.arrays import Array, IntArray
from steelyard.compiled import dense_kernel, kernel
from steelyard.dynamics.straight_line.machine_code import LANES, add_scaled_row, store_turned
from steelyard.rollout.tiles import Spread


class Slopes(NamedTuple):
    """The entries of a law's Jacobian that are not zero, for several cycles.

    Attributes:
        number: how many there are, shape (cycles,), dimensionless.
        into: row of the command or memory in the first tile, shape (cycles, entries), dimensionless.
        into_step: rows from there to the next tile, shape (cycles, entries), dimensionless.
        out_of: row of the state or memory in the first tile, shape (cycles, entries), dimensionless.
        out_of_step: rows from there to the next tile, shape (cycles, entries), dimensionless.
        slope: the entries, shape (cycles, entries), SI.
    """

    number: IntArray
    into: IntArray
    into_step: IntArray
    out_of: IntArray
    out_of_step: IntArray
    slope: Array


@kernel
def write_slopes(J: Array, nv: int, tiles: int, cycle: int, slopes: Slopes) -> None:
    """Write the entries of J that are not zero as the slopes of a cycle."""
    m = J.shape[0] - nv
    e = 0
    # Column by column: neighbours go to different rows, so that no addition waits for the one before it.
    for j in range(J.shape[1]):
        for i in range(J.shape[0]):
            if J[i, j] == 0.0:
                continue
            slopes.into[cycle, e] = i if i < nv else tiles * nv + i - nv
            slopes.into_step[cycle, e] = nv if i < nv else m
            kind = min(j // nv, 2)
            slopes.out_of[cycle, e] = kind * tiles * nv + j - kind * nv
            slopes.out_of_step[cycle, e] = nv if kind < 2 else m
            slopes.slope[cycle, e] = J[i, j]
            e += 1
    slopes.number[cycle] = e


@dense_kernel
def vary_command(slopes: Slopes, cycle: int, tiles: int, X: Array, Y: Array) -> None:
    """Push the derivatives of state and memory, X, through the law: Y, of the command and the memory."""
    clear(Y.reshape(-1))
    for e in range(slopes.number[cycle]):
        slope = slopes.slope[cycle, e]
        into, out_of = slopes.into[cycle, e], slopes.out_of[cycle, e]
        for _ in range(tiles):
            add_scaled_row(Y, into, slope, X, out_of)
            into += slopes.into_step[cycle, e]
            out_of += slopes.out_of_step[cycle, e]


@kernel
def clear(x: Array) -> None:
    """Set every entry to zero."""
    for e in range(x.size):
        x[e] = 0.0


@kernel
def copy(x: Array, out: Array) -> None:
    """Write x into out, entry by entry."""
    for e in range(out.size):
        out[e] = x[e]


@kernel
def add_to_sums(Q: Array, V: Array, T: Array, Q_sum: Array, V_sum: Array, T_sum: Array) -> None:
    """Add the derivatives of a cycle to those of its block."""
    for e in range(Q.size):
        Q_sum[e] += Q[e]
        V_sum[e] += V[e]
        T_sum[e] += T[e]


@dense_kernel
def weigh(spread: Spread, lanes: Array, felt: Array) -> None:
    """Write Y B of `LANES` states from linearisations in lanes (1, outputs, LANES): a row for each place."""
    for e in range(spread.source.size):
        source, target, weight = spread.source[e], spread.target[e], spread.weight[e]
        if e < spread.firsts:
            for lane in range(LANES):
                felt[0, target, lane] = weight * lanes[0, source, lane]
        else:
            for lane in range(LANES):
                felt[0, target, lane] += weight * lanes[0, source, lane]


@kernel
def turn(lanes: Array, count: int, start: int, out: Array) -> None:
    """Write the first rows of lanes (1, rows, LANES) as columns of out, in its rows from start on."""
    e, width = 0, out.shape[1]
    while e + LANES <= count:
        store_turned(lanes, e, out, start * width + e, width)
        e += LANES
    for rest in range(e, count):
        for lane in range(LANES):
            out[start + lane, rest] = lanes[0, rest, lane]


@kernel
def untile(tiles: Array, share: float, out: Array) -> None:
    """Write share times flat tiles to their columns in out (nv, columns), and clear them."""
    nv = out.shape[0]
    for k in range(nv):
        for column in range(out.shape[1]):
            out[k, column] = share * tiles[(column // LANES * nv + k) * LANES + column % LANES]
    clear(tiles)


@kernel
def next_stage(
    w: float,
    c: float,
    Q: Array,
    V: Array,
    V_at: Array,
    A: Array,
    V_sum: Array,
    A_sum: Array,
    Q_s: Array,
    V_s: Array,
) -> None:
    """From a stage at velocity V_at to the next: its share of the sums, and Q + c V_at, V + c A."""
    for e in range(Q.size):
        v, a = V_at[e], A[e]
        V_sum[e] += w * v
        A_sum[e] += w * a
        Q_s[e] = Q[e] + c * v
        V_s[e] = V[e] + c * a


@kernel
def last_stage(
    w: float, h: float, lift: float, V_at: Array, A: Array, V_sum: Array, A_sum: Array, Q: Array, V: Array
) -> None:
    """Complete the sums, step Q and V by h with them, and clear them."""
    for e in range(Q.size):
        a = A_sum[e] + w * A[e]
        Q[e] += h * (V_sum[e] + w * V_at[e] + lift * h * a)
        V[e] += h * a
        V_sum[e] = 0.0
        A_sum[e] = 0.0
