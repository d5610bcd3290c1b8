"""Weak excitation is named by the parameters it leaves open; torques are compared in the motion's band."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from steelyard.arrays import Array
from steelyard.audit import Status, check_intervals, error_along, torque_error
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import RecordingError
from steelyard.estimation import with_constant_errors, with_drift
from steelyard.estimation.friction import FrictionDrift
from steelyard.estimation.linear import fit_weighted
from steelyard.finding import Finding, Severity
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.recording import Recording
from steelyard.signals import Preparation, in_band, prepared
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
LAYOUT = layout_of(ROBOT, ["viscous", "coulomb"])


def _log(noise: float, swing: float = 1.0, samples: int = 2000) -> Recording:
    """A motion around its mean, made `swing` times as wide, with white noise on the torques."""
    rng = np.random.default_rng(4)
    motion = random_fourier(ROBOT, rng)
    t = np.linspace(0.0, motion.duration, samples)
    s = motion.sample(t)
    q = s.q.mean(axis=0) + swing * (s.q - s.q.mean(axis=0))
    tau = inverse_dynamics(ROBOT, LAYOUT, LAYOUT.complete_nominal(), q, swing * s.v, swing * s.a)
    tau = tau + noise * np.sqrt((tau**2).mean(axis=0)) * rng.standard_normal(tau.shape)
    return Recording(ROBOT.joint_names, t, q, v=swing * s.v, a=swing * s.a, tau=tau)


def _fitted(log: Recording) -> tuple[Problem, Estimate]:
    problem = problem_of(ROBOT, LAYOUT, [log])
    return problem, fit_weighted(problem, colour="white")


def _worth(problem: Problem, estimate: Estimate) -> Array:
    """What each parameter's 95 % interval is worth at the joint that feels it most, from the stacked rows."""
    at = problem.samples
    Y = torque_regressor(ROBOT, LAYOUT, at.q, at.v, at.a)
    W, tau = Y[..., estimate.base.columns], at.tau - Y @ problem.known
    share = np.sqrt((W**2).mean(axis=0)) / np.sqrt((tau.reshape(-1, ROBOT.nv) ** 2).mean(axis=0))[:, None]
    return np.asarray(1.959964 * estimate.deviations * share.max(axis=0))


def test_a_rich_motion_with_little_noise_leaves_nothing_open() -> None:
    problem, estimate = _fitted(_log(noise=0.01))
    check = check_intervals(problem, estimate)
    assert check.status is Status.PASS
    assert check.evidence["open"] == []
    assert f"{100 * _worth(problem, estimate).max():.2g} % of a joint's torque" in check.message


@pytest.mark.parametrize(("noise", "swing", "samples"), [(0.1, 0.01, 2000), (0.5, 1.0, 100)])
def test_what_is_weakly_shown_is_named_the_worst_first(noise: float, swing: float, samples: int) -> None:
    problem, estimate = _fitted(_log(noise, swing, samples))
    check = check_intervals(problem, estimate)
    worth = _worth(problem, estimate)
    expected = [estimate.base.names[k] for k in np.argsort(-worth) if worth[k] > 0.1]
    assert expected, "the case is meant to be weak"
    assert check.status is Status.WARN
    assert check.evidence["open"] == expected
    assert "excitation is weak" in check.message
    assert check.message.index(expected[0]) < check.message.index(expected[-1])


def test_a_parameter_that_is_zero_is_not_open_because_its_interval_is_wide_against_itself() -> None:
    problem, estimate = _fitted(_log(noise=0.01))
    small = np.array(estimate.values)
    small[np.argmin(estimate.deviations / np.abs(estimate.values))] = 1e-9
    check = check_intervals(problem, dataclasses.replace(estimate, values=small))
    assert check.status is Status.PASS
    before = check_intervals(problem, estimate).evidence["known"]
    assert isinstance(before, int)
    assert check.evidence["known"] == before - 1


def test_what_the_data_does_not_show_is_open_and_a_method_without_intervals_is_said() -> None:
    problem, estimate = _fitted(_log(noise=0.01))
    assert estimate.covariance is not None
    blind = np.array(estimate.covariance)
    blind[2, 2] = np.inf
    check = check_intervals(problem, dataclasses.replace(estimate, covariance=blind))
    assert check.evidence["open"] == [estimate.base.names[2]]
    assert "inf %" in check.message
    silent = check_intervals(problem, dataclasses.replace(estimate, covariance=None))
    assert silent.status is Status.NOT_RUN


def test_errors_are_compared_in_the_band_of_a_prepared_motion_and_as_they_are_elsewhere() -> None:
    log = _log(noise=0.1)
    truth = inverse_dynamics(ROBOT, LAYOUT, LAYOUT.complete_nominal(), log.q, log.v, log.a)
    assert log.tau is not None
    assert error_along([log], [truth]) == torque_error(log.tau, truth)
    ready = prepared(log, Preparation(cutoff=5.0)).recording
    assert ready.v is not None
    assert ready.a is not None
    assert ready.tau is not None
    model = inverse_dynamics(ROBOT, LAYOUT, LAYOUT.complete_nominal(), ready.q, ready.v, ready.a)
    error = error_along([ready, ready], [model, model])
    once = torque_error(in_band(ready, ready.tau), in_band(ready, model))
    assert error.joints == pytest.approx(once.joints)
    # White noise of 10 % keeps the share of its power that lies below 5 of 100 Hz.
    assert error.overall == pytest.approx(10.0 * np.sqrt(5.0 / 100.0), rel=0.3)
    with pytest.raises(RecordingError, match="has no torques"):
        error_along([log.with_channels(tau=None)], [truth])


def test_intervals_that_a_finding_says_do_not_hold_do_not_pass() -> None:
    problem, estimate = _fitted(_log(noise=0.01))
    bent = Finding(Severity.WARNING, "biased-motion", "their intervals do not hold.")
    other = Finding(Severity.WARNING, "repeated-motion", "a repeat.")
    assert check_intervals(problem, estimate, [other]).status is Status.PASS
    check = check_intervals(problem, estimate, [other, bent])
    assert check.status is Status.WARN
    assert "do not hold" in check.message


def test_drift_and_errors_of_torque_constants_are_not_called_weak_excitation() -> None:
    problem, estimate = _fitted(_log(noise=0.01))
    large = FrictionDrift(np.full((2, 3), 1e3), LAYOUT.drive_columns[:, :3])
    wide = with_constant_errors(problem, with_drift(estimate, large), [0.5, 0.5])
    assert wide.deviations.max() > 100.0 * estimate.deviations.max()
    assert check_intervals(problem, wide).message == check_intervals(problem, estimate).message
