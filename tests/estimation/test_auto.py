"""`auto` gives base parameters of the data alone and links near the prior, and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.signal

from estimation.test_friction import stribeck_problem
from oracles.stacked_equation import stacked_equation
from steelyard.consistency import check_parameters
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation import METHODS, fit_by_name
from steelyard.estimation.auto import fit_auto
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.linear import fit_huber, fit_weighted
from steelyard.estimation.physical import fit_lmi
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
    tau = stacked_equation(held)[0] @ (problem.base.matrix @ problem.prior)
    return with_torque(held, tau.reshape(at.tau.shape))


def test_base_parameters_are_those_of_weighted_least_squares_and_links_stay_near_the_prior() -> None:
    problem = noisy(exact_problem("two_link")[0], 1)
    estimate, alone = fit_auto(problem), fit_weighted(problem)
    assert reason(estimate).startswith("links near the prior by a pull of")
    assert "Base parameters: weighted least squares" in reason(estimate)
    np.testing.assert_array_equal(estimate.values, alone.values)
    np.testing.assert_array_equal(estimate.covariance, alone.covariance)
    assert estimate.parameters is not None
    assert problem.prior is not None
    masses = slice(0, 10 * len(problem.layout.links), 10)
    ratio = estimate.parameters[masses] / problem.prior[masses]
    assert (np.abs(np.log(ratio)) < np.log(1.1)).all()


def test_the_price_is_what_links_leave_beside_what_the_data_alone_leaves() -> None:
    problem = noisy(exact_problem("two_link")[0], 1)
    estimate, alone = fit_auto(problem), fit_weighted(problem)
    assert estimate.parameters is not None
    size = np.sqrt((problem.samples.tau**2).mean())
    W, tau = stacked_equation(problem)
    left = tau - W @ (problem.base.matrix @ estimate.parameters)
    price = estimate.detail["price"]
    assert isinstance(price, dict)
    assert price["believable"] == pytest.approx(100 * np.sqrt((left**2).mean()) / size)
    left = tau - W @ alone.values
    assert price["unconstrained"] == pytest.approx(100 * np.sqrt((left**2).mean()) / size)


def test_data_without_noise_decides_all_that_it_shows() -> None:
    problem, truth = exact_problem("two_link")
    estimate = fit_auto(problem)
    assert "no noise" in reason(estimate)
    assert estimate.parameters is not None
    np.testing.assert_allclose(problem.base.matrix @ estimate.parameters, truth, atol=1e-6)


def test_outliers_ask_for_hubers_loss_and_pull_no_link() -> None:
    problem = noisy(exact_problem("two_link")[0], 2)
    tau = np.array(problem.samples.tau)
    rng = np.random.default_rng(0)
    struck = rng.choice(len(tau), len(tau) // 50, replace=False)
    tau[struck] += 30.0 * rng.standard_normal((len(struck), tau.shape[1]))
    clean, estimate = fit_auto(problem), fit_auto(with_torque(problem, tau))
    assert "Base parameters: Huber's loss, because" in reason(estimate)
    assert clean.parameters is not None
    assert estimate.parameters is not None
    masses = slice(0, 10 * len(problem.layout.links), 10)
    np.testing.assert_allclose(estimate.parameters[masses], clean.parameters[masses], rtol=0.05)


def test_pulses_that_are_taken_back_leave_least_squares_and_its_friction() -> None:
    """A controller that sees an encoder step brakes hard for a moment and pushes softly for a while after."""
    problem, truth = exact_problem("two_link", samples=2000)
    at, rng = problem.samples, np.random.default_rng(7)
    brake = rng.exponential(size=at.tau.shape) ** 1.5
    pulses = scipy.signal.lfilter([1.0, *8 * [-0.125]], 1.0, brake, axis=0)
    damped = scipy.signal.lfilter([1.0, -1.0], 1.0, rng.standard_normal(at.tau.shape), axis=0)
    struck = with_torque(problem, at.tau - pulses * np.sign(at.v) + damped)
    estimate, robust = fit_auto(struck), fit_huber(struck)
    assert {finding.code for finding in robust.findings} == {"outliers"}
    assert "Base parameters: weighted least squares: " in reason(estimate)
    assert "take each other back" in reason(estimate)
    assert not any(finding.code == "outliers" for finding in estimate.findings)
    np.testing.assert_array_equal(estimate.values, fit_weighted(struck).values)
    friction = [k for k, name in enumerate(problem.base.names) if name.endswith("coulomb")]
    ours, theirs = (np.abs(found.values - truth)[friction].max() for found in (estimate, robust))
    assert theirs > 3.0 * ours


def test_what_the_motion_hides_is_decided_by_the_prior_and_stays_uncertain() -> None:
    problem = _standing(noisy(exact_problem("two_link")[0], 3))
    estimate = fit_auto(problem)
    assert "infinite intervals for what the motion hides" in reason(estimate)
    assert estimate.parameters is not None
    assert check_parameters(problem.layout, estimate.parameters)
    assert np.isinf(estimate.deviations).any()


def test_what_the_motion_hides_stays_unknown_without_a_prior() -> None:
    estimate = fit_auto(replace(_standing(noisy(exact_problem("two_link")[0], 3)), prior=None))
    assert "there is no prior" in reason(estimate)
    assert np.isinf(estimate.deviations).any()


def _creating_energy() -> Problem:
    """Torques of negative friction, which no drive has."""
    problem, truth = exact_problem("two_link")
    beta = np.array(truth)
    viscous = [k for k, name in enumerate(problem.base.names) if "viscous" in name]
    beta[viscous] = -5.0
    tau = (stacked_equation(problem)[0] @ beta).reshape(problem.samples.tau.shape)
    return noisy(with_torque(problem, tau), 4)


def test_torques_that_no_links_explain_are_fitted_by_links_that_can_exist() -> None:
    impossible = _creating_energy()
    estimate = fit_auto(impossible)
    assert estimate.parameters is not None
    assert check_parameters(impossible.layout, estimate.parameters)
    drives = estimate.parameters[10 * len(impossible.layout.links) :]
    rotors = [k for k, name in enumerate(impossible.layout.names) if name.endswith(".rotor")]
    assert (drives[np.array(rotors) - 10 * len(impossible.layout.links)] > 1e-8).all()


def test_without_a_prior_the_best_possible_links_are_those_of_the_conic_fit() -> None:
    impossible = replace(_creating_energy(), prior=None)
    estimate = fit_auto(impossible)
    assert reason(estimate).startswith("least squares over possible links without a prior")
    reference = fit_lmi(impossible, weights=estimate.weights)
    np.testing.assert_allclose(estimate.parameters, reference.parameters, rtol=1e-9, atol=1e-9)


def test_a_given_strength_is_obeyed() -> None:
    problem = noisy(exact_problem("two_link")[0], 6)
    assert fit_auto(problem, strength=37.0).detail["strength"] == 37.0
    assert "as given" in reason(fit_auto(problem, strength=37.0))


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


def test_stribeck_friction_asks_for_separable_least_squares() -> None:
    problem, _ = stribeck_problem(level=0.02)
    estimate, alone = fit_auto(problem), fit_friction(problem, on_blind="infinite")
    assert "Base parameters: separable least squares" in reason(estimate)
    np.testing.assert_array_equal(estimate.values, alone.values)
    np.testing.assert_array_equal(estimate.layout.stribeck_shapes, alone.layout.stribeck_shapes)
