"""Separable friction: shapes found with all the rest, judged by a general nonlinear solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from steelyard.arrays import Array
from steelyard.drive import StribeckShape
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.friction import fit_friction, friction_layout, shaped_rows
from steelyard.layout import layout_of
from steelyard.problem import Problem, problem_of
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import DRIVE, coloured, exact_log, exact_problem, with_torque

TRUE = np.array([[0.06, 1.3], [0.09, 1.7]])


def stribeck_problem(level: float = 0.0, friction: float = 0.6, seed: int = 1) -> tuple[Problem, Array]:
    """Two links with Stribeck friction, posed with wrong shapes; the problem and its true base parameters."""
    robot = zoo_robot("two_link")
    shapes = {j: StribeckShape(*s) for j, s in zip(robot.joint_names, TRUE, strict=True)}
    layout = layout_of(robot, [*DRIVE, "stribeck"], stribeck=shapes)
    phi = layout.complete_nominal()
    for joint in robot.joint_names:
        phi[layout.index(f"{joint}.stribeck")] = friction
    log = exact_log(robot, layout, phi, samples=1500)
    wrong = layout.with_stribeck([StribeckShape(0.2, 1.0)] * 2)
    problem = problem_of(robot, wrong, [log])
    noise = coloured(np.random.default_rng(seed), log.n, level * np.array([1.0, 0.4]), 0.0)
    return with_torque(problem, log.channels["tau"] + noise), problem.base.matrix @ phi


def test_noise_free_data_gives_the_true_shapes_and_base_parameters() -> None:
    problem, truth = stribeck_problem()
    estimate = fit_friction(problem)
    np.testing.assert_allclose(estimate.layout.stribeck_shapes, TRUE, rtol=1e-6)
    np.testing.assert_allclose(estimate.values, truth, atol=1e-6)


def test_its_minimum_is_that_of_a_general_solver_over_the_shapes() -> None:
    problem, _ = stribeck_problem(level=0.1)
    estimate = fit_friction(problem)
    at, w = problem.samples, estimate.weights
    assert w is not None

    def left(logs: Array) -> Array:
        layout = friction_layout(problem, np.exp(logs.reshape(2, 2)))
        Y = torque_regressor(problem.robot, layout, at.q, at.v, at.a)[..., problem.base.columns]
        W, tau = (Y * w[:, None]).reshape(at.n * 2, -1), (at.tau * w).reshape(-1)
        return np.asarray(tau - W @ np.linalg.lstsq(W, tau, rcond=None)[0])

    judge = scipy.optimize.least_squares(left, np.log(TRUE).ravel(), xtol=1e-12, ftol=1e-12)
    found = np.log(estimate.layout.stribeck_shapes).ravel()
    np.testing.assert_allclose(found, judge.x, atol=1e-3)
    assert 0.5 * (left(found) ** 2).sum() <= judge.cost * (1 + 1e-8)


def test_the_columns_of_the_shapes_are_the_derivative_of_the_torque() -> None:
    problem, truth = stribeck_problem()
    b, step = problem.base.count, 1e-6
    D = next(iter(shaped_rows(problem, TRUE, truth)())).regressor[..., b:]
    for column, (joint, number) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        sides = []
        for sign in (1.0, -1.0):
            moved = np.array(TRUE)
            moved[joint, number] *= np.exp(sign * step)
            sides.append(next(iter(shaped_rows(problem, moved, None)())).regressor[..., :b] @ truth)
        np.testing.assert_allclose(D[..., column], (sides[0] - sides[1]) / (2 * step), atol=1e-8)


def test_intervals_of_parameters_and_shapes_cover() -> None:
    z = []
    for seed in range(40):
        problem, truth = stribeck_problem(level=0.05, seed=seed)
        estimate = fit_friction(problem)
        logs = np.log(estimate.layout.stribeck_shapes / TRUE).T.ravel()
        deviations = estimate.detail["log_deviations"]
        assert isinstance(deviations, dict)
        z.append([*((estimate.values - truth) / estimate.deviations), *(logs / list(deviations.values()))])
    assert 0.89 < (np.abs(z) < 1.96).mean() < 0.99


def test_joints_without_stribeck_friction_hide_its_shape() -> None:
    problem, truth = stribeck_problem(friction=0.0)
    with pytest.raises(NoSolutionError, match="stribeck"):
        fit_friction(problem)
    estimate = fit_friction(problem, on_blind="infinite")
    deviations = estimate.detail["log_deviations"]
    assert isinstance(deviations, dict)
    assert np.isinf(list(deviations.values())).all()
    np.testing.assert_allclose(estimate.values, truth, atol=1e-6)


def test_a_layout_without_the_term_is_refused() -> None:
    problem, _ = exact_problem("two_link")
    with pytest.raises(InputError, match="no term 'stribeck'"):
        fit_friction(problem)
