"""Intervals from industrial logs cover the truth, and what it takes: lags, turns, bias told."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError, RecordingError
from steelyard.estimation import friction_drift, torque_aligned, with_drift, with_lag
from steelyard.estimation.linear import fit_weighted
from steelyard.estimation.torque_lag import torque_lag
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import is_turning, prepared, without_turning
from steelyard.simulation import sensor_preset, simulate_motion
from steelyard.uncertainty import base_intervals, bias_of_recordings
from steelyard.workflows.identify import identify
from steelyard.zoo import zoo_robot
from uncertainty.noisy_logs import DRIVE, exact_log, exact_problem, noisy

Plant = tuple[Robot, tuple[Recording, ...], tuple[np.ndarray, ...]]
HOLD = 0.5e-3
"""Middle of the millisecond for which a drive holds what it is logged to exert at its beginning, s."""


@pytest.fixture(scope="module")
def plant() -> Plant:
    """An arm with an industrial torque meter, logs of it, and the meter's biases."""
    robot = zoo_robot("ur10e")
    logs, biases = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        motion = random_fourier(robot, rng, period=5.0)
        # What `simulate` will draw first; a copy, so that it draws the same.
        biases.append(sensor_preset("industrial").drawn(robot, deepcopy(rng)).bias)
        logs.append(simulate_motion(robot, motion, sensor="industrial", rng=rng))
    return robot, tuple(logs), tuple(biases)


def posed(robot: Robot, *recordings: Recording) -> Problem:
    return problem_of(robot, layout_of(robot, DRIVE), recordings)


def covered(estimate: Estimate, bias: np.ndarray) -> np.ndarray:
    """Which intervals cover; the offset of a recording is the joint's own and the meter's bias."""
    layout = estimate.layout
    phi = layout.complete_nominal()
    phi[layout.drive_columns[:, DRIVE.index("offset")]] += bias
    return base_intervals(estimate).cover(estimate.base.matrix @ phi)


def test_intervals_that_identify_finds_from_industrial_logs_cover(plant: Plant) -> None:
    robot, logs, biases = plant
    covers, plain = [], []
    for log, bias in zip(logs, biases, strict=True):
        # Judged by the log itself, so that all of it is learnt from.
        fit = identify(robot, log, holdout=log, method="wls", prior="none", drive=DRIVE)
        assert "torque_lag_deviation" in fit.estimate.detail
        covers.append(covered(fit.estimate, bias))
        # What its steps are for: the same log as it is prepared, and no more.
        problem = posed(robot, prepared(log).recording)
        plain.append(covered(with_drift(fit_weighted(problem), friction_drift(problem)), bias))
    # 174 intervals, those of one run not independent: 95 % within four binomial deviations.
    assert np.mean(covers) > 0.88
    assert np.mean(plain) < np.mean(covers) - 0.05


def test_a_torque_that_is_held_for_a_cycle_leads_by_half_of_it(
    plant: Plant,
) -> None:
    robot, logs, _ = plant
    lag = torque_lag(posed(robot, *(prepared(log).recording for log in logs)))
    assert lag.deviation < 0.3 * HOLD
    assert abs(lag.seconds + HOLD) < 3.0 * lag.deviation


def late(seconds: float, seed: int = 1) -> tuple[Problem, Recording]:
    """A two-link arm's log whose torques were logged too late, with a little noise."""
    robot = zoo_robot("two_link")
    layout = layout_of(robot, DRIVE)
    motion = random_fourier(robot, np.random.default_rng(seed), period=10.0)
    time = np.linspace(0.5, 9.5, 1500)
    phi = layout.complete_nominal()
    now, then = motion.sample(time), motion.sample(time - seconds)
    tau = inverse_dynamics(robot, layout, phi, then.q, then.v, then.a)
    tau = tau + 0.02 * np.random.default_rng(seed).normal(size=tau.shape)
    log = Recording(robot.joint_names, time, now.q, v=now.v, a=now.a, tau=tau)
    return problem_of(robot, layout, [log]), log


def test_the_lag_of_a_torque_is_found_with_its_deviation() -> None:
    for seconds in (-2e-3, 0.0, 3e-3):
        errors = []
        for seed in range(8):
            lag = torque_lag(late(seconds, seed)[0])
            errors.append((lag.seconds - seconds) / lag.deviation)
        assert np.sqrt(np.mean(np.square(errors))) < 2.0
        assert abs(np.mean(errors)) < 1.5


