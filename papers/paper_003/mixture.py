r"""A Gaussian mixture fitted to points by expectation and maximisation.

$$L = \sum_i \log \sum_k \pi_k\,\mathcal N(x_i \mid \mu_k, \Sigma_k), \qquad \Sigma_k \succeq \sigma^2 I$$

Without the bound a component that shrinks onto one point makes L infinite. The covariance that maximises
under it is the sample covariance with its eigenvalues raised to σ², so that still no step lowers L.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

STARTS = 5
"""Climbs from different starts, of which the highest counts."""
STEPS = 300
"""Most steps of a climb."""
GAIN = 1e-7
"""Gain of a step, for each point, below which a climb has arrived."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture and the climb that ended there; arrays are read-only.

    Attributes:
        weights: π, shape (K,), dimensionless.
        means: μ, shape (K, 3), m.
        covariances: Σ, shape (K, 3, 3), m².
        climb: log-likelihood L before every step and at the end, shape (S,), dimensionless.
        count: points it was fitted to.
    """

    weights: Array
    means: Array
    covariances: Array
    climb: Array
    count: int

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances", "climb"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def log_likelihood(self) -> float:
        """L at the end."""
        return float(self.climb[-1])

    @property
    def information(self) -> float:
        """Bayes' information criterion, the smaller the better: -2 L + (10 K - 1) log n."""
        return -2.0 * self.log_likelihood + (10 * len(self.weights) - 1) * float(np.log(self.count))


def fit_mixture(
    points: ArrayLike, components: int, rng: np.random.Generator, *, resolution: float
) -> Mixture:
    """The likeliest mixture that several climbs find.

    Args:
        points: x, shape (n, 3), m.
        components: K, at most the number of different points.
        rng: source of the starts.
        resolution: σ, the least standard deviation of a component along any direction, m.

    Returns:
        The mixture.

    Raises:
        InputError: there are more components than points, or the resolution is not positive.
    """
    x = checked("points", points, ("n", 3))
    different = len(np.unique(x, axis=0))
    if not 1 <= components <= different:
        raise InputError(
            f"must lie between 1 and {different}, the points, got {components}.", place="components"
        )
    if not (np.isfinite(resolution) and resolution > 0.0):
        raise InputError(f"must be positive and finite, got {resolution}.", place="resolution")
    climbs = [_climb(x, _first_shares(x, components, rng), resolution**2) for _ in range(STARTS)]
    return max(climbs, key=lambda mixture: mixture.log_likelihood)


def _first_shares(x: Array, components: int, rng: np.random.Generator) -> Array:
    """Every point belongs to the nearest of some that are drawn far from each other (k-means++)."""
    chosen = [int(rng.integers(len(x)))]
    squares = ((x - x[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < components:
        chosen.append(int(rng.choice(len(x), p=squares / squares.sum())))
        squares = np.minimum(squares, ((x - x[chosen[-1]]) ** 2).sum(axis=1))
    nearest = ((x[:, None] - x[chosen]) ** 2).sum(axis=2).argmin(axis=1)
    return np.asarray(np.eye(components)[nearest])


def _climb(x: Array, shares: Array, floor: float) -> Mixture:
    """Maximise and expect in turn, from the shares (n, K) that components have in the points."""
    climb: list[float] = []
    while True:
        weights, means, covariances = _maximised(x, shares, floor)
        joint = np.log(weights) + _log_densities(x, means, covariances)
        likeliest = joint.max(axis=1, keepdims=True)
        totals = likeliest + np.log(np.exp(joint - likeliest).sum(axis=1, keepdims=True))
        climb.append(float(totals.sum()))
        if len(climb) > STEPS or (len(climb) > 1 and climb[-1] - climb[-2] < GAIN * len(x)):
            return Mixture(weights, means, covariances, np.array(climb), len(x))
        shares = np.exp(joint - totals)


def _maximised(x: Array, shares: Array, floor: float) -> tuple[Array, Array, Array]:
    # A component that has lost every point stays finite, amid all of them, and weighs nothing.
    shares = shares + np.finfo(float).tiny
    sums = shares.sum(axis=0)
    means = shares.T @ x / sums[:, None]
    away = x.T - means[..., None]
    S = (shares.T[:, None] * away) @ np.swapaxes(away, 1, 2) / sums[:, None, None]
    variances, axes = np.linalg.eigh(S)
    raised = np.maximum(variances, floor)[:, None]
    return sums / len(x), means, (axes * raised) @ np.swapaxes(axes, 1, 2)


def _log_densities(x: Array, means: Array, covariances: Array) -> Array:
    """Logarithms of the components' densities, shape (n, K)."""
    L = np.linalg.cholesky(covariances)
    z = np.linalg.solve(L, x.T - means[..., None])
    log_det = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray(-0.5 * (z**2).sum(axis=1).T - log_det - 1.5 * np.log(2.0 * np.pi))
