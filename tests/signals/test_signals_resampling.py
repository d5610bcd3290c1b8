"""Resampling: what is in the band stays exact, what is not is gone, and stamps mean what they say."""

import numpy as np
import pytest
import scipy.signal

from signals.periodic_motion import JOINTS, motion, series, torque, uniform_time
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals import (
    CentralDifferences,
    differentiated,
    evenly_timed,
    resampled,
    sampling_of,
    split_at_gaps,
)
from steelyard.signals.sampling import restamped, to_uniform_time


def tone(frequency, interval=0.001, duration=30.0):
    t = uniform_time(interval, duration)
    return Recording(("j",), t, np.sin(2.0 * np.pi * frequency * t + 0.4)[:, None])


@pytest.mark.parametrize("interval", [0.01, 0.02, 0.04, 0.08])
def test_a_band_limited_motion_is_exact_at_each_interval_of_paper_004(interval):
    coarse = resampled(motion(uniform_time(0.001, 30.0)), interval)
    assert np.diff(coarse.time) == pytest.approx(interval, rel=1e-9)
    assert np.abs(coarse.q - series(coarse.time)).max() < 1e-6
    assert np.abs(coarse.v - series(coarse.time, 1)).max() < 1e-5
    assert np.abs(coarse.tau - torque(coarse.time)).max() < 1e-5


@pytest.mark.parametrize("interval", [0.01, 0.04, 0.0137])
@pytest.mark.parametrize("above", [1.001, 1.3, 3.7])
def test_a_tone_above_the_new_nyquist_frequency_is_attenuated_by_at_least_60_db(interval, above):
    alias = resampled(tone(above * 0.5 / interval), interval)
    assert np.abs(alias.q).max() < 1e-3
    assert np.abs(alias.q).max() < 2e-6  # 120 dB by default


def test_the_same_tone_without_the_filter_would_have_been_an_alias():
    assert np.abs(tone(65.0).rows(slice(None, None, 10)).q).max() > 0.9


@pytest.mark.parametrize("interval", [0.0137, 0.0004])
def test_a_ratio_that_is_no_integer_and_a_finer_grid_are_as_exact(interval):
    other = resampled(motion(uniform_time(0.001, 12.0)), interval)
    assert np.diff(other.time) == pytest.approx(interval, rel=1e-9)
    assert np.abs(other.q - series(other.time)).max() < 1e-6


def test_an_integer_ratio_keeps_the_stamps_of_original_samples_bit_for_bit():
    fine = motion(12345.678 + uniform_time(0.001, 20.0))
    coarse = resampled(fine, 0.02)
    assert np.isin(coarse.time, fine.time).all()
    rows = np.searchsorted(fine.time, coarse.time)
    assert (rows % 20 == 0).all()
    assert (np.diff(rows) == 20).all()


def test_scipy_filters_and_decimates_noise_to_the_same_numbers():
    rng = np.random.default_rng(3)
    t = uniform_time(0.001, 20.0)
    x = rng.standard_normal(len(t))
    coarse = resampled(Recording(("j",), t, x[:, None]), 0.01, passband=0.5, attenuation=100.0)
    taps, beta = scipy.signal.kaiserord(100.0, 0.5 * 0.1)
    taps += 1 - taps % 2
    fir = scipy.signal.firwin(taps, 0.75 * 0.1, window=("kaiser", beta))
    peer = np.convolve(x, fir, "same")[np.searchsorted(t, coarse.time)]
    # The window's length is rounded to an odd number there, which changes single weights by about 1e-4.
    assert np.abs(coarse.q[:, 0] - peer).max() < 1e-3 * np.abs(peer).max()


def test_resampling_commutes_with_differentiation():
    fine = motion(uniform_time(0.002, 20.0))
    coarse = resampled(fine.with_channels(v=series(fine.time, 1)), 0.02)
    slopes = differentiated(coarse, CentralDifferences())
    rows = np.isin(coarse.time, slopes.time)
    assert np.abs(slopes.v - coarse.v[rows]).max() < 0.03 * np.abs(coarse.v).max()


def test_irregular_samples_of_a_smooth_motion_are_exact_on_the_grid():
    rng = np.random.default_rng(1)
    t = uniform_time(0.005, 20.0) + rng.uniform(-0.0015, 0.0015, 4001)
    even = to_uniform_time(motion(t), 0.005)
    assert sampling_of(even).is_uniform
    inner = slice(10, -10)
    assert np.abs(even.q - series(even.time))[inner].max() < 1e-8
    assert np.abs(even.tau - torque(even.time))[inner].max() < 1e-6


def test_late_stamps_of_regular_samples_are_put_back_on_their_line():
    rng = np.random.default_rng(2)
    t = uniform_time(0.005, 20.0)
    late = motion(t).revised("stamped late", {}, time=t + rng.uniform(0.0, 0.004, len(t)))
    even = restamped(late)
    shift = even.time - t
    assert np.ptp(shift) < 0.0005
    assert np.array_equal(even.q, late.q)
    assert shift.mean() == pytest.approx(0.002, abs=2e-4)


def test_positions_tell_late_stamps_from_irregular_samples():
    rng = np.random.default_rng(4)
    t = uniform_time(0.005, 20.0)
    jitter = rng.uniform(0.0, 0.003, len(t))
    late = motion(t, noise=1e-6).revised("stamped late", {}, time=t + jitter)
    irregular = motion(t + jitter, noise=1e-6)
    for log, cure in ((late, restamped), (irregular, to_uniform_time)):
        even = evenly_timed(log)
        assert even == cure(log)
        assert even.provenance[-1].detail["chosen"] == cure.__name__
    assert evenly_timed(motion(t)).provenance == ()


def test_missing_samples_split_a_recording_and_are_never_bridged_silently():
    t = np.delete(uniform_time(0.01, 10.0), [*range(300, 340), 700, 701, 702, 703])
    log = motion(t)
    assert sampling_of(log).gaps == pytest.approx((t[299], t[659]))
    parts = split_at_gaps(log)
    assert [part.n for part in parts] == [300, 360, 297]
    assert np.concatenate([part.time for part in parts]) == pytest.approx(t)
    assert parts[1].provenance[-1].detail["gap_before"] == pytest.approx(0.41)
    for repair in (to_uniform_time, restamped):
        with pytest.raises(RecordingError, match=r"no sample for 0.41 s after t = 2.99 s.*at its gaps"):
            repair(log)


def test_the_history_says_what_the_filter_passed_and_cut():
    coarse = resampled(motion(uniform_time(0.001, 10.0)), 0.01)
    step = coarse.provenance[-1]
    assert step.action == "resampled"
    assert step.detail["passband_Hz"] == pytest.approx(30.0)
    assert step.detail["stopband_Hz"] == pytest.approx(50.0)
    assert coarse.time[0] - step.detail["edge_cut_s"] == pytest.approx(0.0, abs=0.01)
    assert step.digest == motion(uniform_time(0.001, 10.0)).digest


def test_what_cannot_be_resampled_is_refused_with_the_remedy():
    jittering = motion(uniform_time(0.01, 5.0) + 0.002 * np.sin(np.arange(501.0)))
    with pytest.raises(RecordingError, match=r"must be uniform.*at gaps.*uniform time"):
        resampled(jittering, 0.02)
    with pytest.raises(InputError, match="the recording lasts 1 s, the filter"):
        resampled(motion(uniform_time(0.001, 1.0)), 0.08)
    with pytest.raises(InputError, match="interpolation does not filter"):
        to_uniform_time(jittering, 0.04)
    assert motion(uniform_time(0.01, 1.0)).joints == JOINTS
