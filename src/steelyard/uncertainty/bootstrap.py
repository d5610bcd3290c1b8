"""Block bootstrap: how an estimate varies when its own residuals are dealt again in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError
from steelyard.problem import Estimate, Evidence, Problem
from steelyard.uncertainty.intervals import Intervals

# How long a residual remembers, which decides the length of a bootstrap's blocks.

_SIGNIFICANT = 2.0


def block_length(residual: Array) -> int:
    r"""Block length for a moving-block bootstrap of a series (Politis and White 2004, corrected 2009).

    $$\ell = \Big(\frac{3 G^2}{2 g(0)^2}\Big)^{1/3} N^{1/3}, \qquad
      G = \sum_l \lambda(l)\,|l|\,c_l, \qquad g(0) = \sum_l \lambda(l)\,c_l$$

    with autocovariances c and a flat-topped window λ that ends at twice the lag after which correlations are
    insignificant. The longest of all channels is taken.

    Args:
        residual: one motion, shape (N, nv), N·m or N.

    Returns:
        ℓ, at least 1 and at most a third of the samples.
    """
    r = checked("residual", residual, ("N", "n"))
    r = r - r.mean(axis=0)
    samples = len(r)
    quiet = max(5, int(np.ceil(np.log10(samples))))
    longest = min(int(np.ceil(np.sqrt(samples))) + quiet, samples - 1)
    lengths = [_length(channel, longest, quiet) for channel in r.T if channel.any()]
    return int(np.clip(np.ceil(max(lengths, default=1.0)), 1, max(samples // 3, 1)))


def _length(r: Array, longest: int, quiet: int) -> float:
    samples = len(r)
    c = np.array([r[lag:] @ r[: samples - lag] for lag in range(longest + 1)]) / samples
    loud = np.abs(c / c[0]) > _SIGNIFICANT * np.sqrt(np.log10(samples) / samples)
    # The first lag after which `quiet` correlations in a row are insignificant.
    runs = [m for m in range(1, longest - quiet + 2) if not loud[m : m + quiet].any()]
    end = 2 * max((runs[0] if runs else longest) - 1, 1)
    lags = np.arange(1, min(end, longest) + 1)
    taper = np.clip(2.0 * (1.0 - lags / end), 0.0, 1.0)
    G = 2.0 * float((taper * lags * c[lags]).sum())
    g = c[0] + 2.0 * float((taper * c[lags]).sum())
    if g <= 0.0:
        return 1.0
    return float((1.5 * (G / g) ** 2 * samples) ** (1.0 / 3.0))


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Estimates from data dealt again.

    Attributes:
        estimate: the one from the data as they are.
        draws: base parameters from each deal, shape (n, b), SI.
        block: samples in a block.
    """

    estimate: Estimate
    draws: Array
    block: int

    def __post_init__(self) -> None:
        draws = checked("draws", self.draws, ("n", self.estimate.base.count))
        object.__setattr__(self, "draws", read_only(draws))

    @property
    def covariance(self) -> Array:
        """Covariance of the draws, shape (b, b), SI."""
        return np.atleast_2d(np.cov(self.draws, rowvar=False))

    def intervals(self, level: float = 0.95) -> Intervals:
        r"""Basic intervals $2\hat\beta - \beta^*_{hi} \dots 2\hat\beta - \beta^*_{lo}$ of base parameters.

        Args:
            level: probability of covering the truth, in (0, 1).

        Returns:
            The intervals.

        Raises:
            InputError: the level is no probability.
        """
        if not 0.0 < level < 1.0:
            raise InputError(f"must be between 0 and 1, got {level}.", place="level")
        low, high = np.quantile(self.draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        beta = self.estimate.values
        return Intervals(self.estimate.base.names, beta, 2.0 * beta - high, 2.0 * beta - low, level)


def block_bootstrap(
    problem: Problem,
    fit: Callable[[Problem], Estimate],
    rng: np.random.Generator,
    *,
    draws: int = 200,
    block: int | None = None,
) -> Bootstrap:
    """Fit again to torques made of the prediction and residuals dealt in blocks.

    Blocks keep the memory of the residual and its correlation between joints, whatever they look like; they
    are drawn from the motion they are dealt to, anywhere in it. The motion itself is taken as exact.

    Args:
        problem: the question, with its samples.
        fit: the estimator; must not refuse what the motion shows.
        rng: source of the blocks.
        draws: how many times.
        block: samples in a block; None for the length that the residual's memory asks for.

    Returns:
        The draws.

    Raises:
        InputError: there are no draws or no block, or the samples were not kept.
    """
    at = problem.samples
    if draws < 2:
        raise InputError(f"at least 2 are needed, got {draws}.", place="draws")
    estimate = fit(problem)
    predicted = _predicted(problem, estimate)
    residual = at.tau - predicted
    length = block or max(block_length(residual[part]) for part in at.motions)
    shortest = min(part.stop - part.start for part in at.motions)
    if not 1 <= length <= shortest:
        raise InputError(f"of {length} samples does not fit into a motion of {shortest}.", place="block")
    centred = np.concatenate([residual[part] - residual[part].mean(axis=0) for part in at.motions])
    found = []
    for _ in range(draws):
        dealt = np.concatenate([_dealt(centred[part], length, rng) for part in at.motions])
        found.append(fit(_with_torque(problem, predicted + dealt)).values)
    return Bootstrap(estimate, np.array(found), length)


def _dealt(residual: Array, length: int, rng: np.random.Generator) -> Array:
    """Blocks from random places of a motion, one after the other, cut to its length."""
    n = len(residual)
    starts = rng.integers(0, n - length + 1, size=-(-n // length))
    index = (starts[:, None] + np.arange(length)).ravel()[:n]
    return np.asarray(residual[index])


def _predicted(problem: Problem, estimate: Estimate) -> Array:
    at, phi = problem.samples, np.array(problem.known)
    phi[problem.base.columns] += estimate.values
    return inverse_dynamics(problem.robot, estimate.layout, phi, at.q, at.v, at.a)


def _with_torque(problem: Problem, tau: Array) -> Problem:
    at = problem.samples
    evidence = Evidence(at.time, at.q, at.v, at.a, tau, at.starts, at.digests)
    return replace(problem, evidence=evidence, compressed=None)
