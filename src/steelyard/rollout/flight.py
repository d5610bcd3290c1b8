"""A run that goes a few cycles ahead of its derivatives (compiled)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.inputs import scratch
from steelyard.dynamics.tree import Tree
from steelyard.rollout.tile_kernels import Slopes


class Flight(NamedTuple):
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
def take_off(
    tree: Tree, numbers: Numbers, memory: Array, q: Array, v: Array, lag: int, batch: int, states: int
) -> Flight:
    """The run at its start, with room for the cycles of a batch."""
    nv, m = q.size, memory.size
    x, y = scratch(tree, numbers, 2 * nv)
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
    return Flight(memory, q, v, tau, x, y, q_s, v_s, a_s, np.zeros(at), np.zeros(at), np.zeros(at), slopes)
