"""One cycle of hand guiding: observe, map to the tool, move a virtual mass, follow it (compiled)."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.control.computed_torque import computed_torque_step
from steelyard.control.momentum_observer import momentum_and_rate, observe
from steelyard.control.tool_frame import damped_square, solve_square, tool_jacobian
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree

# Where the numbers that belong to no joint stand, after the rows K_p, K_d, K_O of the gains.
JOINT_ROWS = 3
CYCLE, INVERSE_DAMPING, LINK, POSE, CHOSEN, MASS, DAMPING, THRESHOLD = 0, 1, 2, 3, 15, 21, 27, 33

# Where the blocks of the memory start: whether it has started, the virtual twist, then nv numbers each.
TWIST, BLOCKS = 1, 7
MOMENTUM, RATE, EXTERNAL, POSITION, VELOCITY, COMMAND, BLOCK_COUNT = 0, 1, 2, 3, 4, 5, 6


@kernel
def block(memory: Array, nv: int, which: int) -> Array:
    """One of the nv-blocks of the memory, in place."""
    start = BLOCKS + which * nv
    return memory[start : start + nv]


@kernel
def outside_dead_zone(f: float, threshold: float) -> float:
    """What of f exceeds the threshold, with its sign."""
    if f > threshold:
        return f - threshold
    if f < -threshold:
        return f + threshold
    return 0.0


@kernel
def move_virtual_mass(other: Array, J: Array, external: Array, twist: Array, joints: Array) -> None:
    r"""Advance the virtual twist x (6,) by one cycle and write the joint velocities (nv,) that realise it.

    $$f = (J J^T + \lambda^2 1)^{-1} J r, \qquad
      x_k = \frac{M_d\,x_{k-1} + h\operatorname{dz}(f)}{M_d + h D_d}, \qquad
      v = J^T (J J^T + \lambda^2 1)^{-1} x_k$$
    """
    h, nv = other[CYCLE], external.size
    L = np.zeros((6, 6))
    damped_square(J, other[INVERSE_DAMPING], L)
    f = np.zeros(6)
    for r in range(6):
        for k in range(nv):
            f[r] += J[r, k] * external[k]
    solve_square(L, f)
    for r in range(6):
        push = outside_dead_zone(f[r], other[THRESHOLD + r])
        mass, damping = other[MASS + r], other[DAMPING + r]
        twist[r] = (mass * twist[r] + h * push) / (mass + h * damping)
        f[r] = twist[r]
    solve_square(L, f)
    for k in range(nv):
        joints[k] = 0.0
        for r in range(6):
            joints[k] += J[r, k] * f[r]


@kernel
def admittance_step(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    memory: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    tau: Array,
) -> None:
    """The law of `Admittance`; gains are K_p, K_d, K_O, then the numbers of the tool."""
    nb, nv = tree.parent.size, q.size
    other = gains[JOINT_ROWS:].flatten()
    h = other[CYCLE]
    R, p, V = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 6))
    g, F, G = np.empty((nb, 3)), np.empty((nb, 6)), np.empty((nb, 6))
    momentum, rate, acceleration = np.empty(nv), np.empty(nv), np.zeros(nv)
    last_momentum, last_rate = block(memory, nv, MOMENTUM), block(memory, nv, RATE)
    external, last_command = block(memory, nv, EXTERNAL), block(memory, nv, COMMAND)
    position, velocity = block(memory, nv, POSITION), block(memory, nv, VELOCITY)
    momentum_and_rate(tree, numbers, q, v, R, p, V, g, F, G, momentum, rate)
    if memory[0] > 0.5:
        known = np.empty(nv)
        for k in range(nv):
            known[k] = last_command[k] - numbers.drive[k, 1] * np.sign(velocity[k])
        observe(gains[2], h, momentum, rate, known, last_momentum, last_rate, external)
        J = np.empty((6, nv))
        pose, chosen = other[POSE:CHOSEN], other[CHOSEN:MASS]
        tool_jacobian(tree, int(other[LINK]), pose, chosen, R, p, J)
        follow = np.empty(nv)
        move_virtual_mass(other, J, external, memory[TWIST:BLOCKS], follow)
        for k in range(nv):
            acceleration[k] = (follow[k] - velocity[k]) / h
            position[k] += 0.5 * h * (velocity[k] + follow[k])
            velocity[k] = follow[k]
    else:
        memory[0] = 1.0
        for k in range(nv):
            last_momentum[k], last_rate[k], position[k] = momentum[k], rate[k], q[k]
    computed_torque_step(tree, numbers, gains, memory, q, v, position, velocity, acceleration, tau)
    for k in range(nv):
        last_command[k] = tau[k]
