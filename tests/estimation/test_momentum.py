"""Identification from momentum: order of the rule, its bound, and independence of accelerations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.estimation import fit_by_name, with_lag
from steelyard.estimation.momentum import fit_momentum, integrated_rows, integration_error
from steelyard.identification import identification_data, identification_fit, identification_problem
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import DRIVE, errors_in_deviations, exact_log, exact_problem, noisy

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
def test_what_the_rule_misses_is_estimated_without_knowing_it(window: float) -> None:
    problem = smooth_problem(1000)
    truth = problem.base.matrix @ problem.prior
    left = [rows.target - rows.regressor @ truth for rows in integrated_rows(problem, window)()]
    missed = np.sqrt((np.concatenate(left) ** 2).mean(axis=0))
    np.testing.assert_allclose(integration_error(problem, window, truth), missed, rtol=0.1)


def test_noise_of_the_torque_is_not_taken_for_an_error_of_the_rule() -> None:
    problem = noisy(smooth_problem(4000), 1)
    found = fit_momentum(problem, 0.1)
    assert "integration-error" not in {finding.code for finding in found.findings}
    assert (np.array(found.detail["integration_error"]) < 0.5 * found.residual * 0.1).all()


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


def test_a_window_of_a_tenth_of_a_second_is_taken_where_none_is_asked_for() -> None:
    problem = smooth_problem(2000)
    assert fit_by_name(problem, "momentum").detail["window"] == 0.1
    assert fit_by_name(problem, "momentum", window=0.2).detail["windows"] == 49
    coarse = smooth_problem(60)
    assert fit_by_name(coarse, "momentum").detail["window"] == pytest.approx(10.0 / 60)


def test_noise_is_followed_through_all_windows_of_a_motion() -> None:
    pieces = [rows.target for rows in integrated_rows(smooth_problem(10_000), 0.1)()]
    assert [len(piece) for piece in pieces] == [99]


def test_simulated_logs_give_intervals_that_hold_and_errors_no_larger_than_least_squares() -> None:
    """Industrial sensors, every sample, torques as measured: as `steelyard identify` does it."""
    deviations, windows, samples = [], [], []
    for name, seed in (("panda", 0), ("panda", 1), ("ur10e", 2), ("ur10e", 3)):
        robot = zoo_robot(name)
        layout = layout_of(robot, DRIVE)
        rng = np.random.default_rng(seed)
        log = simulate_motion(robot, random_fourier(robot, rng), sensor="industrial", rng=rng)
        asked_of = identification_problem(identification_data(robot, layout, [log], log, method="momentum"))
        posed, lag = asked_of.problem, asked_of.lag
        assert lag is not None
        momentum, weighted = (identification_fit(asked_of, way).estimate for way in ("momentum", "wls"))
        # The meter's own bias, drawn anew in each run, is part of the offsets.
        asked = np.array(["offset" not in name for name in posed.base.names])
        truth = posed.base.matrix @ layout.complete_nominal()
        off = with_lag(momentum, lag)
        deviations.append(((off.values - truth) / off.deviations)[asked])
        W = posed.base_factor(weighted.weights)[:, :-1]
        windows.append(np.linalg.norm(W @ np.where(asked, momentum.values - truth, 0.0)))
        samples.append(np.linalg.norm(W @ np.where(asked, weighted.values - truth, 0.0)))
    assert 0.88 < (np.abs(np.concatenate(deviations)) < 1.96).mean() < 0.99
    assert np.linalg.norm(windows) < 1.2 * np.linalg.norm(samples)
