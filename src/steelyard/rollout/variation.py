"""The closed loop together with its derivatives in the parameters, in compiled code.

A template like `loop`: a copy is made for each controller and robot, with `control_step`, `run_forward`,
`run_linear` and `run_columns` theirs.

The run does not depend on its derivatives. So it goes ahead by a few cycles; their states are linearised
together, `LANES` at a time; and the derivatives follow in tiles of `LANES` columns, shape (tiles, rows,
LANES). One instruction of the processor then works on several states, or on several columns. The run itself
is exact IEEE arithmetic and has the bits of `loop`; in the derivatives products and sums may be fused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import dense_kernel, kernel
from steelyard.control.pd import pd_step
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.inputs import stuck_joint, write_lanes, write_state
from steelyard.dynamics.straight_line.machine_code import LANES
from steelyard.dynamics.tree import Tree
from steelyard.rollout.closed_loop import Scheme, Timing
from steelyard.rollout.tiles import (
    Kept,
    RunAhead,
    ScatterMap,
    add_to_sums,
    copy_tiles,
    last_stage,
    next_stage,
    start_ahead,
    turn_tiles,
    untile,
    vary_command,
    weigh_tiles,
    write_slopes,
)

control_step: Any = pd_step
run_forward: Any = None
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
def fly(
    law: tuple[Tree, Numbers, Array],
    linear: bool,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    scheme: Scheme,
    timing: Timing,
    average: int,
    tiles: int,
    first: int,
    last: int,
    flight: RunAhead,
    kept: Kept,
) -> tuple[int, int]:
    """Run the cycles first … last - 1, see `loop.simulate`; (-1, -1), or cycle and joint as `vary`."""
    q, v, tau, x, y = flight.q, flight.v, flight.tau, flight.x, flight.y
    nv, m, length = q.size, flight.memory.size, len(tau)
    law_tree, law_numbers, gains = law
    q_s, v_s, a_s = flight.q_s, flight.v_s, flight.a_s
    q_at, v_at, a_at = flight.q_at, flight.v_at, flight.a_at
    stages, total, share, state = scheme.nodes.size, len(kept.q) * average, 1.0 / average, 0
    for n in range(first, last):
        size = 0.0
        for k in range(nv):
            size += abs(q[k]) + abs(v[k])
        if not math.isfinite(size):
            return n, -1
        now, block = n % length, n // average
        # In the first cycle nothing has a derivative yet, and a law may still be starting.
        if n == 1 or (n > 1 and not linear):
            J = np.empty((nv + m, 2 * nv + m))
            control_jacobian(
                law_tree, law_numbers, gains, flight.memory, q, v, q_ref[n], v_ref[n], a_ref[n], J
            )
            write_slopes(J, nv, tiles, 0 if linear else n - first, flight.slopes)
        control_step(
            law_tree, law_numbers, gains, flight.memory, q, v, q_ref[n], v_ref[n], a_ref[n], tau[now]
        )
        for k in range(nv):
            # Before the first command arrives it acts too.
            if n == 0:
                for i in range(1, length):
                    tau[i, k] = tau[0, k]
            kept.q[block, k] += share * q[k]
            kept.v[block, k] += share * v[k]
            kept.tau[block, k] += share * tau[now, k]
        if n + 1 == total:
            break
        for step in range(timing.early_steps + timing.late_steps):
            late = step >= timing.early_steps
            h = timing.late_step if late else timing.early_step
            held = tau[(n + (2 if late else 1)) % length]
            for k in range(nv):
                v_s[k] = a_s[k] = 0.0
            for s in range(stages):
                c = h * scheme.nodes[s]
                for k in range(nv):
                    q_s[k] = q[k] + c * v_s[k]
                    v_s[k] = v[k] + c * a_s[k]
                write_state(x, q_s, v_s, held)
                run_forward(x, y)
                stuck = stuck_joint(y, a_s)
                if stuck >= 0:
                    return n, stuck
                for k in range(nv):
                    q_at[state + s, k] = q_s[k]
                    v_at[state + s, k] = v_s[k]
                    a_at[state + s, k] = a_s[k]
            for k in range(nv):
                v_sum = a_sum = 0.0
                for s in range(stages):
                    v_sum += scheme.weights[s] * v_at[state + s, k]
                    a_sum += scheme.weights[s] * a_at[state + s, k]
                q[k] += h * (v_sum + scheme.lift * h * a_sum)
                v[k] += h * a_sum
            state += stages
    return -1, -1


@dense_kernel
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
    spread: ScatterMap,
    average: int,
    q: Array,
    v: Array,
    kept: Kept,
) -> tuple[int, int]:
    """Run the loop; (-1, -1), or the cycle it stopped in and the joint without inertia (-1: diverged).

    One function that calls each program once, see `loop.simulate`; capital letters are derivatives in tiles.
    """
    nv, m, total = q.size, memory.size, len(kept.q) * average
    stages, steps = scheme.nodes.size, timing.early_steps + timing.late_steps
    # Twice the cycles that fill all lanes: every call counts references to its arrays, which takes time.
    batch = 2 * LANES // math.gcd(LANES, stages * steps)
    states = batch * stages * steps
    flight = start_ahead(tree, numbers, memory, q, v, timing.lag, batch, states)
    parameters = flight.x[6 * nv :].copy()
    given, lanes, nothing = (
        np.zeros((1, 6 * nv, LANES)), np.zeros((1, spread.outputs, LANES)), np.zeros((1, 0, LANES))
    )  # fmt: skip
    y = np.zeros((states, spread.shared))
    felt, F = np.zeros((1, spread.tiles * nv * LANES, LANES)), np.zeros((states, spread.tiles, nv, LANES))
    F_flat = F.reshape(states, -1)
    rows, tiled = spread.tiles * nv, (spread.tiles, nv, LANES)
    X, Y = np.zeros((2 * rows + spread.tiles * m, LANES)), np.zeros((rows + spread.tiles * m, LANES))
    Q, V, M = X[:rows].reshape(tiled), X[rows : 2 * rows].reshape(tiled), X[2 * rows :].reshape(-1)
    T_new, M_new = Y[:rows].reshape(-1), Y[rows:].reshape(-1)
    Q_flat, V_flat = Q.reshape(-1), V.reshape(-1)
    Q_s, V_s, A = np.zeros(tiled), np.zeros(tiled), np.zeros(tiled)
    Q_s_flat, V_s_flat, A_flat = Q_s.reshape(-1), V_s.reshape(-1), A.reshape(-1)
    V_sum, A_sum = np.zeros(rows * LANES), np.zeros(rows * LANES)
    Q_block, V_block, T_block = np.zeros(rows * LANES), np.zeros(rows * LANES), np.zeros(rows * LANES)
    # The first command acts before it arrives too. It is the same for all parameters, since the run starts
    # from one state.
    length = timing.lag + 2
    T = np.zeros((length, spread.tiles, nv, LANES))
    T_flat = T.reshape(length, -1)
    for first in range(0, total, batch):
        last = min(first + batch, total)
        stop, stuck = fly(
            law, linear, q_ref, v_ref, a_ref, scheme, timing, average, spread.tiles, first, last, flight, kept
        )  # fmt: skip
        if stop >= 0:
            return stop, stuck
        for start in range(0, states, LANES):
            write_lanes(given, flight.q_at, flight.v_at, flight.a_at, start, states)
            run_linear(parameters, given, nothing, nothing, nothing, lanes, 0)
            turn_tiles(lanes, spread.shared, start, y)
            weigh_tiles(spread, lanes, felt)
            turn_tiles(felt, F_flat.shape[1], start, F_flat)
        state = 0
        for n in range(first, last):
            vary_command(flight.slopes, 0 if linear else n - first, spread.tiles, X, Y)
            copy_tiles(M_new, M)
            copy_tiles(T_new, T_flat[n % length])
            add_to_sums(Q_flat, V_flat, T_new, Q_block, V_block, T_block)
            if n % average == average - 1:
                untile(Q_block, 1.0 / average, kept.dq[n // average])
                untile(V_block, 1.0 / average, kept.dv[n // average])
                untile(T_block, 1.0 / average, kept.dtau[n // average])
            if n + 1 == total:
                break
            for step in range(steps):
                late = step >= timing.early_steps
                h = timing.late_step if late else timing.early_step
                T_held = T[(n + (2 if late else 1)) % length]
                for s in range(stages):
                    Q_at, V_at = (Q, V) if s == 0 else (Q_s, V_s)
                    y_s, F_s = y[state], F[state]
                    for tile in range(spread.tiles):
                        run_columns(y_s, Q_at, V_at, T_held, F_s, A, tile)
                    state += 1
                    w, V_at_flat = scheme.weights[s], V_flat if s == 0 else V_s_flat
                    if s + 1 < stages:
                        c = h * scheme.nodes[s + 1]
                        next_stage(w, c, Q_flat, V_flat, V_at_flat, A_flat, V_sum, A_sum, Q_s_flat, V_s_flat)
                    else:
                        last_stage(w, h, scheme.lift, V_at_flat, A_flat, V_sum, A_sum, Q_flat, V_flat)
    return -1, -1
