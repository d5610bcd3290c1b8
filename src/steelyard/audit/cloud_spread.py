r"""How far numbers scatter, with and without trust in every one of them.

The robust deviation is $1.4826\,\operatorname{median}|x - \operatorname{median} x|$, which for Gaussian
numbers is the standard deviation; fewer than half of them, however wild, cannot carry it away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.arrays import Array, checked

GAUSSIAN = 1.4826022185056018
"""Standard deviation of Gaussian numbers over their median absolute deviation."""
FLOOR = 0.1
"""Smallest scale of a parameter, as a share of the median scale of the parameters in the same unit."""


def robust_deviation(values: Array) -> Array:
    """Deviation of each column that no minority of rows can carry away.

    Args:
        values: shape (n, b), SI.

    Returns:
        1.4826 times the median absolute deviation from the median, shape (b,), SI; NaN for fewer than
        two rows.
    """
    x = checked("values", values, ("n", "b"))
    if len(x) < 2:
        return np.full(x.shape[1], np.nan)
    return np.asarray(GAUSSIAN * np.median(np.abs(x - np.median(x, axis=0)), axis=0))


def deviation(values: Array) -> Array:
    """Standard deviation of each column, with n - 1 in its denominator.

    Args:
        values: shape (n, b), SI.

    Returns:
        shape (b,), SI; NaN for fewer than two rows.
    """
    x = checked("values", values, ("n", "b"))
    return x.std(axis=0, ddof=1) if len(x) > 1 else np.full(x.shape[1], np.nan)


def pooled_scales(stages: Mapping[str, Array], units: Sequence[str]) -> Array:
    """A typical spread of every parameter, by which numbers of different units become comparable.

    Every stage is centred on its own median, all are pooled, and the robust deviation is taken. A parameter
    that hardly moves, such as one that most runs hold at a bound, would be blown up by its tiny spread:
    scales end at `FLOOR` times the median scale of the parameters in the same unit, and where most of those
    do not move at all, at the standard deviation.

    Args:
        stages: rows of answers by stage, each shape (n, b), SI.
        units: of the b parameters.

    Returns:
        Positive scales, shape (b,), SI; 1 for a parameter that never moves.
    """
    b = len(units)
    centred = [
        rows - np.median(rows, axis=0)
        for rows in (checked(name, values, ("n", b)) for name, values in stages.items())
        if len(rows)
    ]
    pooled = np.concatenate([*centred, np.zeros((0, b))])
    spread, plain = robust_deviation(pooled), deviation(pooled)
    kinds = np.array(units)
    for unit in set(units):
        same = kinds == unit
        floor = FLOOR * float(np.median(spread[same]))
        spread[same] = np.maximum(spread[same], floor) if floor > 0.0 else plain[same]
    return np.where(spread > 0.0, spread, 1.0)
