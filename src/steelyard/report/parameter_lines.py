"""What an estimate says about each parameter, and about each combination torques determine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.identifiability import Class
from steelyard.problem import Estimate
from steelyard.report.content import Combination, ParameterLine

WITHIN = 1.959963984540054
"""Standard deviations to either side that hold 95 % of a normal distribution."""


def combinations(estimate: Estimate) -> tuple[Combination, ...]:
    """The base parameters of an estimate as formulas, with the intervals of its covariance.

    Args:
        estimate: the estimate.

    Returns:
        One combination per base parameter.
    """
    layout, base = estimate.layout, estimate.base
    half = WITHIN * estimate.deviations
    found = []
    for row, column, beta, h in zip(base.matrix, base.columns, estimate.values, half, strict=True):
        order = [int(column), *(int(k) for k in np.flatnonzero(row) if k != column)]
        nominal = float(row[order] @ layout.nominal[order])
        found.append(
            Combination(
                terms=tuple((layout.names[k], float(row[k])) for k in order),
                unit=layout.parameters[column].unit,
                value=float(beta),
                lower=float(beta - h),
                upper=float(beta + h),
                nominal=None if np.isnan(nominal) else nominal,
            )
        )
    return tuple(found)


def parameter_lines(
    estimate: Estimate, intervals: ArrayLike | None = None, decided_by: Sequence[str] = ()
) -> tuple[ParameterLine, ...]:
    """The standard parameters of an estimate.

    A parameter that torques tell only in a sum has a value where the estimate is a full one: that value is
    one choice of many, and no interval bounds it unless one is given.

    Args:
        estimate: the estimate.
        intervals: 95 % intervals of phi, lower and upper ends, shape (p, 2), SI; None for those of the
            covariance, around what the data says alone.
        decided_by: for each parameter who decided it; empty for no word.

    Returns:
        One line per parameter, in the order of the layout.
    """
    layout = estimate.layout
    kinds = _kinds(estimate)
    phi = np.full(layout.size, np.nan) if estimate.parameters is None else estimate.parameters.copy()
    known = ~layout.free
    phi[known] = layout.nominal[known]
    if intervals is not None:
        ends = checked("intervals", intervals, (layout.size, 2), finite=False)
    else:
        ends = np.tile([-np.inf, np.inf], (layout.size, 1))
        half = WITHIN * estimate.deviations
        for column, beta, h in zip(estimate.base.columns, estimate.values, half, strict=True):
            if kinds[column] is Class.ALONE:
                phi[column] = beta
                ends[column] = beta - h, beta + h
    words = decided_by or [""] * layout.size
    return tuple(
        ParameterLine(x.name, x.owner, x.unit, kind, _stated(value), float(low), float(high), x.nominal, word)
        for x, kind, value, (low, high), word in zip(layout.parameters, kinds, phi, ends, words, strict=True)
    )


def _kinds(estimate: Estimate) -> list[Class | None]:
    """The classes by K, which is the identity at the base parameters' columns."""
    K, heads = estimate.base.matrix, set(estimate.base.columns.tolist())
    alone = {int(c) for row, c in zip(K, estimate.base.columns, strict=True) if np.count_nonzero(row) == 1}
    kinds: list[Class | None] = []
    for k, free in enumerate(estimate.layout.free):
        if not free:
            kinds.append(None)
        elif k in heads:
            kinds.append(Class.ALONE if k in alone else Class.BASE)
        else:
            kinds.append(Class.GROUPED if K[:, k].any() else Class.UNIDENTIFIABLE)
    return kinds


def _stated(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
