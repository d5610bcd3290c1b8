"""The closed loop together with its derivatives in the parameters, in compiled code.

A template like `loop`: a copy is made for each controller and robot, with `control_step`, `run_linear` and
`run_columns` theirs. Derivatives stand in tiles of `LANES` columns, shape (tiles, rows, LANES), so that one
instruction of the processor works on several columns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.control.pd import pd_step
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.inputs import scratch, stuck_joint, write_state
from steelyard.dynamics.straight_line.machine_code import LANES, add_scaled_row
from steelyard.dynamics.tree import Tree
from steelyard.rollout.tiles import Kept, Spread
from steelyard.rollout.timing import Scheme, Timing

control_step: Any = pd_step
run_linear: Any = None
run_columns: Any = None

PROBE = 2.0**-9
"""Distance of the points from which a law is differentiated, relative to its argument."""


@kernel
def control_jacobian(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    memory: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    J: Array,
) -> None:
    r"""Write the Jacobian of a law's (tau, memory after) in (q, v, memory before) by differences.

    $$f'(x) = \frac{8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))}{12 h} + O(h^4)$$

    This is exact but for rounding where the law is linear in the state, as PD and PID laws are. Each pair is
    subtracted first: what does not depend on x is exactly zero then, and costs nothing afterwards.
    """
    nv, m = q.size, memory.size
    x, y, low = np.empty(2 * nv + m), np.empty(nv + m), np.empty(nv + m)
    for k in range(nv):
        x[k], x[nv + k] = q[k], v[k]
    for k in range(m):
        x[2 * nv + k] = memory[k]
    at, speed, before, tau, after = x[:nv], x[nv : 2 * nv], x[2 * nv :], y[:nv], y[nv:]
    for column in range(x.size):
        centre = x[column]
        h = PROBE * max(1.0, abs(centre))
        for row in range(nv + m):
            J[row, column] = 0.0
        for reach in (1, 2):
            weight = 8.0 if reach == 1 else -1.0
            for side in (-1, 1):
                x[column] = centre + side * reach * h
                for k in range(m):
                    after[k] = before[k]
                control_step(tree, numbers, gains, after, at, speed, q_ref, v_ref, a_ref, tau)
                for row in range(nv + m):
                    if side < 0:
                        low[row] = y[row]
                    else:
                        J[row, column] += weight * (y[row] - low[row])
        x[column] = centre
        for row in range(nv + m):
            J[row, column] /= 12.0 * h


@kernel
def clear(x: Array) -> None:
    """Set every entry to zero."""
    for e in range(x.size):
        x[e] = 0.0


@kernel
def vary_command(J: Array, Q: Array, V: Array, M: Array, T: Array, M_next: Array) -> None:
    """Push the derivatives of the state through the law: writes those of the command, T, and of M."""
    tiles, nv, m = Q.shape[0], Q.shape[1], M.shape[1]
    clear(T.reshape(-1))
    clear(M_next.reshape(-1))
    for row in range(nv + m):
        for column in range(2 * nv + m):
            slope = J[row, column]
            if slope == 0.0:
                continue
            for tile in range(tiles):
                into = tile * nv + row if row < nv else tile * m + row - nv
                out = T if row < nv else M_next
                if column < nv:
                    add_scaled_row(out, into, slope, Q, tile * nv + column)
                elif column < 2 * nv:
                    add_scaled_row(out, into, slope, V, tile * nv + column - nv)
                else:
                    add_scaled_row(out, into, slope, M, tile * m + column - 2 * nv)
    m_flat, next_flat = M.reshape(-1), M_next.reshape(-1)
    for e in range(m_flat.size):
        m_flat[e] = next_flat[e]


@kernel
def untile(tiles: Array, out: Array) -> None:
    """Move flat tiles to their columns in out (nv, columns), and clear them."""
    nv = out.shape[0]
    for k in range(nv):
        for column in range(out.shape[1]):
            out[k, column] = tiles[(column // LANES * nv + k) * LANES + column % LANES]
    clear(tiles)


@kernel
def mix(x: Array, c: float, y: Array, out: Array) -> None:
    """Write x + c y into out, entry by entry."""
    for e in range(out.size):
        out[e] = x[e] + c * y[e]


@kernel
def add(out: Array, c: float, y: Array) -> None:
    """Add c y to out, entry by entry."""
    for e in range(out.size):
        out[e] += c * y[e]


@kernel
def vary(
    tree: Tree,
    numbers: Numbers,
    law: tuple[Tree, Numbers, Array],
    linear: bool,
    memory: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    scheme: Scheme,
    timing: Timing,
    spread: Spread,
    average: int,
    q: Array,
    v: Array,
    kept: Kept,
) -> tuple[int, int]:
    """Run the loop; (-1, -1), or the cycle it stopped in and the joint without inertia (-1: diverged).

    One function that calls each program once, see `loop.simulate`; capital letters are derivatives in tiles.
    """
    nv, m, blocks = q.size, memory.size, kept.q.shape[0]
    law_tree, law_numbers, gains = law
    tiled = (spread.tiles, nv, LANES)
    x, y = scratch(tree, numbers, spread.outputs)
    q_s, v_s, a_s, v_sum, a_sum = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv)
    Q, V = np.zeros(tiled), np.zeros(tiled)
    M, M_next = np.zeros((spread.tiles, m, LANES)), np.zeros((spread.tiles, m, LANES))
    Q_s, V_s, A_s, V_sum, A_sum, F = (
        np.zeros(tiled), np.zeros(tiled), np.zeros(tiled), np.zeros(tiled), np.zeros(tiled), np.zeros(tiled)
    )  # fmt: skip
    f, Q_flat, V_flat = F.reshape(-1), Q.reshape(-1), V.reshape(-1)
    Q_s_flat, V_s_flat, A_s_flat = Q_s.reshape(-1), V_s.reshape(-1), A_s.reshape(-1)
    V_sum_flat, A_sum_flat = V_sum.reshape(-1), A_sum.reshape(-1)
    Q_mean, V_mean, T_mean = np.zeros(f.size), np.zeros(f.size), np.zeros(f.size)
    J = np.zeros((nv + m, 2 * nv + m))
    # The commands on their way to the joints. Before the first arrives it acts too; it is the same for all
    # parameters, since the run starts from one state.
    length = timing.lag + 2
    tau = np.zeros((length, nv))
    T = np.zeros((length, spread.tiles, nv, LANES))
    share = 1.0 / average
    for n in range(blocks * average):
        size = 0.0
        for k in range(nv):
            size += abs(q[k]) + abs(v[k])
        if not math.isfinite(size):
            return n, -1
        now, block = n % length, n // average
        # In the first cycle nothing has a derivative yet, and a law may still be starting.
        if n == 1 or not linear:
            control_jacobian(law_tree, law_numbers, gains, memory, q, v, q_ref[n], v_ref[n], a_ref[n], J)
        vary_command(J, Q, V, M, T[now], M_next)
        control_step(law_tree, law_numbers, gains, memory, q, v, q_ref[n], v_ref[n], a_ref[n], tau[now])
        for k in range(nv):
            if n == 0:
                for i in range(1, length):
                    tau[i, k] = tau[0, k]
            kept.q[block, k] += share * q[k]
            kept.v[block, k] += share * v[k]
            kept.tau[block, k] += share * tau[now, k]
        add(Q_mean, share, Q_flat)
        add(V_mean, share, V_flat)
        add(T_mean, share, T[now].reshape(-1))
        if n % average == average - 1:
            untile(Q_mean, kept.dq[block])
            untile(V_mean, kept.dv[block])
            untile(T_mean, kept.dtau[block])
        if n + 1 == blocks * average:
            break
        for step in range(timing.early_steps + timing.late_steps):
            late = step >= timing.early_steps
            h = timing.late_step if late else timing.early_step
            held = (n + (2 if late else 1)) % length
            for k in range(nv):
                v_s[k] = a_s[k] = v_sum[k] = a_sum[k] = 0.0
            clear(V_s_flat)
            clear(A_s_flat)
            clear(V_sum_flat)
            clear(A_sum_flat)
            for s in range(scheme.nodes.size):
                c, w = h * scheme.nodes[s], scheme.weights[s]
                for k in range(nv):
                    q_s[k] = q[k] + c * v_s[k]
                    v_s[k] = v[k] + c * a_s[k]
                mix(Q_flat, c, V_s_flat, Q_s_flat)
                mix(V_flat, c, A_s_flat, V_s_flat)
                write_state(x, q_s, v_s, tau[held])
                run_linear(x, y)
                stuck = stuck_joint(y, a_s)
                if stuck >= 0:
                    return n, stuck
                clear(f)
                for e in range(spread.source.size):
                    f[spread.target[e]] += spread.weight[e] * y[spread.source[e]]
                for tile in range(spread.tiles):
                    run_columns(y, Q_s, V_s, T[held], F, A_s, tile)
                for k in range(nv):
                    v_sum[k] += w * v_s[k]
                    a_sum[k] += w * a_s[k]
                add(V_sum_flat, w, V_s_flat)
                add(A_sum_flat, w, A_s_flat)
            for k in range(nv):
                q[k] += h * (v_sum[k] + scheme.lift * h * a_sum[k])
                v[k] += h * a_sum[k]
            add(Q_flat, h, V_sum_flat)
            if scheme.lift != 0.0:
                add(Q_flat, scheme.lift * h * h, A_sum_flat)
            add(V_flat, h, A_sum_flat)
    return -1, -1
