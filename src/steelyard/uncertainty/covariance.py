"""The covariance of an estimate that came without one, or with one that took the noise for white."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.errors import InputError
from steelyard.estimation import Colour, Spread, weighted_spread
from steelyard.problem import Estimate, Problem


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
