"""Controller, drives, arm and sensors in compiled code, cycle by cycle.

A template: `specialise` makes a copy for each law, in which `control_step` is the law's. As it stands it is
the loop of a PD controller.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.control.pd import pd_step
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree
from steelyard.simulation.plant import DONE, Arm, Ending, advance_plant
from steelyard.simulation.sensing import Encoders, read_state

control_step: Any = pd_step


class CycleCommands(NamedTuple):
    """The commands of a run and their way to the joints; time is counted in cycles.

    Attributes:
        limits: what they are clipped to, shape (nv,), N·m or N.
        clipped: in how many cycles they were, shape (nv,), dimensionless.
        arrival: when each acts from, never before the one sent earlier, shape (n,), dimensionless.
        gain: torque at the joint over the command, shape (nv,), dimensionless.
        tau: the clipped commands, shape (n, nv), N·m or N.
        acting: the number of the command that acts, and of the one that arrives next, shape (2,),
            dimensionless.
    """

    limits: Array
    clipped: IntArray
    arrival: Array
    gain: Array
    tau: Array
    acting: IntArray


class Log(NamedTuple):
    """What a run leaves.

    Attributes:
        every: how many cycles from one row to the next.
        path: true positions at every cycle, shape (n, nv), rad or m.
        q: positions that the law saw, shape (N, nv), rad or m.
        v: velocities that it saw, shape (N, nv), rad/s or m/s.
        tau: the commands that acted, shape (N, nv), N·m or N.
    """

    every: int
    path: Array
    q: Array
    v: Array
    tau: Array


@kernel
def run(
    arm: Arm,
    order: IntArray,
    law: tuple[Tree, Numbers, Array],
    memory: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    truth: bool,
    encoders: Encoders,
    commands: CycleCommands,
    log: Log,
    first: int,
    last: int,
) -> Ending:
    """Run the cycles from the first to before the last, and log them; how that ended.

    `order` tells where each joint stands in the arm. With `truth` the law sees the state as it is.
    """
    cycles, nv = q_ref.shape
    tree, numbers, gains = law
    rows = np.empty((4, nv))
    q, v, encoder, push = rows[0], rows[1], rows[2], rows[3]
    now, coming = commands.acting[0], commands.acting[1]
    for k in range(first, last):
        for j in range(nv):
            q[j], v[j], encoder[j] = arm.q[order[j]], arm.v[order[j]], arm.encoder[order[j]]
            log.path[k, j] = q[j]
        if not truth:
            read_state(encoders, encoder)
            for j in range(nv):
                q[j], v[j] = encoders.q[j], encoders.v[j]
        tau = commands.tau[k]
        control_step(tree, numbers, gains, memory, q, v, q_ref[k], v_ref[k], a_ref[k], tau)
        for j in range(nv):
            limit = commands.limits[j]
            if abs(tau[j]) > limit:
                commands.clipped[j] += 1
                tau[j] = limit if tau[j] > 0.0 else -limit
        while coming <= k and commands.arrival[coming] <= k:
            now, coming = coming, coming + 1
        if k % log.every == 0:
            row = k // log.every
            for j in range(nv):
                log.q[row, j], log.v[row, j], log.tau[row, j] = q[j], v[j], commands.tau[now, j]
        if k + 1 == cycles:
            break
        since = float(k)
        while since < k + 1:
            until = min(commands.arrival[coming], k + 1.0) if coming <= k else k + 1.0
            for j in range(nv):
                push[order[j]] = commands.gain[j] * commands.tau[now, j]
            ending = advance_plant(arm, push, (until - since) * encoders.cycle)
            if ending.outcome != DONE:
                return ending
            since = until
            if since < k + 1:
                now, coming = coming, coming + 1
    commands.acting[0], commands.acting[1] = now, coming
    return Ending(DONE, -1, 0.0)
