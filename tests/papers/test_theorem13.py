"""The linear form of Theorem 13: exact, reached by the worst errors, never inside the hull."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paper_000.theorem13 import linear_bounds
from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.uncertainty.payload_polytope import BoundedRows, Place
from uncertainty.payload_equations import case, hull


def rows_of(A: Array, B: Array, y: Array, b: Array, d: Array) -> BoundedRows:
    return BoundedRows(A, B, y, b, d, tuple(Place("joint", 0.1 * k, 0.1 * k) for k in range(len(y))))


def small(seed: int) -> BoundedRows:
    """A few rows of plain decimal numbers, none of which a computer holds exactly."""
    rng = np.random.default_rng(seed)
    A, B = rng.integers(-9, 10, (16, 10)) / 10.0, rng.integers(-9, 10, (16, 3)) / 10.0
    y, b, d = rng.integers(-99, 100, 16) / 10.0, rng.integers(0, 9, 16) / 100.0, rng.integers(0, 9, 3) / 100.0
    return rows_of(A, B, y, b, d)


def exact(array: Array) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(array)


def solved(M: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gauss-Jordan elimination in rationals."""
    T = np.hstack([M, right])
    n = len(M)
    for k in range(n):
        pivot = next(i for i in range(k, n) if T[i, k] != 0)
        T[[k, pivot]] = T[[pivot, k]]
        T[k] = T[k] / T[k, k]
        for i in range(n):
            if i != k:
                T[i] = T[i] - T[i, k] * T[k]
    return T[:, n:]


@pytest.mark.parametrize("seed", range(4))
def test_intervals_enclose_those_of_rational_arithmetic_by_a_hair(seed: int) -> None:
    rows = small(seed)
    A, B, y = exact(rows.load), exact(rows.robot), exact(rows.target)
    L = solved(A.T @ A, A.T)
    middle = L @ y
    half = np.abs(L) @ exact(rows.error) + np.abs(L @ B) @ exact(rows.spread)
    found = linear_bounds(rows)
    assert all(Fraction(x) <= low for x, low in zip(found.lower, middle - half, strict=True))
    assert all(Fraction(x) >= high for x, high in zip(found.upper, middle + half, strict=True))
    width = (2 * half).astype(float)
    np.testing.assert_allclose(found.upper - found.lower, width, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_worst_errors_reach_an_end_and_do_not_pass_it(weighted: bool) -> None:
    posed = case(0)
    rows, theta = posed.rows, posed.truth
    w = 1.0 / rows.error if weighted else np.ones(rows.count)
    L = np.linalg.lstsq(w[:, None] * rows.load, np.diag(w), rcond=None)[0]
    for k in range(10):
        delta = rows.spread * np.sign(L[k] @ rows.robot)
        y = rows.load @ theta + rows.robot @ delta + rows.error * np.sign(L[k])
        found = linear_bounds(replace(rows, target=y), w if weighted else None)
        assert found.lower[k] <= theta[k]
        assert theta[k] - found.lower[k] < 1e-9 * (found.upper[k] - found.lower[k])
        np.testing.assert_allclose(
            found.estimate, np.linalg.lstsq(w[:, None] * rows.load, w * y)[0], atol=1e-10
        )


@pytest.mark.parametrize("pattern", ["uniform", "corners", "constant"])
def test_the_truth_is_inside_whatever_the_pattern_of_the_errors(pattern: str) -> None:
    for seed in range(12):
        posed = case(seed, pattern=pattern)
        for weights in (None, 1.0 / posed.rows.error):
            found = linear_bounds(posed.rows, weights)
            assert (found.lower <= posed.truth).all()
            assert (posed.truth <= found.upper).all()


def test_the_hull_is_never_wider() -> None:
    posed = case(1, instants=25)
    found = linear_bounds(posed.rows, 1.0 / posed.rows.error)
    wide = np.full(10, 50.0)
    lower, upper = hull(posed.rows, -wide, wide)
    slack = 1e-6 * (found.upper - found.lower)
    assert (found.lower <= lower + slack).all()
    assert (upper <= found.upper + slack).all()


def test_what_the_data_does_not_show_is_unbounded_and_the_rest_is_not() -> None:
    rows = small(5)
    A = rows.load.copy()
    A[:, [2, 7]] = 0.0
    found = linear_bounds(replace(rows, load=A))
    hidden = np.isin(np.arange(10), [2, 7])
    np.testing.assert_array_equal(np.isinf(found.lower), hidden)
    np.testing.assert_array_equal(np.isinf(found.upper), hidden)


def test_numbers_that_only_show_together_are_unbounded() -> None:
    rows = small(6)
    A = rows.load.copy()
    A[:, 4] = A[:, 6]
    found = linear_bounds(replace(rows, load=A))
    assert np.isinf(found.upper[[4, 6]]).all()


def test_exact_data_of_nothing_is_nothing() -> None:
    rows = small(7)
    found = linear_bounds(rows_of(rows.load, rows.robot, np.zeros(16), np.zeros(16), np.zeros(3)))
    assert (found.lower <= 0.0).all()
    assert (found.upper >= 0.0).all()
    assert (found.upper - found.lower).max() < 1e-100


def test_weights_are_not_negative() -> None:
    rows = small(8)
    with pytest.raises(InputError, match="weights: must not be negative"):
        linear_bounds(rows, np.full(16, -1.0))
