"""Gradients of weighted regressors of many samples by a straight-line program (compiled).

A template: `specialise` makes a copy for each tree, with its program in place of the placeholder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.dynamics.straight_line.inputs import write_lanes
from steelyard.dynamics.straight_line.machine_code import LANES

run_gradient: Any = None


@kernel
def write_gradient(
    first: int,
    last: int,
    places: IntArray,
    G: Array,
    q: Array,
    v: Array,
    a: Array,
    q_bar: Array,
    v_bar: Array,
    a_bar: Array,
) -> None:
    """Write the gradients of the samples first … last - 1 for weights G (N, nv p), `LANES` at a time."""
    nv = q.shape[1]
    given = np.empty((1, 6 * nv, LANES))
    weights = np.empty((1, places.size, LANES))
    nothing = np.empty((1, 0, LANES))
    scalars = np.empty(0)
    gradient = np.empty((1, 3 * nv, LANES))
    for start in range(first, last, LANES):
        write_lanes(given, q, v, a, start, last)
        for lane in range(LANES):
            n = min(start + lane, last - 1)
            for e in range(places.size):
                weights[0, e, lane] = G[n, places[e]]
        run_gradient(scalars, given, weights, nothing, nothing, gradient, 0)
        for lane in range(min(LANES, last - start)):
            for k in range(nv):
                q_bar[start + lane, k] = gradient[0, k, lane]
                v_bar[start + lane, k] = gradient[0, nv + k, lane]
                a_bar[start + lane, k] = gradient[0, 2 * nv + k, lane]
