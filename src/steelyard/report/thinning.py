"""Fewer samples of a signal for the eye, with every extreme kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, IntArray, checked
from steelyard.errors import InputError


def thinned(signals: Array, most: int) -> IntArray:
    """Choose samples so that the drawn lines reach as far as the signals do.

    The samples are cut into stretches of equal length; of each stretch, those where a signal is smallest or
    largest are kept, and the very first and last. A spike of one sample therefore stays, which taking every
    n-th sample would lose.

    Args:
        signals: the lines to be drawn, shape (N, k), any unit: natural unit of each.
        most: number of samples to keep at most, at least 4 k + 2.

    Returns:
        Increasing indices of the samples to keep, shape (n,), dimensionless; all of them where N ≤ most.

    Raises:
        InputError: `most` is too small to keep the extremes.
    """
    x = checked("signals", signals, ("N", "k"))
    n, k = x.shape
    if n <= most:
        return np.arange(n)
    if most < 4 * k + 2:
        raise InputError(f"{most} samples cannot hold the extremes of {k} lines.", place="most")
    edges = np.linspace(0, n, (most - 2) // (2 * k) + 1).astype(np.int64)
    kept = [np.array([0, n - 1])]
    for low, high in pairwise(edges):
        kept += [low + x[low:high].argmin(axis=0), low + x[low:high].argmax(axis=0)]
    return np.unique(np.concatenate(kept))
