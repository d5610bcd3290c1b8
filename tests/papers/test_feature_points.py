"""Feature points: the mixture against brute force and known clusters, what means miss, what balls hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from paper_003.covering_radius import covering_radius
from paper_003.feature_points import feature_points, outer_points
from paper_003.mixture import fit_mixture
from steelyard.errors import InputError
from steelyard.limits.shapes import core_of
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Sphere

CUBE = np.array(list(product((-0.1, 0.1), repeat=3)))


def clumps(rng: np.random.Generator, centres: np.ndarray, each: int, spread: float) -> np.ndarray:
    return np.vstack([centre + spread * rng.standard_normal((each, 3)) for centre in centres])


@pytest.mark.parametrize("components", [1, 2, 3, 5])
@pytest.mark.parametrize("flat", [False, True])
def test_no_step_of_a_climb_lowers_the_likelihood(components: int, flat: bool) -> None:
    rng = np.random.default_rng(components)
    x = rng.standard_normal((30, 3)) * [0.1, 0.05, 0.0 if flat else 0.02]
    # A coarse resolution, so that the bound on the covariances acts.
    for resolution in (0.03, 0.001):
        mixture = fit_mixture(x, components, rng, resolution=resolution)
        assert len(mixture.climb) > 1
        assert np.diff(mixture.climb).min() > -1e-9
        assert np.linalg.eigvalsh(mixture.covariances).min() >= resolution**2 * (1.0 - 1e-9)
        assert mixture.weights.sum() == pytest.approx(1.0)


def test_the_likelihood_is_that_of_the_mixture_it_states() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((25, 3))
    mixture = fit_mixture(x, 3, rng, resolution=0.01)
    terms = zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    densities = [np.log(w) + multivariate_normal(m, S).logpdf(x) for w, m, S in terms]
    assert mixture.log_likelihood == pytest.approx(logsumexp(densities, axis=0).sum(), rel=1e-9)


def test_a_known_mixture_is_recovered() -> None:
    rng = np.random.default_rng(1)
    weights = np.array([0.5, 0.3, 0.2])
    means = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.1], [0.0, 0.4, -0.2]])
    factors = 0.04 * rng.standard_normal((3, 3, 3))
    counts = (4000 * weights).astype(int)
    x = np.vstack(
        [m + rng.standard_normal((n, 3)) @ F.T for n, m, F in zip(counts, means, factors, strict=True)]
    )
    found = fit_mixture(x, 3, rng, resolution=1e-3)
    order = [int(np.linalg.norm(found.means - mean, axis=1).argmin()) for mean in means]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(found.weights[order], weights, atol=0.02)
    np.testing.assert_allclose(found.means[order], means, atol=0.01)
    whitened = np.linalg.inv(factors) @ found.covariances[order] @ np.linalg.inv(factors).swapaxes(1, 2)
    np.testing.assert_allclose(whitened, np.tile(np.eye(3), (3, 1, 1)), atol=0.2)


def test_no_search_by_brute_force_finds_a_likelier_mixture() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((5, 3))
    resolution = 0.4
    rows, columns = np.tril_indices(3)

    def loss(numbers: np.ndarray) -> float:
        shares = np.array([numbers[0], 0.0]) - np.logaddexp(numbers[0], 0.0)
        own = numbers[1:].reshape(2, 9)
        L = np.zeros((2, 3, 3))
        L[:, rows, columns] = own[:, 3:]
        S = resolution**2 * np.eye(3) + L @ L.swapaxes(1, 2)
        away = x - own[:, None, :3]
        squares = (away @ np.linalg.inv(S) * away).sum(axis=2)
        densities = shares - 0.5 * np.log(np.linalg.det(2.0 * np.pi * S)) - 0.5 * squares.T
        return -float(np.log(np.exp(densities).sum(axis=1)).sum())

    # Whatever part of the points the first component starts with.
    starts = []
    for part in range(1, 2 ** (len(x) - 1)):
        first = (part >> np.arange(len(x))) & 1 == 1
        middles = [x[first].mean(axis=0), x[~first].mean(axis=0)]
        starts.append(
            np.concatenate([[0.0], *([*middle, 0.3, 0.0, 0.3, 0.0, 0.0, 0.3] for middle in middles)])
        )
    likeliest = max(-minimize(loss, start, method="BFGS").fun for start in starts)
    assert fit_mixture(x, 2, rng, resolution=resolution).log_likelihood == pytest.approx(likeliest, abs=1e-4)


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_as_many_points_are_kept_as_there_are_clumps_of_corners(count: int) -> None:
    rng = np.random.default_rng(count)
    centres = np.vstack([np.eye(3), -np.eye(3)])[:count]
    x = clumps(rng, centres, 15, 0.01)
    found = feature_points(x, rng)
    assert len(found.points) == count
    # Inner points of a clump are no corners, so its middle is that of its corners only.
    assert max(np.linalg.norm(found.points - centre, axis=1).min() for centre in centres) < 0.02


def test_means_miss_the_corners_around_them_and_it_is_said_by_how_much() -> None:
    rng = np.random.default_rng(3)
    one = feature_points(CUBE, rng, count=1, covering=True)
    np.testing.assert_allclose(one.points, np.zeros((1, 3)), atol=1e-12)
    assert one.uncovered == pytest.approx(0.1 * np.sqrt(3.0))
    assert one.radius == pytest.approx(0.1 * np.sqrt(3.0))
    every = feature_points(CUBE, rng, count=8, covering=True)
    assert every.uncovered < 1e-9
    # The corners are met, the middle of the cube is not: that is what the balls are for.
    assert every.radius == pytest.approx(0.1 * np.sqrt(3.0))
    assert feature_points(CUBE, rng, count=8).radius == 0.0


def test_the_covering_radius_of_a_rod_between_two_points_is_known() -> None:
    rod = core_of(Box(0.02, 0.02, 1.0)).points
    corner = np.hypot(0.01, 0.01)
    assert covering_radius([[0, 0, -0.25], [0, 0, 0.25]], rod) == pytest.approx(np.hypot(0.25, corner))
    assert covering_radius([[0, 0, -0.5], [0, 0, 0.5]], rod) == pytest.approx(np.hypot(0.5, corner))
    assert covering_radius([[0, 0, 0.5], [0, 0, 0.5]], rod) == pytest.approx(np.hypot(1.0, corner))


@pytest.mark.parametrize("flat", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_balls_hold_the_whole_hull_and_are_no_larger_than_needed(seed: int, flat: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.standard_normal((12, 3))
    corners[:, 3 - flat :] = 0.0
    found = feature_points(corners, rng, count=2 if flat == 2 else 3, covering=True, resolution=0.05)
    inside = rng.dirichlet(np.full(len(corners), 0.15), 100_000) @ corners
    away = np.linalg.norm(inside[:, None] - found.points, axis=2).min(axis=1)
    assert away.max() <= found.radius
    assert away.max() > 0.9 * found.radius
    assert found.uncovered <= found.radius


def test_the_hull_of_outer_points_holds_balls_and_capsules_and_hardly_more() -> None:
    rng = np.random.default_rng(4)
    pose = Pose.from_rpy([0.3, 0.4, 0.5], [0.1, 0.2, 0.3])
    cores = [core_of(Capsule(0.05, 0.3)).moved(pose), core_of(Sphere(0.08)), core_of(Box(0.1, 0.1, 0.3))]
    hull = ConvexHull(outer_points(cores))
    for core in cores:
        ways = rng.standard_normal((5000, 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        surface = core.points[rng.integers(len(core.points), size=5000)] + core.radius * ways
        assert (surface @ hull.equations[:, :3].T + hull.equations[:, 3]).max() < 1e-12
    exact = np.linalg.norm(outer_points(cores[1:2]), axis=1)
    assert exact.max() < 1.05 * 0.08


def test_the_same_seed_gives_the_same_points() -> None:
    x = outer_points([core_of(Capsule(0.05, 0.3))])
    one, other = (feature_points(x, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.points, other.points)
    assert np.diff(one.weights).max() <= 0.0


def test_more_points_than_corners_and_no_resolution_are_refused() -> None:
    rng = np.random.default_rng(6)
    with pytest.raises(InputError, match="between 1 and 8"):
        feature_points(CUBE, rng, count=9)
    with pytest.raises(InputError, match="resolution: must be positive"):
        feature_points(CUBE, rng, resolution=0.0)
