"""`auto` leaves weighted least squares only where the data gives a reason, and says which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.consistency import check_parameters
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation import METHODS, fit_auto, fit_by_name, fit_lmi, fit_weighted
from steelyard.problem import Estimate, Problem
from uncertainty.noisy_logs import exact_problem, noisy, with_torque


def reason(estimate: Estimate) -> str:
    assert estimate.findings[0].code == "method-chosen"
    return estimate.findings[0].message


def _standing(problem: Problem) -> Problem:
    """The same log with the last joint held."""
    at = problem.samples
    q, v, a = np.array(at.q), np.array(at.v), np.array(at.a)
    q[:, -1], v[:, -1], a[:, -1] = 0.3, 0.0, 0.0
    held = replace(problem, evidence=replace(at, q=q, v=v, a=a))
    assert problem.prior is not None
    tau = held.regression()[0] @ (problem.base.matrix @ problem.prior)
    return with_torque(held, tau.reshape(at.tau.shape))


def test_ordinary_data_is_fitted_by_weighted_least_squares() -> None:
    problem = noisy(exact_problem("two_link")[0], 1)
    estimate = fit_auto(problem)
    assert reason(estimate).startswith("weighted least squares")
    np.testing.assert_array_equal(estimate.values, fit_weighted(problem).values)


def test_outliers_ask_for_hubers_loss() -> None:
    problem = noisy(exact_problem("two_link")[0], 2)
    tau = np.array(problem.samples.tau)
    rng = np.random.default_rng(0)
    struck = rng.choice(len(tau), len(tau) // 50, replace=False)
    tau[struck] += 30.0 * rng.standard_normal((len(struck), tau.shape[1]))
    estimate = fit_auto(with_torque(problem, tau))
    assert reason(estimate).startswith("Huber's loss, because")


def test_what_the_motion_hides_is_decided_by_the_prior_and_stays_uncertain() -> None:
    problem = _standing(noisy(exact_problem("two_link")[0], 3))
    estimate = fit_auto(problem)
    assert "the prior decides these" in reason(estimate)
    assert estimate.parameters is not None
    assert check_parameters(problem.layout, estimate.parameters)
    assert np.isinf(estimate.deviations).any()


def test_what_the_motion_hides_stays_unknown_without_a_prior() -> None:
    estimate = fit_auto(replace(_standing(noisy(exact_problem("two_link")[0], 3)), prior=None))
    assert "there is no prior" in reason(estimate)
    assert np.isinf(estimate.deviations).any()


def test_torques_that_no_links_explain_are_fitted_by_links_that_can_exist() -> None:
    problem, truth = exact_problem("two_link")
    # Negative friction creates energy; no drive does.
    beta = np.array(truth)
    viscous = [k for k, name in enumerate(problem.base.names) if "viscous" in name]
    beta[viscous] = -5.0
    tau = (problem.regression()[0] @ beta).reshape(problem.samples.tau.shape)
    impossible = noisy(with_torque(problem, tau), 4)
    estimate = fit_auto(impossible)
    assert reason(estimate).startswith("least squares over possible links")
    assert estimate.parameters is not None
    assert check_parameters(problem.layout, estimate.parameters)
    reference = fit_lmi(impossible, weights=estimate.weights)
    np.testing.assert_allclose(estimate.values, reference.values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_comes_near_the_truth_on_clean_data(method: str) -> None:
    problem, truth = exact_problem("two_link")
    problem = noisy(problem, 5, level=0.01)
    at = problem.samples
    instruments = (at.q, at.v, at.a) if method == "iv" else None
    estimate = fit_by_name(problem, method, instruments=instruments)
    np.testing.assert_allclose(estimate.values, truth, atol=0.01)


def test_a_method_that_does_not_exist_is_refused_with_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="entropic"):
        fit_by_name(exact_problem("one_link")[0], "entropy")


def test_instruments_are_asked_for_where_they_are_needed() -> None:
    with pytest.raises(InputError, match="--motion"):
        fit_by_name(exact_problem("one_link")[0], "iv")
