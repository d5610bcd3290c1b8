"""All-pole filters, which every recursive filter is made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dtbsv

from steelyard.arrays import Array


def recursion(feedback: npt.ArrayLike, x: Array) -> Array:
    r"""Filter from rest by a recursion on its own output.

    $$y_t = x_t - \sum_{k=1}^{p} a_k\,y_{t-k}$$

    Written for all times at once this is a banded triangular system, which BLAS solves as fast as SciPy's
    `lfilter` runs; `scipy.signal` itself, which loads all of SciPy's statistics, would take a third of a
    second of every command.

    Args:
        feedback: a, shape (p,), dimensionless.
        x: samples, shape (N,) or (N, n), any unit.

    Returns:
        y, shape (N,) or (N, n), same unit.
    """
    a = np.asarray(feedback, dtype=float)
    p = len(a)
    y = np.array(x, dtype=float, order="F")
    if p == 0 or not y.size:
        return y
    band = np.empty((p + 1, len(y)), order="F")
    band[0], band[1:] = 1.0, a[:, None]
    for column in y.reshape(len(y), -1, order="F").T:
        column[:] = dtbsv(p, band, column, lower=1, diag=1)
    return y
