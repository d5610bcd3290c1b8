"""Instrumental variables: the textbook formula, and no bias from noise in the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.stacked_equation import stacked_equation
from steelyard.dynamics import torque_regressor
from steelyard.errors import NoSolutionError, ShapeError
from steelyard.estimation.instrumental import fit_instrumental, instrumental_shift
from steelyard.estimation.linear import fit_weighted
from steelyard.problem import Problem
from uncertainty.noisy_logs import exact_problem, noisy, with_torque


def shaken(problem: Problem, seed: int, level: float) -> Problem:
    """The same torques, with noise in the velocities and accelerations that were measured."""
    rng, at = np.random.default_rng(seed), problem.samples
    v = at.v + level * rng.normal(size=at.v.shape)
    a = at.a + 20.0 * level * rng.normal(size=at.a.shape)
    return with_torque(replace(problem, evidence=replace(at, v=v, a=a)), at.tau)


def test_it_solves_the_equations_multiplied_by_their_instruments() -> None:
    problem, _ = exact_problem("two_link")
    motion = problem.samples
    posed = shaken(noisy(problem, 1), 2, 0.05)
    estimate = fit_instrumental(posed, motion.q, motion.v, motion.a)
    W, tau = stacked_equation(posed)
    Z = torque_regressor(posed.robot, posed.layout, motion.q, motion.v, motion.a).reshape(len(W), -1)
    Z = Z[:, posed.base.columns]
    assert estimate.weights is not None
    w2 = np.tile(estimate.weights**2, motion.n)[:, None]
    np.testing.assert_allclose(estimate.values, np.linalg.solve(Z.T @ (w2 * W), Z.T @ (w2[:, 0] * tau)))


def test_noise_in_the_motion_biases_least_squares_but_not_instruments() -> None:
    problem, truth = exact_problem("two_link", samples=3000)
    motion = problem.samples
    plain, instrumental = [], []
    for seed in range(20):
        posed = shaken(noisy(problem, seed), 100 + seed, 0.1)
        ls, iv = fit_weighted(posed), fit_instrumental(posed, motion.q, motion.v, motion.a)
        plain.append((ls.values - truth) / ls.deviations)
        instrumental.append((iv.values - truth) / iv.deviations)
    assert np.abs(np.mean(plain, axis=0)).max() > 3.0
    # Noise in the regressor that varies with the motion is not the stationary noise the intervals assume.
    assert (np.abs(instrumental) < 1.96).mean() > 0.88
    assert np.abs(np.mean(instrumental, axis=0)).max() < 1.0


def test_its_own_regressor_as_instruments_is_weighted_least_squares() -> None:
    problem, _ = exact_problem("panda")
    problem = noisy(problem, 3)
    at = problem.samples
    own, plain = fit_instrumental(problem, at.q, at.v, at.a), fit_weighted(problem)
    np.testing.assert_allclose(own.values, plain.values, atol=1e-6)
    np.testing.assert_allclose(own.deviations, plain.deviations, rtol=1e-3)
    shift = instrumental_shift(problem, at.q, at.v, at.a)
    assert np.abs(shift.values / plain.deviations).max() < 1e-3


def test_the_shift_has_the_covariance_it_claims_when_the_motion_is_exact() -> None:
    problem, _ = exact_problem("two_link", samples=300)
    at = problem.samples
    rng = np.random.default_rng(4)
    q, v, a = (x + 0.3 * rng.normal(size=x.shape) for x in (at.q, at.v, at.a))
    shifts = [instrumental_shift(noisy(problem, seed), q, v, a) for seed in range(60)]
    z = [shift.values / np.sqrt(np.diag(shift.covariance)) for shift in shifts]
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2


def test_instruments_that_show_nothing_or_do_not_fit_are_refused() -> None:
    problem, _ = exact_problem("two_link")
    at = problem.samples
    still = np.zeros(at.v.shape)
    with pytest.raises(NoSolutionError, match="no instrument"):
        fit_instrumental(problem, np.zeros(at.q.shape), still, still)
    with pytest.raises(ShapeError, match="instruments q"):
        fit_instrumental(problem, at.q[:-1], at.v, at.a)