def test_a_lag_that_is_not_known_widens_what_it_would_change() -> None:
    (problem, log), (_, later) = late(0.0), late(1e-3)
    lag = torque_lag(problem)
    plain, moved = (fit_weighted(posed(problem.robot, without_turning(x))) for x in (log, later))
    # The same noise in both: their difference is the lag's doing alone.
    expected = 1e-3 * lag.sensitivity
    assert np.abs(moved.values - plain.values - expected).max() < 0.1 * np.abs(expected).max()
    grown = with_lag(plain, lag).deviations ** 2 - plain.deviations**2
    np.testing.assert_allclose(grown, (lag.deviation * lag.sensitivity) ** 2, rtol=1e-6, atol=1e-18)
    assert with_lag(replace(plain, covariance=None), lag).covariance is None


def test_torques_are_moved_only_as_far_as_sampling_explains() -> None:
    problem, log = late(3e-3)
    (kept,), nothing = torque_aligned(problem, [log], 1e-3)
    assert nothing is None
    assert kept is log
    (moved,), lag = torque_aligned(problem, [log], 3e-3)
    assert lag is not None
    left = torque_lag(problem_of(problem.robot, problem.layout, [moved]))
    assert abs(left.seconds) < 3.0 * left.deviation
    with pytest.raises(InputError, match="interval"):
        torque_aligned(problem, [log], 0.0)


def test_one_frequency_cannot_tell_a_lag_from_damping_and_inertia() -> None:
    robot = zoo_robot("one_link")
    still = robot.joint_names
    time = np.linspace(0.0, 10.0, 800)
    v = np.ones((800, 1))
    log = Recording(still, time, np.zeros((800, 1)), v=v, a=0.0 * v, tau=v)
    with pytest.raises(NoSolutionError, match="late"):
        torque_lag(posed(robot, log))


def test_a_joint_turns_where_its_direction_changes_and_not_where_it_stands() -> None:
    v = np.array([1.0, 1, 1, 1, -1, -1, -1, -1, 1e-3, -1e-3, 1e-3, -1e-3, 0, -1, -1, -1])[:, None]
    np.testing.assert_array_equal(np.flatnonzero(is_turning(v, 2)[:, 0]), [2, 3, 4, 5])
    returns = np.array([1.0, 1, 1, 0, 0, 0, -1, -1, -1])[:, None]
    np.testing.assert_array_equal(np.flatnonzero(is_turning(returns, 1)[:, 0]), [2, 3, 5, 6])
    assert not is_turning(np.zeros((5, 3))).any()


def test_samples_near_turns_go_unless_too_few_would_stay() -> None:
    problem, _ = exact_problem("two_link", samples=1000)
    log = exact_log(problem.robot, problem.layout, problem.layout.complete_nominal(), samples=1000)
    left = without_turning(log)
    assert 0.5 * log.n < left.n < log.n
    # By the motion itself: no zero of a velocity lies within two samples of what is left.
    v, step = log.channels["v"], float(np.diff(log.time)[0])
    for k, joint in zip(*np.nonzero(v[1:] * v[:-1] < 0.0), strict=True):
        if k > 0:
            turn = log.time[k] + step * v[k, joint] / (v[k, joint] - v[k + 1, joint])
            assert np.abs(left.time - turn).min() > 2.0 * step
    shaking = log.with_channels(v=np.tile([[1.0, 1.0], [-1.0, -1.0]], (500, 1)))
    assert without_turning(shaking).n == log.n
    assert without_turning(shaking).provenance[-1].detail["removed"] is False
    with pytest.raises(RecordingError, match="no v"):
        without_turning(log.with_channels(v=None, a=None))


def test_bias_is_asked_of_references_of_the_motion_earlier_or_said_not_to_be_tested() -> None:
    problem, _ = exact_problem("two_link", samples=4000)
    at, robot = noisy(problem, 1).samples, problem.robot
    shaken = at.a + np.random.default_rng(2).normal(size=at.a.shape)
    bare = Recording(robot.joint_names, at.time, at.q, v=at.v, a=shaken, tau=at.tau)
    referred = bare.with_channels(q_ref=at.q, v_ref=at.v, a_ref=at.a)
    filtered = bare.revised("prepared", {"cutoff": 100.0})
    found = {
        name: [x.code for x in bias_of_recordings(posed(robot, log), [log])]
        for name, log in (("bare", bare), ("referred", referred), ("filtered", filtered))
    }
    assert found["referred"] == ["biased-motion"]
    assert "biased-motion" in found["filtered"]
    assert found["bare"] == ["bias-not-tested"]
    with pytest.raises(InputError, match="posed for"):
        bias_of_recordings(posed(robot, bare), [referred])
