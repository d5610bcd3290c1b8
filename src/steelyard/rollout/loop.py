"""The closed loop in compiled code.

A template: `specialise` makes a copy for each controller and robot, in which `control_step`, `scratch` and
`acceleration` are theirs. As it stands it is the loop of a PD controller with the generic kernels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.control.pd import pd_step
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.forward_dynamics import ForwardScratch, forward_scratch, sample_forward_dynamics
from steelyard.dynamics.tree import Tree
from steelyard.rollout.closed_loop import Scheme, Timing

control_step: Any = pd_step
acceleration: Any = sample_forward_dynamics


@kernel
def scratch(tree: Tree, numbers: Numbers) -> ForwardScratch:
    """Memory of `acceleration`."""
    return forward_scratch(tree.parent.size, tree.subspace.shape[0])


@kernel
def simulate_loop(
    tree: Tree,
    numbers: Numbers,
    law: tuple[Tree, Numbers, Array],
    memory: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    scheme: Scheme,
    timing: Timing,
    q: Array,
    v: Array,
    q_out: Array,
    v_out: Array,
    tau_out: Array,
) -> tuple[int, int]:
    """Run the loop; (-1, -1), or the cycle it stopped in and the joint without inertia (-1: diverged).

    One function with one call of `acceleration`: the compiler goes over a callee again in each caller.
    """
    cycles, nv = q_ref.shape
    law_tree, law_numbers, gains = law
    work = scratch(tree, numbers)
    q_s, v_s, a_s, v_sum, a_sum = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv)
    for n in range(cycles):
        size = 0.0
        for k in range(nv):
            q_out[n, k] = q[k]
            v_out[n, k] = v[k]
            size += abs(q[k]) + abs(v[k])
        if not math.isfinite(size):
            return n, -1
        control_step(law_tree, law_numbers, gains, memory, q, v, q_ref[n], v_ref[n], a_ref[n], tau_out[n])
        if n + 1 == cycles:
            break
        for step in range(timing.early_steps + timing.late_steps):
            late = step >= timing.early_steps
            h = timing.late_step if late else timing.early_step
            tau = tau_out[max(n - timing.lag - (0 if late else 1), 0)]
            for k in range(nv):
                v_s[k] = a_s[k] = v_sum[k] = a_sum[k] = 0.0
            for s in range(scheme.nodes.size):
                c, w = h * scheme.nodes[s], scheme.weights[s]
                for k in range(nv):
                    q_s[k] = q[k] + c * v_s[k]
                    v_s[k] = v[k] + c * a_s[k]
                stuck = acceleration(tree, numbers, q_s, v_s, tau, work, a_s)
                if stuck >= 0:
                    return n, stuck
                for k in range(nv):
                    v_sum[k] += w * v_s[k]
                    a_sum[k] += w * a_s[k]
            for k in range(nv):
                q[k] += h * (v_sum[k] + scheme.lift * h * a_sum[k])
                v[k] += h * a_sum[k]
    return -1, -1
