"""Covariance and intervals of parameters and predicted torques; infinite where the data says nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.special

from steelyard.arrays import Array, checked, keep_checked
from steelyard.errors import InputError
from steelyard.estimation import Colour, Spread, weighted_spread
from steelyard.problem import Estimate, Problem

# The covariance of an estimate that came without one, or with one that took the noise for white.


def spread_of(problem: Problem, estimate: Estimate, colour: Colour = "autoregressive") -> Spread:
    """How sure a least-squares estimate is, given what it leaves unexplained.

    Right for estimates that minimise squared residuals with per-joint weights. One that a prior, a bound or a
    cone holds away from the least-squares point varies less than this says, and is biased.

    Args:
        problem: the question it answers, with its samples unless `colour` is `white`.
        estimate: the answer.
        colour: what is assumed of the noise: `autoregressive`, `newey-west`, or `white`.

    Returns:
        The spread, with the directions along which the data is blind.

    Raises:
        InputError: the estimate is of other base parameters, or the samples are needed but were not kept.
    """
    if estimate.base.names != problem.base.names:
        raise InputError("is of other base parameters than the problem.", place="estimate")
    if estimate.weights is not None:
        weights = estimate.weights
    else:
        # Without weights of its own it was equal weights; only white noise without samples asks their size.
        weights = np.full(problem.robot.nv, 1.0 / np.sqrt((estimate.residual**2).mean()))
    return weighted_spread(problem, estimate.values, weights, colour)[0]


def with_covariance(problem: Problem, estimate: Estimate, colour: Colour = "autoregressive") -> Estimate:
    """The same estimate with a covariance that respects the colour of its residual.

    Args:
        problem: the question it answers.
        estimate: the answer.
        colour: what is assumed of the noise.

    Returns:
        A new estimate.
    """
    covariance = spread_of(problem, estimate, colour).covariance
    return replace(estimate, covariance=covariance, detail={**estimate.detail, "colour": colour})


# Intervals of base and standard parameters

_SPANNED = 1e-8


@dataclass(frozen=True, eq=False)
class Intervals:
    """An interval for each of several parameters.

    Attributes:
        names: of the parameters.
        values: the estimate; NaN where the data says nothing of a parameter, shape (n,), SI.
        lower: lower ends, minus infinity where unknown, shape (n,), SI.
        upper: upper ends, infinity where unknown, shape (n,), SI.
        level: probability that an interval covers the truth, dimensionless.
    """

    names: tuple[str, ...]
    values: Array
    lower: Array
    upper: Array
    level: float

    def __post_init__(self) -> None:
        keep_checked(self, (len(self.names),), "values", "lower", "upper", finite=False)

    @property
    def known(self) -> Array:
        """Which intervals are finite, shape (n,), dimensionless."""
        return np.asarray(np.isfinite(self.upper - self.lower))

    def cover(self, truth: Array) -> Array:
        """Which intervals cover given values.

        Args:
            truth: shape (n,), SI.

        Returns:
            Ones and zeros, shape (n,), dimensionless.
        """
        x = checked("truth", truth, (len(self.names),))
        return np.asarray((self.lower <= x) & (x <= self.upper))


def base_intervals(
    estimate: Estimate, level: float = 0.95, *, spread: Spread | None = None, systematic: bool = False
) -> Intervals:
    r"""Intervals $\hat\beta \pm z\,\sigma$ of base parameters, z the quantile of the normal distribution.

    Args:
        estimate: with a covariance, unless a spread is given.
        level: probability of covering the truth, in (0, 1).
        spread: how sure it is; None for the estimate's own covariance.
        systematic: whether errors of torque constants are in. Without them intervals say how far another log
            made with the same constants may differ; with them how far the truth may.

    Raises:
        InputError: there is no covariance, or the level is no probability.
    """
    deviations = np.sqrt(_variance(estimate, spread, np.eye(estimate.base.count), systematic))
    return _around(estimate.base.names, estimate.values, deviations, level)


def parameter_intervals(
    estimate: Estimate, level: float = 0.95, *, spread: Spread | None = None, systematic: bool = False
) -> Intervals:
    r"""Intervals of the full parameters that torques determine on their own; infinite for all others.

    A parameter is known where $\phi_j = c^T K \phi$ for some c; then its estimate is $c^T\hat\beta$. What the
    layout fixes is known exactly.

    Args:
        estimate: with a covariance, unless a spread is given.
        level: probability of covering the truth, in (0, 1).
        spread: how sure it is; None for the estimate's own covariance.
        systematic: whether errors of torque constants are in, see `base_intervals`.

    Returns:
        The intervals, one for each parameter of the layout.

    Raises:
        InputError: there is no covariance, or the level is no probability.
    """
    layout, K = estimate.layout, estimate.base.matrix
    size = np.abs(K).max(axis=0)
    seen = np.flatnonzero(layout.free & (size > 0.0))
    unit = np.eye(layout.size)[:, seen]
    C = np.linalg.lstsq(K.T, unit, rcond=1e-12)[0].T
    spanned = np.abs(C @ K - unit.T).max(axis=1) < _SPANNED
    C, seen = C[spanned], seen[spanned]
    C[np.abs(C) < _SPANNED] = 0.0
    values, deviations = np.full(layout.size, np.nan), np.full(layout.size, np.inf)
    values[seen] = C @ estimate.values
    deviations[seen] = np.sqrt(_variance(estimate, spread, C, systematic))
    fixed = ~layout.free
    values[fixed], deviations[fixed] = layout.nominal[fixed], 0.0
    values[np.isinf(deviations)] = np.nan
    return _around(layout.names, values, deviations, level)


def _variance(estimate: Estimate, spread: Spread | None, combinations: Array, systematic: bool) -> Array:
    random = _random_variance(estimate, spread, combinations)
    if not systematic or estimate.systematic is None:
        return random
    return np.asarray(
        random + np.einsum("...i,ij,...j->...", combinations, estimate.systematic, combinations)
    )


def _random_variance(estimate: Estimate, spread: Spread | None, combinations: Array) -> Array:
    if spread is not None:
        return spread.variance(combinations)
    if estimate.covariance is None:
        raise InputError(
            f"by '{estimate.method}' has no covariance.",
            place="estimate",
            remedy="Methods of least squares give one.",
        )
    hidden = np.flatnonzero(np.isinf(np.diag(estimate.covariance)))
    finite = np.array(estimate.covariance)
    finite[hidden, hidden] = 0.0
    # Which combinations of hidden parameters are known the matrix does not tell: none is taken to be.
    return Spread(finite, np.eye(len(finite))[:, hidden]).variance(combinations)


def _around(names: tuple[str, ...], values: Array, deviations: Array, level: float) -> Intervals:
    if not 0.0 < level < 1.0:
        raise InputError(f"must be between 0 and 1, got {level}.", place="level")
    half = float(scipy.special.ndtri(0.5 + 0.5 * level)) * deviations
    middle = np.where(np.isfinite(half), values, 0.0)
    return Intervals(names, values, middle - half, middle + half, level)
