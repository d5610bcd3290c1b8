"""Derivatives in tiles: where the regressor's entries go, and the arithmetic on them (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array, IntArray, read_only
from steelyard.compiled import dense_kernel, kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line import LANES, StraightLineCode
from steelyard.dynamics.straight_line.inputs import input_scratch
from steelyard.dynamics.straight_line.machine_code import add_scaled_row, store_turned
from steelyard.dynamics.tree import Tree
from steelyard.layout import Layout

# Where the regressor's entries go, and what is kept of a run


class ScatterMap(NamedTuple):
    r"""How $Y B$ is written into tiles: `tiles.flat[target] += weight * output[source]`.

    Attributes:
        source: places in the linearisation's output, shape (entries,), dimensionless.
        target: places in the flat tiles of shape (tiles, nv, LANES), shape (entries,), dimensionless.
        weight: entries of B, shape (entries,), SI.
        firsts: the first so many entries are the first to go to their place; the others add to them.
        tiles: number of tiles.
        outputs: length of the linearisation's output.
        shared: length of its part before Y, which is the same for all columns.
    """

    source: NDArray[np.uint64]
    target: NDArray[np.uint64]
    weight: Array
    firsts: int
    tiles: int
    outputs: int
    shared: int


class Kept(NamedTuple):
    """Means over blocks of cycles of a run and of its derivatives.

    Attributes:
        q: positions, shape (M, nv), rad or m.
        v: velocities, shape (M, nv), rad/s or m/s.
        tau: commanded torques, shape (M, nv), N·m or N.
        dq: derivatives of the positions, shape (M, nv, b), SI.
        dv: derivatives of the velocities, shape (M, nv, b), SI.
        dtau: derivatives of the torques, shape (M, nv, b), SI.
    """

    q: Array
    v: Array
    tau: Array
    dq: Array
    dv: Array
    dtau: Array


def scatter_map(code: StraightLineCode, layout: Layout, basis: Array | None) -> ScatterMap:
    """Find the place of every entry of Y B.

    Args:
        code: the code whose output holds Y.
        layout: the order of phi.
        basis: B, shape (p, b), SI; None for the identity.

    Returns:
        The places and weights.
    """
    B = np.eye(layout.size) if basis is None else basis
    place = [
        10 * row + column if kind == "links" else int(layout.drive_columns[row, column])
        for kind, row, column in code.carried.columns
    ]
    source, target, weight = [], [], []
    for entry, (k, carried) in enumerate(code.felt):
        for column in np.flatnonzero(B[place[carried]]):
            source.append(code.regressor_start + entry)
            target.append((column // LANES * code.nv + k) * LANES + column % LANES)
            weight.append(B[place[carried], column])
    _, firsts = np.unique(target, return_index=True)
    order = np.concatenate([firsts, np.setdiff1d(np.arange(len(target)), firsts)])
    # Unsigned, since compiled code asks of every signed index whether it counts from the end.
    return ScatterMap(
        read_only(np.array(source, dtype=np.uint64)[order]),
        read_only(np.array(target, dtype=np.uint64)[order]),
        read_only(np.array(weight)[order]),
        len(firsts),
        -(-B.shape[1] // LANES),
        code.size,
        code.regressor_start,
    )


def room_for(blocks: int, nv: int, columns: int) -> Kept:
    """Empty arrays for the means of a run."""
    return Kept(*np.zeros((3, blocks, nv)), *np.zeros((3, blocks, nv, columns)))


# Arithmetic on derivatives in tiles (compiled).
#
# A row is `LANES` numbers, the derivatives of one quantity in as many columns. Those of the state and of a
# law's memory stand in one array: all tiles of q, then of v, then of the memory; those of the command and of
# the memory after it in another. A slope of the law takes a row of the one to a row of the other, tile by
# tile.


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
    clear_tiles(Y.reshape(-1))
    for e in range(slopes.number[cycle]):
        slope = slopes.slope[cycle, e]
        into, out_of = slopes.into[cycle, e], slopes.out_of[cycle, e]
        for _ in range(tiles):
            add_scaled_row(Y, into, slope, X, out_of)
            into += slopes.into_step[cycle, e]
            out_of += slopes.out_of_step[cycle, e]


@kernel
def clear_tiles(x: Array) -> None:
    """Set every entry to zero."""
    for e in range(x.size):
        x[e] = 0.0


@kernel
def copy_tiles(x: Array, out: Array) -> None:
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
def weigh_tiles(spread: ScatterMap, lanes: Array, felt: Array) -> None:
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
def turn_tiles(lanes: Array, count: int, start: int, out: Array) -> None:
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
    clear_tiles(tiles)


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


# A run that goes a few cycles ahead of its derivatives (compiled).


class RunAhead(NamedTuple):
    """The run where its derivatives follow: its present, and the states of the cycles ahead of them.

    Attributes:
        memory: of the law, shape (m,), SI.
        q: positions now, shape (nv,), rad or m.
        v: velocities now, shape (nv,), rad/s or m/s.
        tau: the latest commands, by cycle modulo their number, shape (lag + 2, nv), N·m or N.
        x: inputs of `run_forward`, shape (20 nv,), SI.
        y: its outputs, shape (2 nv,), SI.
        q_s: positions at the stage at hand, shape (nv,), rad or m.
        v_s: velocities there, shape (nv,), rad/s or m/s.
        a_s: accelerations there, shape (nv,), rad/s² or m/s².
        q_at: positions at every stage ahead, shape (states, nv), rad or m.
        v_at: velocities there, shape (states, nv), rad/s or m/s.
        a_at: accelerations there, shape (states, nv), rad/s² or m/s².
        slopes: of the law, for every cycle ahead; where it is linear, in the first place for all.
    """

    memory: Array
    q: Array
    v: Array
    tau: Array
    x: Array
    y: Array
    q_s: Array
    v_s: Array
    a_s: Array
    q_at: Array
    v_at: Array
    a_at: Array
    slopes: Slopes


@kernel
def start_ahead(
    tree: Tree, numbers: Numbers, memory: Array, q: Array, v: Array, lag: int, batch: int, states: int
) -> RunAhead:
    """The run at its start, with room for the cycles of a batch."""
    nv, m = q.size, memory.size
    x, y = input_scratch(tree, numbers, 2 * nv)
    entries = (batch, (nv + m) * (2 * nv + m))
    slopes = Slopes(
        np.zeros(batch, np.int64),
        np.zeros(entries, np.int64),
        np.zeros(entries, np.int64),
        np.zeros(entries, np.int64),
        np.zeros(entries, np.int64),
        np.zeros(entries),
    )
    at = (states, nv)
    tau = np.zeros((lag + 2, nv))
    q_s, v_s, a_s = np.zeros(nv), np.zeros(nv), np.zeros(nv)
    return RunAhead(memory, q, v, tau, x, y, q_s, v_s, a_s, np.zeros(at), np.zeros(at), np.zeros(at), slopes)
