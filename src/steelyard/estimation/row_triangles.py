"""Equations of samples compressed to one triangle for each degree of freedom."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, BoolArray, read_only
from steelyard.dynamics import Compressed
from steelyard.estimation.weighted_rows import RowSource


def row_triangles(source: RowSource) -> Compressed:
    """Compress equations in all parameters of a layout, as `compress` does torque equations.

    Args:
        source: the equations, one column for each parameter.

    Returns:
        The triangles; their columns are the parameters with an entry that is not zero.
    """
    triangles: list[Array] = []
    seen: list[BoolArray] = []
    samples = 0
    for rows in source():
        W, y = rows.regressor, rows.target
        nv, p = W.shape[1:]
        if not triangles:
            triangles, seen = [np.zeros((0, p + 1))] * nv, [np.zeros(p, dtype=bool)] * nv
        for k in range(nv):
            seen[k] = seen[k] | W[:, k].any(axis=0)
            triangles[k] = folded(triangles[k], np.column_stack([W[:, k], y[:, k]]))
        samples += len(y)
    columns = [np.flatnonzero(shown) for shown in seen]
    kept = [_square(T[:, [*mine, T.shape[1] - 1]]) for T, mine in zip(triangles, columns, strict=True)]
    return Compressed(
        samples,
        triangles[0].shape[1] - 1,
        tuple(read_only(mine) for mine in columns),
        tuple(read_only(T) for T in kept),
    )


def folded(triangle: Array, rows: Array) -> Array:
    """Add equations to a triangle, worked out on the columns that are not zero.

    Args:
        triangle: what there is so far, shape (m, c), SI.
        rows: further equations, shape (n, c), SI.

    Returns:
        A factor of both, of at most c rows, shape (k, c), SI.
    """
    stacked = np.vstack([triangle, rows])
    alive = stacked.any(axis=0)
    reduced = np.linalg.qr(stacked[:, alive], mode="r")
    folded = np.zeros((len(reduced), stacked.shape[1]))
    folded[:, alive] = reduced
    return folded


def _square(triangle: Array) -> Array:
    """The triangle with as many rows as columns."""
    T = np.zeros((triangle.shape[1], triangle.shape[1]))
    reduced = np.linalg.qr(triangle, mode="r")
    T[: len(reduced)] = reduced
    return T
