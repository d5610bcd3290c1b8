"""Least squares on base parameters: optimality, recovery, and what a poor motion hides."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.stacked_equation import stacked_equation
from steelyard.audit import torque_error
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError, RecordingError, ShapeError
from steelyard.estimation.linear import fit_least_squares
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem
from steelyard.problem import problem_of as posed
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def recorded(robot: Robot, seed: int, noise: float = 0.0, samples: int = 400) -> Recording:
    """A log by inverse dynamics along a random Fourier motion, with optional torque noise."""
    rng = np.random.default_rng(seed)
    motion = random_fourier(robot, rng)
    time = np.linspace(0, motion.duration, samples, endpoint=False)
    s = motion.sample(time)
    layout = layout_of(robot, DRIVE)
    tau = inverse_dynamics(robot, layout, layout.complete_nominal(), s.q, s.v, s.a)
    return Recording(robot.joint_names, time, s.q, v=s.v, a=s.a, tau=tau + noise * rng.normal(size=tau.shape))


def problem_of(robot: Robot, recording: Recording) -> Problem:
    layout = layout_of(robot, DRIVE)
    return posed(robot, layout, [recording])


@pytest.mark.parametrize("name", ["one_link", "two_link", "panda"])
def test_noise_free_data_gives_the_true_base_parameters(name: str) -> None:
    robot = zoo_robot(name)
    problem = problem_of(robot, recorded(robot, 1))
    estimate = fit_least_squares(problem)
    truth = problem.base.matrix @ problem.layout.complete_nominal()
    np.testing.assert_allclose(estimate.values, truth, atol=1e-9 * np.abs(truth).max())


def test_the_residual_is_orthogonal_to_every_column() -> None:
    robot = zoo_robot("panda")
    problem = problem_of(robot, recorded(robot, 2, noise=0.3))
    estimate = fit_least_squares(problem)
    W, tau = stacked_equation(problem)
    residual = tau - W @ estimate.values
    assert np.abs(W.T @ residual).max() < 1e-9 * np.linalg.norm(W, axis=0).max() * np.linalg.norm(residual)
    reference = np.linalg.lstsq(W, tau, rcond=None)[0]
    np.testing.assert_allclose(estimate.values, reference, atol=1e-9 * np.abs(reference).max())
    assert estimate.residual == pytest.approx(np.sqrt((residual.reshape(-1, 7) ** 2).mean(axis=0)))
    scaled = W / np.linalg.norm(W, axis=0)
    assert estimate.condition == pytest.approx(np.linalg.cond(scaled), rel=1e-6)


def test_an_estimate_predicts_a_motion_it_has_not_seen() -> None:
    robot = zoo_robot("panda")
    estimate = fit_least_squares(problem_of(robot, recorded(robot, 3, noise=0.05, samples=2000)))
    other = recorded(robot, 4)
    error = torque_error(other.channels["tau"], estimate.torque(robot, other))
    # Noise of 0.05 N·m over 2000 samples moves the prediction by less than 2 % of the torque at any joint.
    assert error.overall < 0.5
    assert max(error.joints) < 2.0
    assert error.overall > 1e-6


def test_a_log_of_the_simulated_plant_recovers_paper_001_table_5_1() -> None:
    # Table 5.1: m c_x = 0, m c_z = -0.3, I_yy = 0.2; the paper's own errors go up to 1e-3.
    robot = zoo_robot("one_link")
    log = simulate_motion(robot, random_fourier(robot, np.random.default_rng(0)), sensor="ideal")
    estimate = fit_least_squares(problem_of(robot, log))
    values = dict(zip(estimate.base.names, estimate.values, strict=True))
    rotor = "link1.Iyy+" if "link1.Iyy+" in values else "joint1.rotor+"
    assert values["link1.mx"] == pytest.approx(0.0, abs=1e-9)
    assert values["link1.mz"] == pytest.approx(-0.3, abs=1e-9)
    assert values[rotor] == pytest.approx(0.2, abs=1e-9)


def test_a_motion_that_hides_parameters_is_refused_by_name() -> None:
    robot = zoo_robot("two_link")
    still = recorded(robot, 5)
    frozen = still.with_channels(
        v=np.zeros((still.n, 2)), a=np.zeros((still.n, 2)), tau=still.channels["tau"]
    )
    with pytest.raises(NoSolutionError, match="viscous"):
        fit_least_squares(problem_of(robot, frozen))


def test_a_log_of_other_joints_or_without_torque_is_refused() -> None:
    robot = zoo_robot("two_link")
    log = recorded(robot, 6)
    with pytest.raises(InputError, match="has joints"):
        problem_of(robot, log.renamed(("a", "b")))
    with pytest.raises(RecordingError, match="has no tau"):
        fit_least_squares(problem_of(robot, log.with_channels(tau=None)))


def test_relative_error_is_the_interface_formula() -> None:
    tau = np.array([[3.0, 0.0], [4.0, 0.0]])
    error = torque_error(tau, tau + np.array([[0.3, 0.0], [0.4, 0.0]]))
    assert error.joints == pytest.approx((10.0, 0.0))
    assert error.overall == pytest.approx(10.0)
    assert torque_error(tau, tau + np.array([0.0, 1.0])).joints[1] == float("inf")
    with pytest.raises(ShapeError, match="predicted"):
        torque_error(tau, np.zeros(2))
    with pytest.raises(InputError, match="differ"):
        torque_error(tau, np.zeros((3, 2)))


def test_the_triangle_of_the_base_parameters_is_that_of_the_stacked_equation() -> None:
    robot = zoo_robot("two_link")
    problem = posed(robot, layout_of(robot, DRIVE), [recorded(robot, 0, noise=0.1)])
    W, tau = stacked_equation(problem)
    R = problem.base_factor()
    assert R.shape == (problem.base.count + 1,) * 2
    assert np.array_equal(R, np.triu(R))
    stacked = np.column_stack([W, tau])
    np.testing.assert_allclose(R.T @ R, stacked.T @ stacked, rtol=1e-9, atol=1e-9)
