"""Accelerations are made from measured velocities where these are quieter and were measured by themselves."""

from __future__ import annotations

import numpy as np

from signals.periodic_motion import motion, series, uniform_time
from steelyard.signals import Butterworth, differentiated, prepared

TIME = uniform_time(0.005, 14.0)


def noisy(position: float, velocity: float, seed: int = 3):
    rng = np.random.default_rng(seed)
    v = series(TIME, 1) + velocity * rng.standard_normal((len(TIME), 2))
    return motion(TIME, noise=position, v=v)


def remark(log) -> str:
    return " ".join(prepared(log).remarks)


def acceleration_error(log) -> float:
    return float(np.abs(log.a - series(log.time, 2)).mean())


def test_quiet_velocities_are_differentiated_and_give_better_accelerations() -> None:
    log = noisy(0.01, 0.01)
    done = prepared(log)
    assert "accelerations are made from them" in " ".join(done.remarks)
    (step,) = [step for step in done.recording.provenance if step.action == "differentiated"]
    assert step.detail["source"] == "v"
    blind = prepared(log.with_channels(v=None)).recording
    assert acceleration_error(done.recording) < 0.3 * acceleration_error(blind)


def test_velocities_that_someone_made_from_the_positions_are_not_used() -> None:
    log = noisy(0.01, 0.01)
    made = differentiated(log.with_channels(tau=None, v=None), Butterworth(20.0))
    first = int(np.flatnonzero(np.isin(TIME, made.time))[0])
    cut = log.rows(slice(first, first + made.n)).with_channels(v=made.v)
    assert "say nothing new" in remark(cut)
    plain = prepared(cut.with_channels(v=None)).recording
    np.testing.assert_array_equal(prepared(cut).recording.a, plain.a)


def test_velocities_that_are_late_scaled_or_noisy_are_not_used() -> None:
    late = motion(TIME, noise=1e-4, v=series(TIME - 0.02, 1))
    large = motion(TIME, noise=1e-4, v=1.1 * series(TIME, 1))
    for log in (late, large):
        assert "by more than noise" in remark(log)
    assert "no quieter" in remark(noisy(1e-3, 0.05))


def test_a_log_without_velocities_has_no_choice() -> None:
    log = motion(TIME, noise=1e-3).with_channels(v=None)
    assert "velocities" not in remark(log)
