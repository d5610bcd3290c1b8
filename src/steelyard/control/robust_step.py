"""The compiled step of `RobustTracking`."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.control.passivity_terms import largest_disturbance, largest_energy, link_rows, reference_torque
from steelyard.control.robust_torque import robust_torque
from steelyard.dynamics.batch import DRIVE_NUMBERS, Numbers
from steelyard.dynamics.tree import Tree

FORM, KR, LEVEL, GAIN, RESERVE, REST, BOX = range(7)
"""Places of the constants among the gains, read row by row; the half-widths start at `BOX`."""


@kernel
def half_widths(nb: int, nv: int, gains: Array) -> Numbers:
    """The half-widths of links and drives, from the gains."""
    flat = gains.reshape(-1)
    end = BOX + 10 * nb
    links = flat[BOX:end].reshape((nb, 10))
    return Numbers(links, flat[end : end + DRIVE_NUMBERS * nv].reshape((nv, DRIVE_NUMBERS)))


@kernel
def robust_parts(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    tau: Array,
    r: Array,
    w_M: Array,
) -> float:
    """Write the nominal torque, r and w_M; return the most energy of r in the box."""
    nb, nv = tree.parent.size, q.size
    flat = gains.reshape(-1)
    v_a = np.empty(nv)
    a_a = np.empty(nv)
    for j in range(nv):
        v_a[j] = v_ref[j] + flat[KR] * (q_ref[j] - q[j])
        a_a[j] = a_ref[j] + flat[KR] * (v_ref[j] - v[j])
        r[j] = v_a[j] - v[j]
    J = np.empty((nb, nv, 6))
    Y = np.empty((nv, 10 * nb))
    half = half_widths(nb, nv, gains)
    link_rows(tree, q, v, v_a, a_a, J, Y)
    reference_torque(numbers, flat[REST], v_a, a_a, Y, tau)
    largest_disturbance(numbers, half, flat[REST], v_a, a_a, Y, w_M)
    return largest_energy(tree, numbers, half, r, J)


@kernel
def robust_step(
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
    """The law of `RobustTracking`; gains are its constants, then the half-widths of the box."""
    flat = gains.reshape(-1)
    r = np.empty(q.size)
    w_M = np.empty(q.size)
    u = np.empty(q.size)
    energy = robust_parts(tree, numbers, gains, q, v, q_ref, v_ref, a_ref, tau, r, w_M)
    robust_torque(int(flat[FORM]), flat[LEVEL], flat[GAIN], flat[RESERVE], r, w_M, energy, u)
    for j in range(q.size):
        tau[j] += u[j]
