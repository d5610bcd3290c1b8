"""Intervals of base and full parameters, and of predicted torques."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation import Spread
from steelyard.estimation.linear import fit_least_squares, fit_weighted
from steelyard.layout import layout_of
from steelyard.problem import Estimate, problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.uncertainty import base_intervals, parameter_intervals, spread_of, with_covariance
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import DRIVE, exact_log, exact_problem, noisy


def test_ninety_five_percent_is_1_96_deviations_on_either_side() -> None:
    problem, truth = exact_problem("two_link")
    estimate = fit_weighted(noisy(problem, 1))
    found = base_intervals(estimate)
    np.testing.assert_allclose(found.upper - estimate.values, 1.959964 * estimate.deviations, rtol=1e-6)
    np.testing.assert_allclose(found.upper + found.lower, 2 * estimate.values, atol=1e-12)
    wide = base_intervals(estimate, 0.999)
    assert (wide.upper > found.upper).all()
    assert wide.cover(truth).mean() >= found.cover(truth).mean()
    with pytest.raises(InputError, match="level"):
        base_intervals(estimate, 1.0)


def test_full_parameters_are_known_where_torques_alone_determine_them() -> None:
    problem, _ = exact_problem("panda")
    estimate = fit_weighted(noisy(problem, 2))
    found = parameter_intervals(estimate)
    named = dict(zip(found.names, found.known, strict=True))
    assert named["panda_joint3.viscous"]
    assert named["panda_link7.mx"]
    assert not named["panda_link1.m"]
    assert not named["panda_link2.Ixx"]
    # Independent reading: e_j lies in the row space of K exactly where the projector onto it says so.
    K = problem.base.matrix
    projector = np.linalg.pinv(K) @ K
    alone = np.abs(projector - np.eye(len(projector))).max(axis=0) < 1e-8
    np.testing.assert_array_equal(found.known, alone)
    phi = problem.layout.complete_nominal()
    assert found.cover(phi)[alone].mean() > 0.8
    assert found.cover(phi)[~alone].all()


def test_a_fixed_parameter_is_known_exactly_and_frees_those_grouped_with_it() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, DRIVE)
    phi = layout.complete_nominal()
    rotor = float(phi[layout.index("joint1.rotor")])
    fixed = layout.fixing({"joint1.rotor": rotor})
    log = exact_log(robot, layout, phi)
    rng = np.random.default_rng(3)
    log = log.with_channels(tau=log.channels["tau"] + 0.1 * rng.normal(size=(log.n, 2)))
    found = parameter_intervals(fit_weighted(problem_of(robot, fixed, [log])))
    k = layout.index("joint1.rotor")
    assert found.lower[k] == found.upper[k] == rotor


def test_an_estimate_without_covariance_gets_one_from_its_residual() -> None:
    problem, _ = exact_problem("two_link")
    problem = noisy(problem, 4, memory=0.6)
    plain = fit_least_squares(problem)
    with pytest.raises(InputError, match="no covariance"):
        base_intervals(plain)
    estimate = with_covariance(problem, plain)
    np.testing.assert_array_equal(estimate.values, plain.values)
    # The same by the stacked sandwich of ordinary least squares with the true noise.
    at = problem.samples
    Y = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a)
    W = Y.reshape(-1, problem.layout.size)[:, problem.base.columns]
    n = problem.samples.n
    B = np.linalg.inv(W.T @ W)
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    meat = sum(s**2 * W[k::2].T @ (0.6**lag) @ W[k::2] for k, s in enumerate(0.3 * np.linspace(0.2, 2.0, 2)))
    np.testing.assert_allclose(estimate.deviations, np.sqrt(np.diag(B @ meat @ B)), rtol=0.25)
    other, _ = exact_problem("one_link")
    with pytest.raises(InputError, match="other base parameters"):
        spread_of(other, plain)


def torque_deviations(estimate: Estimate, spread: Spread, robot: Robot, log: Recording) -> np.ndarray:
    """Standard deviation of predicted torques, the root of y' Sigma y for each row of the regressor."""
    Y = torque_regressor(robot, estimate.layout, log.q, log.channels["v"], log.channels["a"])
    return np.sqrt(spread.variance(Y[..., estimate.base.columns]))


def test_predicted_torques_vary_as_draws_of_the_parameters_make_them() -> None:
    problem, _ = exact_problem("panda")
    problem = noisy(problem, 5)
    estimate = fit_weighted(problem)
    robot, layout = problem.robot, problem.layout
    other = exact_log(robot, layout, layout.complete_nominal(), seed=9, samples=50)
    spread = spread_of(problem, estimate)
    found = torque_deviations(estimate, spread, robot, other)
    rng = np.random.default_rng(6)
    betas = rng.multivariate_normal(estimate.values, spread.finite, size=4000)
    draws = np.array([replace(estimate, values=beta).torque(robot, other) for beta in betas[:800]])
    np.testing.assert_allclose(found, draws.std(axis=0), rtol=0.15)


def test_a_torque_that_needs_what_was_not_shown_is_unknown() -> None:
    problem, _ = exact_problem("two_link")
    estimate = fit_weighted(noisy(problem, 7))
    at = estimate.base.names.index("joint2.viscous")
    blind = np.zeros((estimate.base.count, 1))
    blind[at] = 1.0
    assert estimate.covariance is not None
    spread = Spread(estimate.covariance, blind)
    robot = problem.robot
    log = exact_log(robot, problem.layout, problem.layout.complete_nominal(), samples=20)
    found = torque_deviations(estimate, spread, robot, log)
    moving = log.channels["v"][:, 1] != 0.0
    assert np.isinf(found[moving, 1]).all()
    assert np.isfinite(found[:, 0]).all()
    assert np.isinf(base_intervals(estimate, spread=spread).upper[at])
