"""The inputs and outputs of the straight-line programs of a robot (compiled).

The inputs are cos q, sin q, q, v, sign v and tau of every joint, then the link and the drive numbers. The
outputs start with the accelerations and the pivots of H.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.straight_line.machine_code import LANES
from steelyard.dynamics.straight_line.sine import write_cos_sin
from steelyard.dynamics.tree import Tree


@kernel
def scratch(tree: Tree, numbers: Numbers, outputs: int) -> tuple[Array, Array]:
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
