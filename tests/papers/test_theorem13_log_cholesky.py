"""Theorem 13 as published: the linear form where its minimiser exists, and said so where it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paper_000.theorem13 import Minimiser, linear_bounds, log_cholesky_bounds
from steelyard.arrays import Array
from steelyard.inertia import log_cholesky
from steelyard.inertia.body import random_body
from steelyard.uncertainty.payload_polytope import BoundedRows, Place
from uncertainty.payload_equations import case

TINY = {"absolute": 1e-6, "relative": 0.0, "model": 1e-7}


def body_of(eta: Array) -> Array:
    """Zhang et al. (2025), eqs. (14)-(16), written out once more."""
    alpha, d1, d2, d3, s12, s13, s23, s14, s24, s34 = eta
    M = np.exp(alpha) * np.array(
        [[np.exp(d1), s12, s13, s14], [0, np.exp(d2), s23, s24], [0, 0, np.exp(d3), s34], [0, 0, 0, 1]]
    )
    J = M.T @ M
    S = J[:3, :3]
    inertia = np.trace(S) * np.eye(3) - S
    return np.array([J[3, 3], *J[:3, 3], *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])


def differences(function, x: Array, step: float) -> Array:
    """Central differences of a vector function, one column for each variable."""
    return np.column_stack(
        [(function(x + step * e) - function(x - step * e)) / (2.0 * step) for e in np.eye(x.size)]
    )


def test_where_least_squares_is_possible_the_theorem_is_its_linear_form() -> None:
    posed = case(0, **TINY)
    found, linear = log_cholesky_bounds(posed.rows), linear_bounds(posed.rows)
    plain = np.linalg.lstsq(posed.rows.load, posed.rows.target, rcond=None)[0]
    np.testing.assert_allclose(found.point, plain, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.half_width, 0.5 * (linear.upper - linear.lower), rtol=1e-6)
    assert found.minimiser is Minimiser.EVERYWHERE
    assert found.reason == ""
    assert (found.lower <= posed.truth).all()
    assert (posed.truth <= found.upper).all()


def test_a_minimiser_here_need_not_exist_for_other_errors_within_the_bounds() -> None:
    posed = case(0, **TINY)
    rows = posed.rows
    wide = BoundedRows(rows.load, rows.robot, rows.target, 1e5 * rows.error, rows.spread, rows.places)
    found = log_cholesky_bounds(wide)
    assert found.minimiser is Minimiser.HERE
    assert "errors within their bounds" in found.reason


def test_where_least_squares_is_impossible_there_is_no_minimiser_and_it_says_why() -> None:
    posed = case(3)
    plain = np.linalg.lstsq(posed.rows.load, posed.rows.target, rcond=None)[0]
    inertia = plain[[4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(3, 3)
    J = np.block([[0.5 * np.trace(inertia) * np.eye(3) - inertia, plain[1:4, None]], [plain[1:4], plain[0]]])
    assert np.linalg.eigvalsh(J)[0] < 0.0
    found = log_cholesky_bounds(posed.rows)
    assert found.minimiser is Minimiser.NOWHERE
    assert "not a possible body" in found.reason


def test_the_longer_the_search_the_farther_its_end() -> None:
    rows = case(3).rows
    ends = [log_cholesky_bounds(rows, gradient_tolerance=10.0**-k) for k in (2, 5, 8)]
    conditions = [end.condition for end in ends]
    assert conditions[0] < conditions[1] < conditions[2]
    assert conditions[2] > 1e3 * conditions[0]


def test_the_sensitivity_is_that_of_the_paper_by_finite_differences() -> None:
    rows = case(3).rows
    found = log_cholesky_bounds(rows, gradient_tolerance=1e-2)
    A, y = rows.load, rows.target
    eta = log_cholesky(found.point)

    def gradient(eta: Array) -> Array:
        return differences(body_of, eta, 1e-5).T @ (A.T @ (A @ body_of(eta) - y))

    D, H = differences(body_of, eta, 1e-6), differences(gradient, eta, 1e-4)
    S = D @ np.linalg.solve(0.5 * (H + H.T), D.T @ A.T)
    half = np.abs(S) @ rows.error + np.abs(S @ rows.robot) @ rows.spread
    np.testing.assert_allclose(found.half_width, half, rtol=1e-3)


@pytest.mark.parametrize("number", [4, 6, 9])
def test_errors_within_their_bounds_can_make_it_miss_the_truth_where_the_linear_form_does_not(
    number: int,
) -> None:
    posed = case(0)
    rows, L = posed.rows, np.linalg.pinv(posed.rows.load)[number]
    delta = -rows.spread * np.sign(L @ rows.robot)
    y = rows.load @ posed.truth + rows.robot @ delta - rows.error * np.sign(L)
    lowered = replace(rows, target=y)
    found, linear = log_cholesky_bounds(lowered), linear_bounds(lowered)
    assert found.minimiser is Minimiser.NOWHERE
    assert (linear.lower <= posed.truth).all()
    assert (posed.truth <= linear.upper).all()
    assert not ((found.lower <= posed.truth) & (posed.truth <= found.upper)).all()


def test_a_number_that_nothing_shows_leaves_no_single_minimiser() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 10))
    A[:, 5] = 0.0
    y = A @ random_body(rng).parameters
    places = (Place("joint", 0.0, 0.0),) * 30
    found = log_cholesky_bounds(BoundedRows(A, np.zeros((30, 0)), y, np.full(30, 0.1), np.zeros(0), places))
    assert found.minimiser is Minimiser.NOWHERE
    assert "does not show all ten" in found.reason


@pytest.mark.parametrize("seed", [6, 7, 9])
def test_a_search_that_runs_away_ends_where_numbers_do(seed: int) -> None:
    """An arm in a plane shows few numbers; squares that fall for ever must not overflow."""
    rng = np.random.default_rng(seed)
    A = np.zeros((40, 10))
    A[:, [0, 1, 3, 6]] = rng.normal(size=(40, 4)) * [1.0, 1.0, 1.0, 0.3]
    if seed % 2:
        A[:, 0] += 2.0 * A[:, 1]
        A[:, 3] *= 0.05
    y = A @ (rng.normal(size=10) * [2.0, *(1.0,) * 9]) + 0.01 * rng.normal(size=40)
    places = (Place("joint", 0.0, 0.0),) * 40
    found = log_cholesky_bounds(BoundedRows(A, np.zeros((40, 0)), y, np.full(40, 0.1), np.zeros(0), places))
    assert found.minimiser is Minimiser.NOWHERE
    assert np.isfinite(found.point).all()
