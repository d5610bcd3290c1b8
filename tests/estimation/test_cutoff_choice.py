"""The cut-off by prediction: lower where a coarse encoder rules accelerations, else untouched."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, RecordingError
from steelyard.estimation import choose_cutoff, lowest_cutoff
from steelyard.estimation.linear import fit_weighted
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.signals import Preparation, prepared
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
LAYOUT = layout_of(ROBOT, ("viscous", "offset", "rotor"))
PHI = LAYOUT.complete_nominal()
COARSE = 2.0 * np.pi / 4096


def coarse_log(seed: int = 1, step: float = COARSE, noise: float = 0.05) -> Recording:
    """A log whose positions are rounded to an encoder's step; torques have white noise."""
    motion = random_fourier(ROBOT, np.random.default_rng(seed), period=10.0)
    time = np.arange(0.0, motion.duration, 0.002)
    at = motion.sample(time)
    tau = inverse_dynamics(ROBOT, LAYOUT, PHI, at.q, at.v, at.a)
    tau = tau + noise * np.random.default_rng(seed).standard_normal(tau.shape)
    q = at.q if step == 0.0 else step * np.rint(at.q / step)
    return Recording(ROBOT.joint_names, time, q, tau=tau)


def off(log: Recording, cutoff: float) -> float:
    """How far torques of the estimate are from the truth along the true motion, relative."""
    ready = prepared(log, Preparation(cutoff=cutoff)).recording
    found = fit_weighted(problem_of(ROBOT, LAYOUT, [ready]))
    at = random_fourier(ROBOT, np.random.default_rng(2), period=10.0).sample(np.arange(0.0, 10.0, 0.05))
    tau, truth = (
        inverse_dynamics(ROBOT, LAYOUT, phi, at.q, at.v, at.a) for phi in (found.representative, PHI)
    )
    return float(np.linalg.norm(tau - truth) / np.linalg.norm(truth))


def test_a_coarse_encoder_gets_a_lower_cutoff_and_a_better_model() -> None:
    log = coarse_log()
    choice = choose_cutoff(ROBOT, LAYOUT, log, 37.0)
    assert 2.0 < choice.frequency < 15.0
    assert off(log, choice.frequency) < 0.5 * off(log, 37.0)
    assert "37 Hz" in choice.reason
    assert choice.candidates[0] == 37.0
    assert len(choice.errors) == len(choice.candidates)


def test_a_fine_encoder_keeps_what_its_spectrum_suggests() -> None:
    for seed in (1, 2, 3):
        choice = choose_cutoff(ROBOT, LAYOUT, coarse_log(seed, step=0.0), 6.0)
        assert choice.frequency == 6.0
        assert choice.reason == ""


def test_torques_that_follow_a_fast_motion_forbid_a_low_cutoff() -> None:
    """Judged by torques of its own filter, the lowest cut-off would always win."""
    log = coarse_log(step=0.0, noise=0.0)
    shake = 0.02 * np.sin(2.0 * np.pi * 8.0 * log.time)[:, None]
    q = log.q + shake
    v = np.gradient(q, log.time, axis=0)
    a = np.gradient(v, log.time, axis=0)
    shaken = Recording(log.joints, log.time, q, tau=inverse_dynamics(ROBOT, LAYOUT, PHI, q, v, a))
    assert choose_cutoff(ROBOT, LAYOUT, shaken, 40.0).frequency > 12.0


def test_only_the_times_that_may_be_looked_at_decide() -> None:
    log = coarse_log()
    tau = np.array(log.tau)
    tau[log.time > 7.0] += np.random.default_rng(0).normal(0.0, 50.0, tau[log.time > 7.0].shape)
    spoilt = log.with_channels(tau=tau)
    spans = [(0.0, 6.8)]
    clean, other = (choose_cutoff(ROBOT, LAYOUT, one, 37.0, spans=spans) for one in (log, spoilt))
    np.testing.assert_allclose(clean.errors, other.errors, rtol=1e-6)


def test_the_lowest_candidate_leaves_the_motion_room() -> None:
    assert 4.0 * 0.1 < lowest_cutoff(coarse_log(), 37.0) < 4.0 * 1.5


@pytest.mark.parametrize("highest", [0.0, -1.0, float("nan")])
def test_a_cutoff_that_is_none_is_refused(highest: float) -> None:
    with pytest.raises(InputError, match="highest"):
        choose_cutoff(ROBOT, LAYOUT, coarse_log(), highest)


def test_a_log_too_short_to_tell_or_without_torques() -> None:
    log = coarse_log()
    short = log.rows(slice(0, 120))
    assert choose_cutoff(ROBOT, LAYOUT, short, 37.0).frequency == 37.0
    with pytest.raises(RecordingError, match="torques"):
        choose_cutoff(ROBOT, LAYOUT, log.with_channels(tau=None), 37.0)
