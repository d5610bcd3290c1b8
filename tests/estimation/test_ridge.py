"""Ridge to a prior: Lambert (2023), eq. (4.13), its limits, and what it must be given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.stacked_equation import stacked_equation
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation.linear import fit_ridge, fit_weighted
from uncertainty.noisy_logs import exact_problem, noisy


def test_it_is_equation_4_13_of_paper_001_on_the_stacked_regressor() -> None:
    problem, _ = exact_problem("panda")
    problem = noisy(problem, 1)
    assert problem.prior is not None
    prior = 1.2 * problem.prior + 0.01
    estimate = fit_ridge(replace(problem, prior=prior), 0.7)
    at = problem.samples
    W = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a).reshape(-1, problem.layout.size)
    change = np.linalg.solve(W.T @ W + 0.7 * np.eye(W.shape[1]), W.T @ (at.tau.reshape(-1) - W @ prior))
    assert estimate.parameters is not None
    np.testing.assert_allclose(estimate.parameters, prior + change, atol=1e-8)
    np.testing.assert_allclose(estimate.values, problem.base.matrix @ (prior + change), atol=1e-8)


def test_a_weak_ridge_is_least_squares_and_a_strong_one_the_prior() -> None:
    problem, _ = exact_problem("two_link")
    problem = noisy(problem, 2)
    assert problem.prior is not None
    problem = replace(problem, prior=problem.prior + 0.1)
    W, tau = stacked_equation(problem)
    plain = np.linalg.lstsq(W, tau, rcond=None)[0]
    np.testing.assert_allclose(fit_ridge(problem, 1e-10).values, plain, atol=1e-6)
    strong = fit_ridge(problem, 1e12).parameters
    np.testing.assert_allclose(strong, problem.prior, atol=1e-6)


def test_noise_free_data_and_a_true_prior_give_the_truth() -> None:
    problem, truth = exact_problem("panda")
    np.testing.assert_allclose(fit_ridge(problem, 1e-3).values, truth, atol=1e-8)


def test_weights_change_it_as_they_change_the_data() -> None:
    problem, _ = exact_problem("two_link")
    problem = noisy(problem, 3)
    weights = fit_weighted(problem, colour="white").weights
    assert weights is not None
    assert problem.prior is not None
    found = fit_ridge(problem, 2.0, weights=weights).parameters
    at = problem.samples
    Y = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a)
    W = (Y * weights[:, None]).reshape(-1, problem.layout.size)
    y = (at.tau * weights).reshape(-1)
    expected = problem.prior + np.linalg.solve(
        W.T @ W + 2.0 * np.eye(W.shape[1]), W.T @ (y - W @ problem.prior)
    )
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_prior_with_gaps_and_a_strength_of_zero_are_refused() -> None:
    problem, _ = exact_problem("two_link")
    assert problem.prior is not None
    gap = np.array(problem.prior)
    gap[problem.layout.index("link1.mx")] = np.nan
    with pytest.raises(InputError, match=r"link1\.mx"):
        fit_ridge(replace(problem, prior=gap), 1.0)
    with pytest.raises(InputError, match="says nothing"):
        fit_ridge(replace(problem, prior=None), 1.0)
    with pytest.raises(InputError, match="strength"):
        fit_ridge(problem, 0.0)
