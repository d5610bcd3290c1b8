"""Blocks to compare a simulation with: plain means, each sample once, the same operation on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import InputError, RecordingError
from steelyard.estimation.closed_loop.run import LoopRun, block_means, loop_run
from steelyard.recording import Recording

N, NV, CYCLE = 47, 2, 1e-3


def recording(**without: None) -> Recording:
    rng = np.random.default_rng(0)
    names = ("q", "v", "tau", "q_ref", "v_ref", "a_ref")
    channels = {name: rng.normal(size=(N, NV)) for name in names if name not in without}
    return Recording(("a", "b"), 3.0 + CYCLE * np.arange(N), **channels)


def test_a_block_is_the_plain_mean_of_its_samples_and_each_sample_counts_once() -> None:
    log = recording()
    run = loop_run(log, 10 * CYCLE)
    assert run.blocks == 4
    assert len(run.q_ref) == 40
    assert log.tau is not None
    assert run.q is not None
    for k in range(run.blocks):
        own = [log.tau[i] for i in range(10 * k, 10 * k + 10)]
        np.testing.assert_allclose(run.tau[k], sum(own) / 10.0, rtol=1e-12)
    np.testing.assert_allclose(run.q.sum(axis=0) * 10.0, log.q[:40].sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(run.q_ref, log.channels["q_ref"][:40])


def test_longer_blocks_of_blocks_are_blocks_of_samples() -> None:
    log = recording()
    once, twice = loop_run(log, 20 * CYCLE), loop_run(log, 5 * CYCLE).coarser(4)
    assert once.average == twice.average == 20
    for name in ("tau", "q", "v", "q_ref", "v_ref", "a_ref"):
        np.testing.assert_allclose(getattr(twice, name), getattr(once, name), rtol=1e-12)


def test_a_run_starts_in_the_reference_or_in_the_measured_state() -> None:
    log = recording()
    assert loop_run(log, CYCLE).q_start is None
    measured = loop_run(log, CYCLE, start="measured")
    np.testing.assert_array_equal(measured.q_start, log.q[0])
    np.testing.assert_array_equal(measured.v_start, log.channels["v"][0])


def test_a_run_remembers_its_recording_and_cannot_be_written_to() -> None:
    log = recording()
    run = loop_run(log, CYCLE)
    assert run.recording == log.digest
    with pytest.raises(ValueError, match="read-only"):
        run.tau[0] = 0.0


@pytest.mark.parametrize("interval", [0.0, -1e-3, 1.5e-3, np.nan, np.inf, 1.0])
def test_an_interval_that_is_no_multiple_of_the_cycle_is_refused(interval: float) -> None:
    with pytest.raises(InputError):
        loop_run(recording(), interval)


@pytest.mark.parametrize("missing", ["tau", "q_ref", "v_ref", "a_ref"])
def test_a_missing_channel_is_named(missing: str) -> None:
    with pytest.raises(RecordingError, match=missing):
        loop_run(recording(**{missing: None}), CYCLE)


def test_a_log_that_jitters_is_refused() -> None:
    log = recording()
    time = np.array(log.time)
    time[20] += 0.3 * CYCLE
    with pytest.raises(RecordingError, match="uniform"):
        loop_run(Recording(log.joints, time, **dict(log.channels)), CYCLE)


@pytest.mark.parametrize("average", [0, -2, 2.0, True, 48])
def test_blocks_of_no_length_are_refused(average: int) -> None:
    ones = np.ones((N, NV))
    with pytest.raises(InputError):
        LoopRun(ones, ones, ones, average, np.ones((N // max(int(average), 1), NV)))
    with pytest.raises(InputError):
        block_means(ones, average)


def test_measurements_of_another_length_are_refused() -> None:
    ones = np.ones((N, NV))
    with pytest.raises(InputError, match="tau"):
        LoopRun(ones, ones, ones, 10, np.ones((5, NV)))
