"""What is kept apart for judgement repeats nothing; held poses become one sample each."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording, same_motion
from steelyard.signals import held_poses, holdout_split


def _swing(duration: float, period: float, chirp: float = 0.0) -> Recording:
    t = np.arange(0.0, duration, 0.01)
    phase = 2 * np.pi * t / period + chirp * t**2
    q = np.column_stack((np.sin(phase) + 0.4 * np.sin(3 * phase), np.cos(2 * phase) - 0.3 * np.sin(phase)))
    return Recording(("1", "2"), t, q, v=np.gradient(q, t, axis=0), tau=q)


def test_a_motion_that_does_not_repeat_is_split_at_its_end() -> None:
    log = _swing(10.0, 4.0, chirp=0.3)
    split = holdout_split(log)
    assert len(split.train) == 1
    assert split.train[0].n + split.apart.n == log.n
    assert split.apart.time[0] > split.train[0].time[-1]
    np.testing.assert_allclose(split.apart.n / log.n, 0.25, atol=0.01)
    assert "last 25 %" in split.words


def test_a_motion_that_repeats_is_split_by_phase_so_that_nothing_kept_apart_was_seen() -> None:
    period = 4.0
    split = holdout_split(_swing(11.0, period))
    phases = np.concatenate([np.mod(part.time, period) for part in split.train])
    apart = np.mod(split.apart.time, period)
    # An edge of the window may move by the interval that the period is found to.
    assert phases.max() < 0.75 * period + 0.02
    assert apart.min() > 0.75 * period - 0.02
    assert "repeats after 4 s" in split.words
    for part in split.train:
        assert np.allclose(np.diff(part.time), 0.01), "a stretch has no gap"
        assert same_motion(part, split.apart) is None


def test_a_share_must_leave_something_on_both_sides() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        holdout_split(_swing(5.0, 2.0), 1.0)


def test_held_poses_average_what_stands_and_leave_out_what_moves() -> None:
    rng = np.random.default_rng(3)
    poses = np.array([[0.0, 1.0], [0.5, -1.0], [-0.7, 0.2]])
    q, t = [], []
    for pose, following in zip(poses, np.roll(poses, -1, axis=0), strict=True):
        q += [np.tile(pose, (100, 1)), np.linspace(pose, following, 50)]
    q_all = np.vstack(q)
    t = 0.01 * np.arange(len(q_all))
    tau = np.cos(q_all) + 0.05 * rng.standard_normal(q_all.shape)
    v = np.gradient(q_all, t, axis=0)
    held = held_poses(Recording(("1", "2"), t, q_all, v=v, tau=tau))
    np.testing.assert_allclose(held.q, poses, atol=1e-12)
    assert held.tau is not None
    np.testing.assert_allclose(held.tau, np.cos(poses), atol=4 * 0.05 / np.sqrt(98))
    assert not held.channels["v"].any()
    assert not held.channels["a"].any()


def test_a_table_of_poses_is_taken_row_by_row_and_says_so() -> None:
    q = np.random.default_rng(0).uniform(-1, 1, (12, 2))
    log = Recording(("1", "2"), np.arange(12.0), q, tau=q)
    held = held_poses(log)
    np.testing.assert_array_equal(held.q, q)
    assert held.provenance[-1].detail["source"] == "every row is a pose"


def test_a_motion_without_a_pause_holds_no_pose() -> None:
    with pytest.raises(RecordingError, match="0 poses are held"):
        held_poses(_swing(5.0, 2.0))
