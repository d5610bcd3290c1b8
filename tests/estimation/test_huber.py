"""Huber's estimator: optimality, outliers, and agreement with least squares where there are none."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from oracles.stacked_equation import stacked_equation
from steelyard.errors import InputError
from steelyard.estimation.linear import TUNING, fit_huber, fit_weighted
from uncertainty.noisy_logs import errors_in_deviations, exact_problem, noisy, with_torque


def test_noise_free_data_gives_the_true_base_parameters() -> None:
    problem, truth = exact_problem("two_link")
    np.testing.assert_allclose(fit_huber(problem).values, truth, atol=1e-9)


def test_the_answer_minimises_hubers_loss() -> None:
    problem, _ = exact_problem("two_link")
    problem = noisy(problem, 1)
    estimate = fit_huber(problem)
    W, tau = stacked_equation(problem)
    assert estimate.weights is not None
    w = np.tile(estimate.weights, problem.samples.n)
    judge = scipy.optimize.least_squares(
        lambda beta: (W @ beta - tau) * w,
        np.zeros(len(estimate.values)),
        loss="huber",
        f_scale=TUNING,
        x_scale="jac",
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-12,
    )
    np.testing.assert_allclose(estimate.values, judge.x, atol=1e-4 * estimate.deviations.max())


def test_a_few_wild_torques_do_not_move_it_and_are_named() -> None:
    problem, truth = exact_problem("two_link", samples=1000)
    problem = noisy(problem, 2)
    tau = np.array(problem.samples.tau)
    wild = np.random.default_rng(3).choice(1000, 40, replace=False)
    tau[wild] += 30.0
    broken = with_torque(problem, tau)
    robust, plain = fit_huber(broken), fit_weighted(broken, colour="white")
    clean = fit_huber(problem)
    moved = np.abs(robust.values - truth) / clean.deviations
    assert moved.max() < 5.0
    assert (np.abs(plain.values - truth) / clean.deviations).max() > 3 * moved.max()
    assert {finding.code for finding in robust.findings} == {"outliers"}
    assert clean.findings == ()


def test_its_intervals_cover_under_normal_noise() -> None:
    problem, truth = exact_problem("two_link", samples=500)
    z = errors_in_deviations(problem, truth, fit_huber, range(60), 0.4)
    assert 0.90 < (np.abs(z) < 1.96).mean() < 0.99


def test_a_tuning_that_is_not_positive_is_refused() -> None:
    problem, _ = exact_problem("two_link")
    with pytest.raises(InputError, match="tuning"):
        fit_huber(problem, tuning=0.0)
