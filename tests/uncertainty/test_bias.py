"""Bias from noise in the motion: named where it is there, silent where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.problem import Problem
from steelyard.recording import Recording
from steelyard.signals import with_rows
from steelyard.uncertainty.bias import bias_findings, calmer_motion
from uncertainty.noisy_logs import exact_problem, noisy, with_torque


def shaken(problem: Problem, seed: int, level: float) -> Problem:
    """The same torques, with white noise in the accelerations that were measured."""
    at = problem.samples
    a = at.a + level * np.random.default_rng(seed).normal(size=at.a.shape)
    return with_torque(replace(problem, evidence=replace(at, a=a)), at.tau)


def codes(problem: Problem, *instruments: np.ndarray) -> list[str]:
    return [finding.code for finding in bias_findings(problem, *instruments)]


def as_log(problem: Problem, cutoff: float) -> Recording:
    """The samples of a problem as a recording that passed a low-pass."""
    at, robot = problem.samples, problem.robot
    log = Recording(robot.joint_names, at.time, at.q, v=at.v, a=at.a, tau=at.tau)
    return log.revised("prepared", {"cutoff": cutoff})


def test_noise_in_the_motion_is_found_by_references_and_by_the_motion_below_half_its_cutoff() -> None:
    problem, _ = exact_problem("two_link", samples=4000)
    motion = problem.samples
    posed = shaken(noisy(problem, 1), 2, 1.0)
    findings = bias_findings(posed, motion.q, motion.v, motion.a)
    assert [finding.code for finding in findings] == ["biased-motion"]
    assert "rotor" in findings[0].message or "Iyy" in findings[0].message
    assert "biased-motion" in codes(posed, *calmer_motion(as_log(posed, 100.0)))


def test_intervals_wide_enough_for_the_shift_are_not_said_to_fail() -> None:
    problem, _ = exact_problem("two_link", samples=4000)
    motion = problem.samples
    posed = shaken(noisy(problem, 1), 2, 1.0)
    found = bias_findings(posed, motion.q, motion.v, motion.a, deviations=np.full(posed.base.count, 100.0))
    assert found == ()


def test_friction_that_remembers_its_last_turn_is_not_taken_for_noise_in_the_motion() -> None:
    problem, _ = exact_problem("two_link", samples=4000)
    at = noisy(problem, 1, level=0.03).samples
    # Dry friction that comes back slowly after each turn, which the model has not.
    since = np.zeros(at.v.shape)
    for t in range(1, at.n):
        since[t] = (since[t - 1] + 1.0) * (np.sign(at.v[t]) == np.sign(at.v[t - 1]))
    posed = with_torque(problem, at.tau - 0.5 * np.sign(at.v) * np.exp(-since / 80.0))
    assert codes(posed, *calmer_motion(as_log(posed, 5.0))) == []


def test_an_exact_motion_is_rarely_called_biased() -> None:
    problem, _ = exact_problem("two_link", samples=600)
    at = problem.samples
    rng = np.random.default_rng(3)
    q, v, a = (x + 0.2 * rng.normal(size=x.shape) for x in (at.q, at.v, at.a))
    called = [codes(noisy(problem, seed, memory=0.5), q, v, a) for seed in range(40)]
    assert sum("biased-motion" in found for found in called) <= 2


def test_instruments_that_say_little_are_called_weak() -> None:
    problem, _ = exact_problem("two_link", samples=600)
    at = problem.samples
    rng = np.random.default_rng(4)
    assert "weak-instruments" in codes(noisy(problem, 1), at.q, at.v, rng.normal(size=at.a.shape))


def test_instruments_that_say_little_do_not_call_an_estimate_biased() -> None:
    problem, _ = exact_problem("two_link", samples=600)
    at = problem.samples
    rng = np.random.default_rng(4)
    posed = shaken(noisy(problem, 1), 2, 1.0)
    assert codes(posed, at.q, at.v, rng.normal(size=at.a.shape)) == ["weak-instruments"]


def test_a_calmer_motion_fills_in_what_was_left_out_and_keeps_the_motion() -> None:
    problem, _ = exact_problem("two_link", samples=2000)
    log = as_log(problem, 20.0)
    part = with_rows(log, np.arange(log.n) % 50 > 3)
    for name, x in zip("qva", calmer_motion(part), strict=True):
        exact = part.channels[name]
        assert x.shape == exact.shape
        inner = slice(100, -100)
        assert np.abs(x - exact)[inner].max() < 0.02 * np.abs(exact).max()
    with pytest.raises(InputError, match="no low-pass"):
        calmer_motion(Recording(log.joints, log.time, log.q, v=log.channels["v"], a=log.channels["a"]))
