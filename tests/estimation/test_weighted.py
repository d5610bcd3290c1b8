"""Weighted least squares: recovery, optimality, honest intervals, and what a poor motion hides."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.linalg

from oracles.stacked_equation import stacked_equation
from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.equations import base_rows, residuals
from steelyard.estimation.linear import fit_weighted
from steelyard.estimation.noise import (
    NoiseModel,
    Spread,
    autocovariances,
    autoregression,
    covariance_under,
    linear_covariance,
)
from steelyard.estimation.static import static_problem
from steelyard.problem import Problem
from steelyard.recording import Recording
from uncertainty.noisy_logs import coloured, errors_in_deviations, exact_problem, noisy, with_torque


def standing(problem: Problem) -> Problem:
    """The same log with the last joint held, so that its friction and inertia go unseen."""
    at = problem.samples
    q, v, a = np.array(at.q), np.array(at.v), np.array(at.a)
    q[:, -1], v[:, -1], a[:, -1] = 0.3, 0.0, 0.0
    evidence = replace(at, q=q, v=v, a=a)
    held = replace(problem, evidence=evidence)
    Y, _ = stacked_equation(held)
    phi = problem.prior
    assert phi is not None
    tau = (Y @ (problem.base.matrix @ phi)).reshape(at.tau.shape)
    return with_torque(held, tau)


@pytest.mark.parametrize("name", ["one_link", "two_link", "panda"])
def test_noise_free_data_gives_the_true_base_parameters(name: str) -> None:
    problem, truth = exact_problem(name)
    np.testing.assert_allclose(fit_weighted(problem).values, truth, atol=1e-9 * np.abs(truth).max())


def test_the_answer_is_the_weighted_normal_equations_of_the_stacked_data() -> None:
    problem, _ = exact_problem("panda")
    problem = noisy(problem, 1)
    estimate = fit_weighted(problem)
    W, tau = stacked_equation(problem)
    assert estimate.weights is not None
    w = np.tile(estimate.weights, problem.samples.n)
    reference = np.linalg.lstsq(W * w[:, None], tau * w, rcond=None)[0]
    np.testing.assert_allclose(estimate.values, reference, atol=1e-8 * np.abs(reference).max())
    # The noise it weighs by is the residual's, each joint less the parameters it pays for.
    r = (tau - W @ reference).reshape(-1, 7)
    hat = np.einsum("ij,jk,ik->i", W, np.linalg.inv((W * w[:, None] ** 2).T @ W), W) * w**2
    left = problem.samples.n - hat.reshape(-1, 7).sum(axis=0)
    np.testing.assert_allclose(1.0 / estimate.weights, np.sqrt((r**2).sum(axis=0) / left), rtol=1e-4)


def test_white_noise_gives_the_textbook_covariance() -> None:
    problem, _ = exact_problem("two_link")
    problem = noisy(problem, 2)
    estimate = fit_weighted(problem, colour="white")
    W, _ = stacked_equation(problem)
    assert estimate.weights is not None
    assert estimate.covariance is not None
    w = np.tile(estimate.weights, problem.samples.n)
    reference = np.linalg.inv((W * w[:, None] ** 2).T @ W)
    np.testing.assert_allclose(estimate.deviations, np.sqrt(np.diag(reference)), rtol=0.01)
    compressed = replace(problem, evidence=None)
    np.testing.assert_allclose(
        fit_weighted(compressed, colour="white").covariance, reference, atol=1e-4 * np.abs(reference).max()
    )


@pytest.mark.parametrize("memory", [0.8, 0.2])
def test_a_known_noise_gives_the_sandwich_of_its_full_covariance_matrix(memory: float) -> None:
    problem, _ = exact_problem("two_link", samples=150)
    source, (W, _) = base_rows(problem), stacked_equation(problem)
    weights = np.array([1.0, 3.0])
    models = (
        NoiseModel(np.array([memory]), np.array([2.0, 2.0 * memory])),
        NoiseModel(np.zeros(0), np.array([0.5])),
    )
    G = np.zeros((300, 300))
    G[::2, ::2] = scipy.linalg.toeplitz(2.0 * memory ** np.arange(150))
    G[1::2, 1::2] = 0.5 * np.eye(150)
    w2 = np.diag(np.tile(weights**2, 150))
    B = np.linalg.inv(W.T @ w2 @ W)
    expected = B @ W.T @ w2 @ G @ w2 @ W @ B
    found = covariance_under(source, weights, B, models)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_an_autoregression_is_recovered_and_continues_its_autocovariances() -> None:
    r = coloured(np.random.default_rng(3), 20_000, np.array([1.5]), 0.8)
    model = autoregression(autocovariances([r], 20)[0], 20_000)
    assert model.order == 1
    assert model.coefficients[0] == pytest.approx(0.8, abs=0.02)
    np.testing.assert_allclose(
        model.autocovariance(30) / model.start[0], model.coefficients[0] ** np.arange(30), rtol=1e-9
    )
    assert model.start[0] == pytest.approx(2.25, rel=0.1)


def test_autocovariances_of_a_higher_order_continue_those_it_starts_from() -> None:
    model = NoiseModel(np.array([1.5, -0.7, 0.1]), np.array([2.0, 1.8, 1.5, 1.1]))
    wanted = [2.0, 1.8, 1.5, 1.1]
    while len(wanted) < 40:
        wanted.append(1.5 * wanted[-1] - 0.7 * wanted[-2] + 0.1 * wanted[-3])
    np.testing.assert_allclose(model.autocovariance(40), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("memory", [0.0, 0.7])
def test_intervals_cover_the_truth_under_white_and_coloured_noise(memory: float) -> None:
    # 150 seeds of 8 parameters or so: correlated within a seed, so the bounds are three binomial deviations
    # of about 600 independent cases around 93 to 97 %.
    problem, truth = exact_problem("two_link", samples=600)
    z = errors_in_deviations(problem, truth, fit_weighted, range(150), memory)
    covered = float((np.abs(z) < 1.96).mean())
    assert 0.93 - 0.027 < covered < 0.97 + 0.02
    if memory:
        white = partial(fit_weighted, colour="white")
        blind_to_colour = errors_in_deviations(problem, truth, white, range(40), memory)
        assert (np.abs(blind_to_colour) < 1.96).mean() < 0.85


def test_the_intervals_of_an_arm_with_seven_joints_cover() -> None:
    problem, truth = exact_problem("panda", samples=500)
    z = errors_in_deviations(problem, truth, fit_weighted, range(10), 0.6)
    assert 0.91 < (np.abs(z) < 1.96).mean() < 0.985


def test_newey_west_sees_noise_that_joints_share() -> None:
    # The same noise at both joints: models per joint take it for independent, the scores do not.
    problem, _ = exact_problem("two_link", samples=4000)
    common = 0.3 * np.random.default_rng(4).normal(size=(4000, 1)) * np.ones(2)
    problem = with_torque(problem, problem.samples.tau + common)
    estimate = fit_weighted(problem, colour="newey-west")
    W, _ = stacked_equation(problem)
    w = estimate.weights
    assert w is not None
    Ws = (W.reshape(-1, 2, W.shape[1]) * w[:, None]).reshape(-1, W.shape[1])
    B = np.linalg.inv(Ws.T @ Ws)
    summed = (W.reshape(-1, 2, W.shape[1]) * (w**2)[:, None]).sum(axis=1)
    expected = 0.09 * B @ summed.T @ summed @ B
    np.testing.assert_allclose(estimate.deviations, np.sqrt(np.diag(expected)), rtol=0.3)


def test_what_the_fit_took_from_the_residual_is_given_back() -> None:
    # With 62 parameters on 7 x 120 samples the raw residual claims 7 % too little noise, and more where the
    # motion has its power; the corrected model's variance is right on average.
    problem, _ = exact_problem("panda", samples=120)
    found = []
    for seed in range(12):
        posed = noisy(problem, seed, level=1.0)
        W, tau = stacked_equation(posed)
        beta = np.linalg.lstsq(W, tau, rcond=None)[0]
        source = base_rows(posed)
        gain = np.linalg.inv(W.T @ W)
        _, noise = linear_covariance(source, np.ones(7), gain, residuals(source, beta), "white")
        found.append([model.start[0] for model in noise])
    truth = np.linspace(0.2, 2.0, 7) ** 2
    assert np.mean(np.array(found)[:, 1:] / truth[1:]) == pytest.approx(1.0, abs=0.04)


def test_hidden_parameters_are_refused_by_name_or_have_infinite_variance() -> None:
    problem, truth = exact_problem("two_link")
    problem = noisy(standing(problem), 5, level=1e-6)
    with pytest.raises(NoSolutionError, match=r"joint2\.viscous"):
        fit_weighted(problem)
    estimate = fit_weighted(problem, on_blind="infinite")
    deviations = dict(zip(estimate.base.names, estimate.deviations, strict=True))
    assert np.isinf(deviations["joint2.viscous"])
    assert np.isinf(deviations["joint2.coulomb"])
    assert np.isfinite(deviations["joint1.viscous"])
    known = np.isfinite(estimate.deviations)
    np.testing.assert_allclose(estimate.values[known], truth[known], atol=1e-4)
    with pytest.raises(InputError, match="Valid: refuse, infinite"):
        fit_weighted(problem, on_blind="ignore")  # type: ignore[arg-type]


def test_a_spread_knows_combinations_of_parameters_it_does_not_know() -> None:
    # beta_0 + beta_1 is measured with variance 4, their difference is not.
    spread = Spread(np.diag([4.0, 0.0, 1.0]), np.array([[1.0], [-1.0], [0.0]]))
    variance: Array = spread.variance(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    np.testing.assert_allclose(variance, [4.0, np.inf, 4.0])
    assert np.isinf(np.diag(spread.covariance)).tolist() == [True, True, False]


def test_too_few_samples_or_none_kept_are_refused() -> None:
    problem, _ = exact_problem("panda", samples=9)
    with pytest.raises(NoSolutionError):
        fit_weighted(problem)
    problem, _ = exact_problem("two_link")
    with pytest.raises(InputError, match="were not kept"):
        fit_weighted(replace(noisy(problem, 1), evidence=None))
    with pytest.raises(InputError, match="Valid: white"):
        fit_weighted(noisy(problem, 1), colour="pink")  # type: ignore[arg-type]


def test_held_poses_identify_the_gravity_parameters_and_nothing_else() -> None:
    problem, _ = exact_problem("two_link")
    rng = np.random.default_rng(6)
    q = rng.uniform(-np.pi, np.pi, size=(60, 2))
    phi = problem.prior
    assert phi is not None
    held = Recording(problem.robot.joint_names, np.arange(60.0), q, tau=np.zeros((60, 2)))
    posed = static_problem(problem.robot, problem.layout, [held])
    assert not any(word in name for name in posed.base.names for word in ("I", "viscous", "rotor"))
    W, _ = stacked_equation(posed)
    truth = posed.base.matrix @ phi
    posed = with_torque(posed, (W @ truth).reshape(60, 2))
    np.testing.assert_allclose(fit_weighted(posed).values, truth, atol=1e-9)
