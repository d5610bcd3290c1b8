r"""Smooth stand-ins for the criteria, on a logarithmic scale, to be made small.

At an optimum of the condition number several eigenvalues are equal, and its gradient jumps from one to the
other. Power means of the eigenvalues have no kinks and tend to it as their power grows; a search raises the
power step by step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.identifiability import Criterion, Information, score, smooth_condition

CONDITIONS = (Criterion.COND, Criterion.COND_NORMALISED, Criterion.COND_ORTHONORMAL)
"""Criteria that are condition numbers, in different coordinates of the parameters."""


class Surrogate(NamedTuple):
    """A smooth function of the information.

    Attributes:
        value: dimensionless; infinite where the information is blind in some direction.
        gradient: its derivative in G, symmetric, shape (b, b), SI.
    """

    value: float
    gradient: Array


def surrogate(criterion: Criterion, gram: Array, power: float, coordinates: Array | None = None) -> Surrogate:
    r"""The logarithm of a criterion, with a power mean in place of a largest or smallest eigenvalue.

    D counts as $-\log\det G / b$ and E as $\tfrac1p\log\operatorname{tr} G^{-p}$, so that less is better for
    all.

    Args:
        criterion: which one.
        gram: G, shape (b, b), SI.
        power: p of the power mean, dimensionless; criteria without kinks do not need it.
        coordinates: L with beta = L z for `cond-orthonormal`, shape (b, b), SI.

    Returns:
        The value and its gradient in G.
    """
    if criterion in CONDITIONS:
        return _log_condition(criterion, gram, power, coordinates)
    if criterion is Criterion.E:
        return _log_largest_variance(gram, power)
    judged = score(criterion, Information(gram, squared=True))
    if criterion is Criterion.D:
        b = len(gram)
        return Surrogate(-judged.value / b, -judged.gradient / b)
    return Surrogate(float(np.log(judged.value)), judged.gradient / judged.value)


def _log_condition(criterion: Criterion, G: Array, power: float, L: Array | None) -> Surrogate:
    r"""In coordinates $\hat G = L^T G L$ the gradient is $L \hat S L^T$; what normalises depends on G too."""
    if criterion is Criterion.COND:
        judged = smooth_condition(Information(G, squared=True), power)
        return Surrogate(float(np.log(judged.value)), judged.gradient / judged.value)
    if criterion is Criterion.COND_ORTHONORMAL and L is not None:
        judged = smooth_condition(Information(L.T @ G @ L, squared=True), power)
        return Surrogate(float(np.log(judged.value)), L @ judged.gradient @ L.T / judged.value)
    lengths = np.sqrt(np.maximum(np.diag(G), 0.0))
    if not lengths.all():
        return Surrogate(np.inf, np.full_like(G, np.nan))
    N = 1.0 / lengths
    normalised = G * np.outer(N, N)
    judged = smooth_condition(Information(normalised, squared=True), power)
    S = judged.gradient / judged.value
    S = S * np.outer(N, N) - np.diag(N**2 * np.einsum("ij,ji->i", S, normalised))
    return Surrogate(float(np.log(judged.value)), S)


def _log_largest_variance(G: Array, power: float) -> Surrogate:
    spectrum = Information(G, squared=True).spectrum()
    if spectrum.blind:
        return Surrogate(np.inf, np.full_like(G, np.nan))
    x, V = spectrum.values, spectrum.vectors
    low = (x[-1] / x) ** power
    value = float(np.log(low.sum()) / power - np.log(x[-1]))
    return Surrogate(value, -(V * (low / (low.sum() * x))) @ V.T)
