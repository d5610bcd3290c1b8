"""Runs of an arm driven by position servos, with derivatives (compiled).

A template: `specialise` makes a copy for each robot, with `run_motion` and `run_slopes` its programs. What is
the same for all robots is in `servo_step`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.inputs import input_scratch, write_lanes, write_state
from steelyard.dynamics.straight_line.machine_code import LANES
from steelyard.dynamics.tree import Tree
from steelyard.rollout.servo_step import (
    ARMATURE,
    OFFSET,
    Columns,
    Pieces,
    Places,
    StepBody,
    Steps,
    Track,
    Variation,
    Work,
    advance_step,
    follow_part,
)

run_motion: Any = None
run_slopes: Any = None


@kernel
def fly_servos(
    tree: Tree,
    numbers: Numbers,
    servo: Array,
    places: Places,
    steps: Steps,
    theta: float,
    q: Array,
    v: Array,
    q_out: Array,
    v_out: Array,
    track: Track,
) -> int:
    """Run from (q, v), which is overwritten; the number of records, or -1 - the part it diverged in.

    The first sample is the start. There must be room for two records a part and 2 n + 4 more.
    """
    n, e = q.size, places.above_row.size
    x, y = input_scratch(tree, numbers, 2 * n + e)
    body = StepBody(np.zeros((n, n)), np.zeros(n), np.zeros(n), np.zeros(n), q, v)
    work = Work(np.zeros((n, n)), np.zeros(n), np.zeros(n))
    pieces = Pieces(np.zeros(n), np.zeros(n), np.zeros(n))
    spare = Pieces(np.zeros(n), np.zeros(n), np.zeros(n))
    q_at, v_at, still = np.zeros(n), np.zeros(n), np.zeros(n)
    records = 0
    for k in range(n):
        q_out[0, k], v_out[0, k] = q[k], v[k]
    for step in range(steps.length.size):
        whole = steps.whole[step]
        for k in range(n):
            body.u[k] = steps.command[step, k] + servo[k, OFFSET]
        if whole > 0.0:
            for k in range(n):
                q_at[k], v_at[k] = q[k] + (1.0 - theta) * whole * v[k], v[k]
            write_state(x, q_at, v_at, still)
            run_motion(x, y)
            for k in range(n):
                body.M[k, k] = y[k] + servo[k, ARMATURE]
                body.b[k] = y[n + e + k]
            for entry in range(e):
                i, j = places.above_row[entry], places.above_column[entry]
                body.M[i, j] = body.M[j, i] = y[n + entry]
        room = track.length.size - 2 * (steps.length.size - step) - 2
        records = advance_step(
            servo,
            step,
            steps.length[step],
            theta,
            room,
            q_at,
            v_at,
            body,
            pieces,
            spare,
            work,
            track,
            records,
        )
        if records < 0:
            return -1 - step
        if steps.sample[step] >= 0:
            for k in range(n):
                q_out[steps.sample[step], k], v_out[steps.sample[step], k] = q[k], v[k]
    return records


@kernel
def follow_servos(
    tree: Tree,
    numbers: Numbers,
    servo: Array,
    places: Places,
    steps: Steps,
    theta: float,
    track: Track,
    records: int,
    columns: Columns,
    dq_out: Array,
    dv_out: Array,
) -> None:
    """Write the derivatives of a run's samples in `columns`, shapes (samples, n, total)."""
    n, e, related, felt = (
        track.q.shape[1],
        places.above_row.size,
        places.related_row.size,
        places.felt_row.size,
    )
    outputs = n + e + 2 * related + felt
    tiles = (columns.total + LANES - 1) // LANES
    total = tiles * LANES
    x, _ = input_scratch(tree, numbers, 1)
    parameters = x[6 * n :].copy()
    given, lanes = np.zeros((1, 6 * n, LANES)), np.zeros((1, outputs, LANES))
    nothing = np.zeros((1, 0, LANES))
    none, DQ, DV = np.zeros(0), np.zeros((n, total)), np.zeros((n, total))
    body = StepBody(np.zeros((n, n)), none, none, none, none, none)
    work = Work(np.zeros((n, n)), none, np.zeros(n))
    links = columns.links.shape[1]
    B = np.zeros((columns.links.shape[0], total if links > 0 else 0))
    for place in range(columns.links.shape[0]):
        for c in range(links):
            B[place, columns.first_link + c] = columns.links[place, c]
    for k in range(n):
        DQ[k, columns.first_start + k] = 1.0
        DV[k, columns.first_start + n + k] = 1.0
        for c in range(columns.total):
            dq_out[0, k, c], dv_out[0, k, c] = DQ[k, c], DV[k, c]
    moving = Variation(
        DQ,
        DV,
        np.zeros((n, total)),
        np.zeros((n, total)),
        np.zeros((n, total)),
        np.zeros((1, total)),
        np.zeros(n),
        B,
    )
    for r in range(records):
        if r % LANES == 0:
            write_lanes(given, track.q_at, track.v_at, track.a_at, r, records)
            run_slopes(parameters, given, nothing, nothing, nothing, lanes, 0)
        follow_part(servo, places, steps, theta, track, r, lanes, columns, moving, body, work)
        step = track.step[r]
        if (r + 1 == records or track.step[r + 1] != step) and steps.sample[step] >= 0:
            sample = steps.sample[step]
            for k in range(n):
                for c in range(columns.total):
                    dq_out[sample, k, c], dv_out[sample, k, c] = DQ[k, c], DV[k, c]
