"""The torque regressor of many samples by a straight-line program (compiled).

A template: `specialise` makes a copy for each tree, with its program in place of the placeholder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.dynamics.straight_line.inputs import write_lanes
from steelyard.dynamics.straight_line.machine_code import LANES, store_turned

run_entries: Any = None
OUTPUTS = 0


@kernel
def write_regressor(
    first: int,
    last: int,
    places: IntArray,
    blocks: IntArray,
    singles: IntArray,
    q: Array,
    v: Array,
    a: Array,
    Y: Array,
) -> None:
    """Write the entries of the samples first … last - 1 into Y (N, nv p), `LANES` samples at a time."""
    nv, width = q.shape[1], Y.shape[1]
    given = np.empty((1, 6 * nv, LANES))
    nothing = np.empty((1, 0, LANES))
    scalars = np.empty(0)
    entries = np.empty((1, OUTPUTS, LANES))
    for start in range(first, last, LANES):
        write_lanes(given, q, v, a, start, last)
        run_entries(scalars, given, nothing, nothing, nothing, entries, 0)
        count = min(LANES, last - start)
        if count == LANES:
            for b in range(blocks.size):
                store_turned(entries, blocks[b], Y, start * width + places[blocks[b]], width)
            for b in range(singles.size):
                for lane in range(LANES):
                    Y[start + lane, places[singles[b]]] = entries[0, singles[b], lane]
        else:
            for e in range(OUTPUTS):
                for lane in range(count):
                    Y[start + lane, places[e]] = entries[0, e, lane]
