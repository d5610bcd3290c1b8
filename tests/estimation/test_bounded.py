"""Bounded least squares: scipy's optimum, the bounds themselves, and what lies on them."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.cones import AtMost, ConeProgram, solve
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation.linear import fit_bounded, relative_bounds
from steelyard.problem import Problem
from uncertainty.noisy_logs import exact_problem, noisy


@pytest.mark.parametrize("name", ["two_link", "panda"])
def test_noise_free_data_gives_the_true_base_parameters(name: str) -> None:
    problem, truth = exact_problem(name)
    estimate = fit_bounded(problem, 0.3)
    np.testing.assert_allclose(estimate.values, truth, atol=1e-6)


@pytest.mark.parametrize("relative", [0.02, 0.5])
def test_it_meets_the_conditions_of_optimality_and_the_loss_of_a_cone_solver(relative: float) -> None:
    problem, _ = exact_problem("panda")
    problem = noisy(problem, 1, level=2.0)
    estimate = fit_bounded(problem, relative)
    at = problem.samples
    W = torque_regressor(problem.robot, problem.layout, at.q, at.v, at.a).reshape(-1, problem.layout.size)
    tau = at.tau.reshape(-1)
    lower, upper = relative_bounds(problem.layout, relative)
    phi = estimate.parameters
    assert phi is not None
    width = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
    assert (phi >= lower - 1e-9 * width).all()
    assert (phi <= upper + 1e-9 * width).all()
    norms = np.linalg.norm(W, axis=0)
    shown = norms > 1e-9 * norms.max()
    slope = np.where(shown, W.T @ (W @ phi - tau) / np.where(shown, norms, 1.0) / np.linalg.norm(tau), 0.0)
    low, high = phi - lower < 1e-9 * width, upper - phi < 1e-9 * width
    assert (low | high).any()
    assert np.abs(slope[~low & ~high]).max() < 1e-9
    assert slope[low].min(initial=0.0) > -1e-9
    assert slope[high].max(initial=0.0) < 1e-9
    finite = np.isfinite(upper)
    rows = np.vstack([np.eye(len(phi))[finite], -np.eye(len(phi))[np.isfinite(lower)]])
    ranges = AtMost(rows, np.r_[upper[finite], -lower[np.isfinite(lower)]])
    judge = solve(ConeProgram.least_squares(W, tau, [ranges])).x
    assert np.linalg.norm(W @ phi - tau) == pytest.approx(np.linalg.norm(W @ judge - tau), rel=1e-6)
    np.testing.assert_allclose(estimate.values, problem.base.matrix @ phi, atol=1e-12)


def test_parameters_on_a_bound_are_named() -> None:
    problem, _ = exact_problem("two_link")
    tight = fit_bounded(noisy(problem, 2, level=3.0), 0.001)
    assert [finding.code for finding in tight.findings] == ["on-bound"]
    named = tight.detail["on_bound"]
    assert isinstance(named, list)
    assert named
    roomy, _ = exact_problem("panda")
    assert fit_bounded(roomy, 0.5).findings == ()


def test_bounds_are_a_share_of_each_kind_of_parameter() -> None:
    problem: Problem
    problem, _ = exact_problem("panda")
    lower, upper = relative_bounds(problem.layout, 0.3)
    nominal = problem.layout.nominal
    link = problem.layout.of_link("panda_link3")
    m, first = nominal[link][0], np.abs(nominal[link][1:4]).max()
    assert (upper - lower)[link][0] == pytest.approx(0.6 * m)
    np.testing.assert_allclose((upper - lower)[link][1:4], 0.6 * first)
    assert (lower[[problem.layout.index("panda_link3.Ixx"), link.start]] >= 0.0).all()
    with pytest.raises(InputError, match="relative"):
        relative_bounds(problem.layout, -0.1)
