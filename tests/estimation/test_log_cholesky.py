"""The fit in log-Cholesky coordinates: derivatives, agreement with the conic fit, long logs."""

from __future__ import annotations

import numpy as np
import pytest

from estimation.test_lmi import problem, truth_of
from steelyard.consistency import check_parameters
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError
from steelyard.estimation.physical import LogCoordinates, fit_lmi, fit_log_cholesky, minimise_squares
from steelyard.layout import layout_of
from steelyard.problem.problem import problem_of_blocks
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def test_the_derivatives_are_those_of_the_map() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    x = truth_of(layout, 0)
    rng = np.random.default_rng(0)
    coordinates = LogCoordinates.at(layout, x)
    eta, slope = coordinates.of(x), rng.normal(size=layout.size)
    np.testing.assert_allclose(coordinates.x(eta), x, rtol=1e-12, atol=1e-14)
    D, second = coordinates.derivatives(eta, slope)
    at, h = coordinates.places, 1e-5
    for k in range(eta.size):
        e = h * np.eye(eta.size)[k]
        up, down = coordinates.x(eta + e), coordinates.x(eta - e)
        np.testing.assert_allclose(D[:, k], (up - down)[at] / (2 * h), atol=1e-8)
        D_up, D_down = (coordinates.derivatives(eta + s * e, slope)[0] for s in (1, -1))
        np.testing.assert_allclose(second[k], slope[at] @ (D_up - D_down) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("repeats", [1, 25, 250])
def test_it_reaches_the_conic_optimum_for_short_and_long_logs(repeats: int) -> None:
    # 400, 1e4 and 1e5 samples: equations repeated with their own noise.
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    rng = np.random.default_rng(1)
    N = 400 * repeats
    q, v, a = (rng.uniform(-1.5, 1.5, (N, 7)) for _ in range(3))
    tau = inverse_dynamics(robot, layout, layout.complete_nominal(), q, v, a)
    question = problem_of_blocks(robot, layout, [(q, v, a, tau + 0.5 * rng.normal(size=tau.shape))])
    estimate, conic = fit_log_cholesky(question), fit_lmi(question)
    squares = estimate.detail["squared_residual"]
    assert squares == pytest.approx(conic.detail["squared_residual"], rel=1e-6)
    assert check_parameters(layout, estimate.parameters).consistent


def test_it_ends_where_no_step_gains() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    truth = truth_of(layout, 2)
    question = problem("two_link", 0.0, truth=truth)
    estimate = fit_log_cholesky(question)
    assert estimate.detail["status"] == "converged"
    expected = question.base.matrix @ truth
    np.testing.assert_allclose(estimate.values, expected, atol=1e-6 * np.abs(expected).max())


def test_newton_finds_the_optimum_from_afar() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE)
    truth, rng = truth_of(layout, 3), np.random.default_rng(4)
    A = rng.normal(size=(layout.size + 3, layout.size))
    start = truth_of(layout, 5)
    coordinates = LogCoordinates.at(layout, start)
    found = minimise_squares(A, A @ truth, coordinates, coordinates.of(start), 300)
    assert found.status == "converged"
    np.testing.assert_allclose(coordinates.x(found.coordinates), truth, atol=1e-5)


def test_a_link_known_in_part_is_refused() -> None:
    layout = layout_of(zoo_robot("two_link"), DRIVE).fixing({"link1.m": 1.0})
    with pytest.raises(InputError, match="link1"):
        fit_log_cholesky(problem("two_link", 0.0, layout=layout))
