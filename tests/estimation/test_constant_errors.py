"""Errors of torque constants: what they do to an estimate, apart from what the data leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.estimation import fit_weighted, gain_sensitivity, with_constant_errors
from steelyard.estimation.weighted_solution import solved
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
