"""Identification from momentum: order of the rule, its bound, and independence of accelerations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.estimation.momentum import fit_momentum
from steelyard.estimation.momentum_rows import integrated_rows, integration_error
from steelyard.layout import layout_of
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import errors_in_deviations, exact_log, exact_problem, noisy

SMOOTH = ("viscous", "offset", "rotor")


def smooth_problem(samples: int) -> Problem:
    """A problem without the jumps of Coulomb friction."""
    robot = zoo_robot("two_link")
    layout = layout_of(robot, SMOOTH)
    phi = layout.complete_nominal()
    return problem_of(robot, layout, [exact_log(robot, layout, phi, 1, samples)], prior=phi)


def test_the_error_falls_with_the_square_of_the_interval() -> None:
    errors = []
    for samples in (1000, 2000, 4000):
        problem = smooth_problem(samples)
        truth = problem.base.matrix @ problem.prior
        errors.append(np.abs(fit_momentum(problem, 0.1).values - truth).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.2)


def test_noise_free_data_gives_the_truth_to_1e_6_where_samples_are_dense() -> None:
    problem = smooth_problem(40_000)
    truth = problem.base.matrix @ problem.prior
    np.testing.assert_allclose(fit_momentum(problem, 0.05).values, truth, atol=1e-6)


@pytest.mark.parametrize("window", [0.02, 0.1, 0.5])
def test_the_bound_on_the_rule_holds_for_the_truth_across_jumps_of_friction(window: float) -> None:
    problem, truth = exact_problem("two_link", samples=1000)
    left = [rows.target - rows.regressor @ truth for rows in integrated_rows(problem, window)()]
    missed = np.sqrt((np.concatenate(left) ** 2).mean(axis=0))
    bound = integration_error(problem, window, truth)
    assert (missed > 0).all()
    assert (missed <= bound).all()
    assert (bound < 500.0 * missed).all()


def test_accelerations_are_not_looked_at() -> None:
    problem, _ = exact_problem("two_link", samples=1000)
    problem = noisy(problem, 1)
    lost = replace(problem, evidence=replace(problem.samples, a=np.zeros_like(problem.samples.a)))
    a, b = fit_momentum(problem, 0.05), fit_momentum(lost, 0.05)
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.covariance, b.covariance)


def test_its_intervals_cover_under_white_torque_noise() -> None:
    problem = smooth_problem(2000)

    def fit(posed: Problem) -> Estimate:
        return fit_momentum(posed, 0.05)

    truth = problem.base.matrix @ problem.prior
    z = errors_in_deviations(problem, truth, fit, range(50), 0.0)
    assert 0.90 < (np.abs(z) < 1.96).mean() < 0.99


def test_motions_are_not_joined_and_odd_windows_are_refused() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, SMOOTH)
    phi = layout.complete_nominal()
    logs = [exact_log(robot, layout, phi, seed, 2000) for seed in (1, 2)]
    problem = problem_of(robot, layout, logs)
    np.testing.assert_allclose(fit_momentum(problem, 0.1).values, problem.base.matrix @ phi, atol=2e-4)
    for window in (0.001, 20.0, float("nan")):
        with pytest.raises(InputError, match="window"):
            fit_momentum(problem, window)


def test_a_coarse_log_is_said_to_be_coarse() -> None:
    problem, _ = exact_problem("two_link", samples=200)
    assert "integration-error" in {finding.code for finding in fit_momentum(problem, 0.1).findings}
