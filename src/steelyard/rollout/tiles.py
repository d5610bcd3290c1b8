"""Derivatives in tiles: where the regressor's entries go, and what is kept of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array, read_only
from steelyard.dynamics.straight_line import LANES, StraightLineCode
from steelyard.layout import Layout


class Spread(NamedTuple):
    r"""How $Y B$ is written into tiles: `tiles.flat[target] += weight * output[source]`.

    Attributes:
        source: places in the linearisation's output, shape (entries,), dimensionless.
        target: places in the flat tiles of shape (tiles, nv, LANES), shape (entries,), dimensionless.
        weight: entries of B, shape (entries,), SI.
        firsts: the first so many entries are the first to go to their place; the others add to them.
        tiles: number of tiles.
        outputs: length of the linearisation's output.
        shared: length of its part before Y, which is the same for all columns.
    """

    source: NDArray[np.uint64]
    target: NDArray[np.uint64]
    weight: Array
    firsts: int
    tiles: int
    outputs: int
    shared: int


class Kept(NamedTuple):
    """Means over blocks of cycles of a run and of its derivatives.

    Attributes:
        q: positions, shape (M, nv), rad or m.
        v: velocities, shape (M, nv), rad/s or m/s.
        tau: commanded torques, shape (M, nv), N·m or N.
        dq: derivatives of the positions, shape (M, nv, b), SI.
        dv: derivatives of the velocities, shape (M, nv, b), SI.
        dtau: derivatives of the torques, shape (M, nv, b), SI.
    """

    q: Array
    v: Array
    tau: Array
    dq: Array
    dv: Array
    dtau: Array


def spread(code: StraightLineCode, layout: Layout, basis: Array | None) -> Spread:
    """Find the place of every entry of Y B.

    Args:
        code: the code whose output holds Y.
        layout: the order of phi.
        basis: B, shape (p, b), SI; None for the identity.

    Returns:
        The places and weights.
    """
    B = np.eye(layout.size) if basis is None else basis
    place = [
        10 * row + column if kind == "links" else int(layout.drive_columns[row, column])
        for kind, row, column in code.carried.columns
    ]
    source, target, weight = [], [], []
    for entry, (k, carried) in enumerate(code.felt):
        for column in np.flatnonzero(B[place[carried]]):
            source.append(code.regressor_start + entry)
            target.append((column // LANES * code.nv + k) * LANES + column % LANES)
            weight.append(B[place[carried], column])
    _, firsts = np.unique(target, return_index=True)
    order = np.concatenate([firsts, np.setdiff1d(np.arange(len(target)), firsts)])
    # Unsigned, since compiled code asks of every signed index whether it counts from the end.
    return Spread(
        read_only(np.array(source, dtype=np.uint64)[order]),
        read_only(np.array(target, dtype=np.uint64)[order]),
        read_only(np.array(weight)[order]),
        len(firsts),
        -(-B.shape[1] // LANES),
        code.size,
        code.regressor_start,
    )


def room_for(blocks: int, nv: int, columns: int) -> Kept:
    """Empty arrays for the means of a run."""
    return Kept(*np.zeros((3, blocks, nv)), *np.zeros((3, blocks, nv, columns)))
