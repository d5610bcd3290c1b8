r"""Symmetric matrices as vectors, in the order and scale Clarabel's semidefinite cone wants.

The upper triangle is read column by column and entries off the diagonal are multiplied by $\sqrt 2$, so that
$\langle X, Y\rangle = \mathrm{svec}(X)^T\,\mathrm{svec}(Y)$. Nothing outside this file knows the order.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np

from steelyard.arrays import Array, IntArray


@lru_cache(maxsize=64)
def _upper_by_columns(order: int) -> tuple[IntArray, IntArray, Array]:
    columns, rows = np.tril_indices(order)
    return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))


def svec(matrices: Array) -> Array:
    """Pack symmetric matrices.

    Args:
        matrices: symmetric, shape (..., d, d), any unit.

    Returns:
        The packed matrices, shape (..., d (d + 1) / 2), same unit.
    """
    rows, columns, scale = _upper_by_columns(matrices.shape[-1])
    packed: Array = matrices[..., rows, columns] * scale
    return packed


def smat(vectors: Array) -> Array:
    """Unpack what `svec` packed.

    Args:
        vectors: packed matrices, shape (..., d (d + 1) / 2), any unit.

    Returns:
        The symmetric matrices, shape (..., d, d), same unit.
    """
    d = (isqrt(8 * vectors.shape[-1] + 1) - 1) // 2
    rows, columns, scale = _upper_by_columns(d)
    matrices = np.empty((*vectors.shape[:-1], d, d))
    matrices[..., rows, columns] = vectors / scale
    matrices[..., columns, rows] = matrices[..., rows, columns]
    return matrices
