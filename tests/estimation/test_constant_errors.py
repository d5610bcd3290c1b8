"""Errors of torque constants: what they do to an estimate, apart from what the data leaves open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import KnownMoment, calibrate_by_moments, with_constant_errors
from steelyard.estimation.constant_errors import gain_sensitivity
from steelyard.estimation.equations import solved
from steelyard.estimation.linear import fit_weighted
from steelyard.problem import Problem
from steelyard.uncertainty import base_intervals, parameter_intervals
from uncertainty.noisy_logs import exact_problem, noisy, with_torque


def test_the_sensitivity_is_that_of_fits_to_scaled_torques() -> None:
    problem = noisy(exact_problem("two_link")[0], 1)
    weights = np.array([2.0, 0.7])
    found = gain_sensitivity(problem, weights)
    for joint in range(2):
        moved = []
        for step in (-1e-3, 1e-3):
            tau = np.array(problem.samples.tau)
            tau[:, joint] *= 1.0 + step
            scaled = with_torque(problem, tau)
            moved.append(solved(scaled.base_factor(weights), problem.base.names).values)
        expected = (moved[1] - moved[0]) / 2e-3
        np.testing.assert_allclose(found[:, joint], expected, rtol=1e-6, atol=1e-9)


def test_all_constants_off_alike_scale_the_whole_estimate() -> None:
    problem = noisy(exact_problem("two_link")[0], 1)
    estimate = fit_weighted(problem)
    assert estimate.weights is not None
    total = gain_sensitivity(problem, estimate.weights).sum(axis=1)
    np.testing.assert_allclose(total, estimate.values, rtol=1e-6, atol=1e-9)


def test_intervals_with_errors_of_constants_cover_where_those_of_the_data_do_not() -> None:
    problem, truth = exact_problem("two_link")
    rng = np.random.default_rng(3)
    covers: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(40):
        gains = 1.0 + 0.1 * rng.normal(size=2)
        posed = noisy(problem, seed, level=0.02)
        posed = with_torque(posed, posed.samples.tau * gains)
        estimate = with_constant_errors(posed, fit_weighted(posed), [0.1, 0.1])
        for systematic in covers:
            covers[systematic].append(base_intervals(estimate, systematic=systematic).cover(truth).mean())
    assert np.mean(covers[True]) > 0.85
    assert np.mean(covers[False]) < 0.6


def test_the_covariance_of_the_data_is_left_alone() -> None:
    problem = noisy(exact_problem("two_link")[0], 1)
    plain = fit_weighted(problem)
    both = with_constant_errors(problem, plain, [0.1, 0.0])
    np.testing.assert_array_equal(both.deviations, plain.deviations)
    wide, narrow = base_intervals(both, systematic=True), base_intervals(both)
    assert (wide.upper - wide.lower >= narrow.upper - narrow.lower).all()
    half = 0.5 * (wide.upper - wide.lower) / 1.959964
    np.testing.assert_allclose(half, np.hypot(both.deviations, both.systematic_deviations), rtol=1e-6)
    assert parameter_intervals(both, systematic=True).upper[-1] >= parameter_intervals(both).upper[-1], (
        "parameters that torques tell alone follow"
    )
    assert with_constant_errors(problem, plain, [0.0, 0.0]) is plain
    with pytest.raises(InputError, match="negative"):
        with_constant_errors(problem, plain, [0.1, -0.1])


POSES = ((0.3, -0.4, 0.5, -0.6, 0.4, 0.2), (0.0, -1.2, 0.8, -0.3, 0.9, 0.1))


def moment(problem: Problem, dof: int, pose: tuple[float, ...], share: float = 0.01) -> KnownMoment:
    """What a scale would say of the true arm, whose links are the prior."""
    assert problem.prior is not None
    links = 10 * len(problem.layout.links)
    phi = np.where(np.arange(problem.layout.size) < links, problem.prior, 0.0)
    still = np.zeros((1, problem.robot.nv))
    tau = inverse_dynamics(problem.robot, problem.layout, phi, np.array([pose]), still, still)[0, dof]
    return KnownMoment(dof, np.array(pose), float(tau), share * abs(float(tau)))


def test_known_moments_correct_the_constants_of_their_joints_and_leave_the_rest_in_doubt() -> None:
    problem = noisy(exact_problem("ur10e")[0], 1, level=0.05)
    low = with_torque(problem, problem.samples.tau * 0.92)
    moments = [moment(problem, 1, POSES[0]), moment(problem, 2, POSES[1])]
    found = calibrate_by_moments(low, moments, np.full(6, 0.1))
    np.testing.assert_allclose(found.factors[[1, 2]], 1.0 / 0.92, atol=0.02)
    np.testing.assert_allclose(found.predicted, [0.92 * x.torque for x in moments], rtol=0.02)
    assert (found.deviations[[1, 2]] < 0.02).all()
    np.testing.assert_array_equal(found.factors[[0, 3, 4, 5]], 1.0)
    np.testing.assert_array_equal(found.deviations[[0, 3, 4, 5]], 0.1)
    # The arm that is identified with them holds the moments that were stated.
    again = with_torque(low, low.samples.tau * found.factors)
    second = calibrate_by_moments(again, moments, np.full(6, 0.1))
    np.testing.assert_allclose(second.predicted, [x.torque for x in moments], rtol=0.015)
    # What is left of the errors is what the intervals of base parameters hold.
    wide = with_constant_errors(again, fit_weighted(again), np.full(6, 0.1))
    narrow = with_constant_errors(again, fit_weighted(again), found.deviations)
    assert np.median(narrow.systematic_deviations / wide.systematic_deviations) < 0.9
    heavy = int(np.argmax(wide.systematic_deviations))
    assert narrow.systematic_deviations[heavy] < 0.5 * wide.systematic_deviations[heavy]


def test_corrected_constants_are_as_good_as_they_claim() -> None:
    problem, _ = exact_problem("two_link")
    rng = np.random.default_rng(5)
    z = []
    for seed in range(60):
        factors = 1.0 + 0.1 * rng.normal(size=2)
        posed = noisy(problem, seed, level=0.02)
        posed = with_torque(posed, posed.samples.tau / factors)
        stated = moment(problem, 1, (0.4, 0.3), share=0.02)
        off = replace(stated, torque=stated.torque + stated.deviation * rng.normal())
        found = calibrate_by_moments(posed, [off], [0.1, 0.1])
        z.append((found.factors[1] - factors[1]) / (found.factors[1] * found.deviations[1]))
    assert 0.75 < np.std(z) < 1.3
    assert found.deviations[1] < 0.05


def test_moments_that_say_nothing_or_contradict_the_logs_are_refused() -> None:
    problem = noisy(exact_problem("ur10e")[0], 1, level=0.05)
    good, errors = moment(problem, 1, POSES[0]), np.full(6, 0.1)
    with pytest.raises(InputError, match="says nothing of a torque constant"):
        calibrate_by_moments(problem, [replace(good, torque=0.0)], errors)
    with pytest.raises(InputError, match="deviation must be positive"):
        calibrate_by_moments(problem, [replace(good, deviation=0.0)], errors)
    with pytest.raises(InputError, match=r"without error.*--torque-constant-error"):
        calibrate_by_moments(problem, [good], np.zeros(6))
    with pytest.raises(InputError, match="Check its sign, unit and pose"):
        calibrate_by_moments(problem, [replace(good, torque=-good.torque)], errors)
    with pytest.raises(NoSolutionError, match="do not show the moment of gravity"):
        # The first joint turns about a vertical axis.
        calibrate_by_moments(problem, [replace(good, dof=0, torque=1.0)], errors)
