"""Main feature points of an end effector, which stand for its hull, after Tian et al. (2024), eq. (10).

The means of a Gaussian mixture lie amid the hull's corners and so inside the hull: points that keep clear of
an obstacle say nothing of the corners around them. How much is missed is measured (`uncovered`), and with
`covering` the points become balls that hold the whole hull.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from paper_003.covering_radius import covering_radius
from paper_003.mixture import Mixture, fit_mixture
from steelyard.arrays import Array, checked, read_only
from steelyard.limits.shapes import Core, polytope

RESOLUTION = 0.005
"""Least standard deviation of a cluster of corners, m: corners nearer to each other are not told apart."""
MOST_POINTS = 12
"""Feature points that are tried where their number is not given."""
PATIENCE = 3
"""Numbers of points without a better criterion after which no more are tried."""
DIRECTIONS = 100
"""Corners of the polytope that stands around a ball."""


@dataclass(frozen=True, eq=False)
class FeaturePoints:
    """Points that stand for a hull; arrays are read-only.

    Attributes:
        points: means of the mixture, shape (K, 3), m.
        covariances: of the corners about each, shape (K, 3, 3), m².
        weights: share of the corners that each stands for, shape (K,), dimensionless.
        uncovered: how far the hull's furthest corner is from its nearest point, m.
        radius: of the balls around the points that hold the whole hull, m; zero where only points are meant.
    """

    points: Array
    covariances: Array
    weights: Array
    uncovered: float
    radius: float = 0.0

    def __post_init__(self) -> None:
        for name in ("points", "covariances", "weights"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def feature_points(
    points: ArrayLike,
    rng: np.random.Generator,
    *,
    count: int | None = None,
    covering: bool = False,
    resolution: float = RESOLUTION,
) -> FeaturePoints:
    """Cluster the corners of a hull and keep the middle of each cluster.

    Args:
        points: any points of which the hull is meant, shape (n, 3), m.
        rng: source of the starts of the clustering.
        count: how many to keep; None for the number, up to 12, with the best Bayesian information criterion.
        covering: whether the points shall be balls that hold the whole hull.
        resolution: least standard deviation of a cluster, m.

    Returns:
        The feature points, those that stand for most corners first.

    Raises:
        InputError: the hull has fewer corners than points are asked for.
    """
    corners = polytope(checked("points", points, ("n", 3))).points
    if count is None:
        mixture = _most_telling(corners, rng, resolution)
    else:
        mixture = fit_mixture(corners, count, rng, resolution=resolution)
    order = np.argsort(-mixture.weights, kind="stable")
    means = mixture.means[order]
    return FeaturePoints(
        means,
        mixture.covariances[order],
        mixture.weights[order],
        uncovered=float(scipy.spatial.distance.cdist(corners, means).min(axis=1).max()),
        radius=covering_radius(means, corners) if covering else 0.0,
    )


def _most_telling(corners: Array, rng: np.random.Generator, resolution: float) -> Mixture:
    """The mixture with the best information criterion, until more components have not helped for a while."""
    fits: list[Mixture] = []
    for K in range(1, min(MOST_POINTS, len(corners)) + 1):
        fits.append(fit_mixture(corners, K, rng, resolution=resolution))
        best = min(fits, key=lambda fit: fit.information)
        if len(fits) - len(best.weights) >= PATIENCE:
            break
    return best


def outer_points(cores: Sequence[Core]) -> Array:
    """Points whose hull holds all of some shapes; a ball is replaced by a polytope around it.

    Args:
        cores: of the shapes.

    Returns:
        The points, shape (n, 3), m.
    """
    clouds = [core.points[:, None] + core.radius * (_around_ball() if core.radius else 0.0) for core in cores]
    return np.vstack([np.reshape(cloud, (-1, 3)) for cloud in clouds])


@cache
def _around_ball() -> Array:
    """Corners of a polytope around the unit ball: points spread evenly, moved out until its faces touch."""
    height = 1.0 - (2.0 * np.arange(DIRECTIONS) + 1.0) / DIRECTIONS
    angle = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(DIRECTIONS)
    ring = np.sqrt(1.0 - height**2)
    units = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), height])
    return read_only(units / -scipy.spatial.ConvexHull(units).equations[:, 3].max())
