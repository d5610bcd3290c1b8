"""Bias from noise in the motion: named where it is there, silent where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.problem import Problem
from steelyard.uncertainty import bias_findings, lagged
from uncertainty.noisy_logs import exact_problem, noisy, with_torque


def shaken(problem: Problem, seed: int, level: float) -> Problem:
    """The same torques, with white noise in the accelerations that were measured."""
    at = problem.samples
    a = at.a + level * np.random.default_rng(seed).normal(size=at.a.shape)
    return with_torque(replace(problem, evidence=replace(at, a=a)), at.tau)


def codes(problem: Problem, *instruments: np.ndarray) -> list[str]:
    return [finding.code for finding in bias_findings(problem, *instruments)]


def test_noise_in_the_motion_is_found_by_references_and_by_the_motion_a_moment_earlier() -> None:
    problem, _ = exact_problem("two_link", samples=4000)
    motion = problem.samples
    posed = shaken(noisy(problem, 1), 2, 1.0)
    findings = bias_findings(posed, motion.q, motion.v, motion.a)
    assert [finding.code for finding in findings] == ["biased-motion"]
    assert "rotor" in findings[0].message or "Iyy" in findings[0].message
    assert "biased-motion" in codes(posed, *lagged(posed.samples, 3))


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


def test_lagged_motions_do_not_reach_into_the_motion_before() -> None:
    problem, _ = exact_problem("two_link", samples=100)
    evidence = replace(problem.samples, starts=(0, 40), digests=("a", "b"))
    q, _, _ = lagged(evidence, 5)
    np.testing.assert_array_equal(q[40:45], evidence.q[[40] * 5])
    np.testing.assert_array_equal(q[45:], evidence.q[40:95])
    with pytest.raises(InputError, match="lag"):
        lagged(evidence, 40)
