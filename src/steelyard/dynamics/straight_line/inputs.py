"""The inputs and outputs of the straight-line programs of a robot (compiled).

The inputs are cos q, sin q, q, v, sign v and tau of every joint, then the link and the drive numbers. The
outputs start with the accelerations and the pivots of H.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.machine_code import LANES
from steelyard.dynamics.tree import Tree

# Sine and cosine of many angles: no branch and no call, so that vector instructions can be used.

# Quarter turns are taken off in two parts whose products with whole numbers up to 2²⁰ are exact. What is left
# lies within an eighth of a turn, where the polynomials of fdlibm (Sun, 1993) are good to the last bit.
FARTHEST = 1e4
"""Largest angle reduced this way, rad; beyond it the system's functions answer."""

TURN, REST = 1.57079632673412561417e00, 6.07710050630396597660e-11
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@kernel
def write_cos_sin(q: Array, out: Array) -> None:
    """Write the cosines of q into the first entries of out, and the sines after them."""
    count = q.size
    for k in range(count):
        n = np.floor(q[k] * (2.0 / math.pi) + 0.5)
        r = (q[k] - n * TURN) - n * REST
        z = r * r
        s = r + r * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))
        c = 1.0 - 0.5 * z + z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
        quarter = n - 4.0 * np.floor(0.25 * n)
        odd = quarter == 1.0 or quarter == 3.0
        cos, sin = (s, c) if odd else (c, s)
        out[k] = -cos if (quarter == 1.0 or quarter == 2.0) else cos
        out[count + k] = -sin if quarter >= 2.0 else sin
    for k in range(count):
        if not abs(q[k]) < FARTHEST:
            out[k], out[count + k] = math.cos(q[k]), math.sin(q[k])


@kernel
def input_scratch(tree: Tree, numbers: Numbers, outputs: int) -> tuple[Array, Array]:
    """Inputs with the parameters in place, and outputs, for a thread of its own."""
    nv = tree.parent.size
    x = np.zeros(20 * nv)
    for i in range(nv):
        for c in range(10):
            x[6 * nv + 10 * i + c] = numbers.links[i, c]
        for c in range(4):
            x[16 * nv + 4 * i + c] = numbers.drive[i, c]
    return x, np.zeros(outputs)


@kernel
def write_state(x: Array, q: Array, v: Array, tau: Array) -> None:
    """Write what changes from sample to sample into the inputs."""
    nv = q.size
    write_cos_sin(q, x)
    for k in range(nv):
        x[2 * nv + k] = q[k]
        x[3 * nv + k] = v[k]
        x[4 * nv + k] = 1.0 if v[k] > 0.0 else (-1.0 if v[k] < 0.0 else 0.0)
        x[5 * nv + k] = tau[k]


@kernel
def stuck_joint(y: Array, a: Array) -> int:
    """Copy the accelerations; -1, or the joint nearest to the tip that feels no positive inertia."""
    nv = a.size
    stuck = -1
    for k in range(nv):
        a[k] = y[k]
        if not y[nv + k] > 0.0:
            stuck = k
    return stuck


@kernel
def write_lanes(given: Array, q: Array, v: Array, a: Array, start: int, last: int) -> None:
    """Write cos q, sin q, q, v, sign v and a of `LANES` samples into given (1, 6 nv, LANES).

    Lanes beyond the last sample repeat it; what they give is not read.
    """
    nv = q.shape[1]
    for lane in range(LANES):
        n = min(start + lane, last - 1)
        for k in range(nv):
            given[0, 2 * nv + k, lane] = q[n, k]
            given[0, 3 * nv + k, lane] = v[n, k]
            # No branch: the signs of unrelated samples cannot be foretold.
            given[0, 4 * nv + k, lane] = (1.0 * (v[n, k] > 0.0)) - (1.0 * (v[n, k] < 0.0))
            given[0, 5 * nv + k, lane] = a[n, k]
    # The positions of all lanes stand in a row, and so will their cosines and sines.
    flat = given.reshape(-1)
    write_cos_sin(flat[2 * nv * LANES : 3 * nv * LANES], flat)
