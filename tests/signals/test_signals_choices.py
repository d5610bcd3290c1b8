"""What a recording suggests by itself: cut-off and period; each recovers what was put in."""

import numpy as np
import pytest
import scipy.signal

from signals.periodic_motion import motion, series, torque, uniform_time
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals import Butterworth, differentiated, without_delay
from steelyard.signals.cutoff import cutoff_of
from steelyard.signals.periodic import period_of


@pytest.mark.parametrize("sigma", [1e-6, 1e-4, 1e-3])
def test_the_cut_off_lies_above_the_motion_and_states_the_noise_that_was_put_in(sigma):
    cutoff = cutoff_of(motion(uniform_time(0.001, 24.0), noise=sigma))
    assert (cutoff.each > 1.25).all()  # the highest harmonic
    assert (cutoff.each < 6.0).all()
    assert cutoff.frequency == pytest.approx(2.0 * cutoff.each.max())
    # White noise of deviation σ sampled at f has the one-sided density σ √(2/f).
    assert cutoff.floor == pytest.approx(sigma * np.sqrt(2.0 / 1000.0), rel=0.4)
    assert f"beyond {cutoff.each.max():.4g} Hz" in cutoff.reason
    assert "noise rules q of joint" in cutoff.reason


@pytest.mark.parametrize("sigma", [1e-5, 1e-4])
def test_the_cut_off_is_near_the_one_with_the_least_error_of_acceleration(sigma):
    log = motion(uniform_time(0.002, 24.0), noise=sigma)
    cutoff = cutoff_of(log)

    def error(frequency):
        done = differentiated(log, Butterworth(frequency)).window(4.0, 20.0)
        return np.sqrt(np.mean((done.a - series(done.time, 2)) ** 2))

    tried = np.geomspace(1.0, 100.0, 25)
    errors = [error(f) for f in tried]
    assert error(cutoff.frequency) < 5.0 * min(errors)
    assert error(cutoff.frequency) < 0.03 * max(errors)


def test_a_faint_fast_joint_is_not_cut_for_the_sake_of_strong_slow_ones():
    t = uniform_time(0.002, 30.0)
    rng = np.random.default_rng(0)
    q = np.column_stack([np.sin(2.0 * t), 0.5 * np.sin(3.0 * t) + 0.02 * np.sin(2.0 * np.pi * 7.0 * t)])
    cutoff = cutoff_of(Recording(("slow", "fast"), t, q + 1e-5 * rng.standard_normal(q.shape)))
    assert cutoff.each[0] < 2.0
    assert 7.0 < cutoff.each[1] < 8.0
    assert "joint 'fast'" in cutoff.reason


def test_coloured_noise_does_not_hide_the_edge_of_the_motion():
    t = uniform_time(0.001, 24.0)
    white = np.random.default_rng(5).standard_normal((len(t), 2))
    coloured = scipy.signal.lfilter([1.0], [1.0, -0.9], white, axis=0)
    cutoff = cutoff_of(motion(t).with_channels(q=series(t) + 1e-5 * coloured))
    assert (cutoff.each > 1.25).all()
    assert (cutoff.each < 5.0).all()


def test_a_motion_that_was_already_filtered_is_bounded_by_nyquist_and_says_so():
    t = uniform_time(0.01, 40.0)
    noise = np.random.default_rng(0).standard_normal(len(t))
    b, a = scipy.signal.butter(3, 3.0, fs=100.0)
    cutoff = cutoff_of(Recording(("j",), t, scipy.signal.lfilter(b, a, noise)[:, None]))
    assert cutoff.frequency == pytest.approx(40.0)
    assert "no noise is seen" in cutoff.reason


def test_the_period_is_found_between_samples_and_is_the_shortest_one():
    for period in (4.0, 3.9871, 2.71828):
        log = motion(uniform_time(0.01, 15.0), period, noise=1e-4)
        assert period_of(log) == pytest.approx(period, abs=2e-4)
    assert period_of(motion(uniform_time(0.01, 15.0), 3.9871)) == pytest.approx(3.9871, abs=1e-7)


def test_a_motion_that_does_not_repeat_has_no_period():
    t = uniform_time(0.01, 10.0)
    chirp = Recording(("j",), t, np.sin(t**1.7)[:, None])
    with pytest.raises(InputError, match="does not repeat"):
        period_of(chirp)


def test_the_delay_of_a_joint_behind_its_reference_is_taken_out():
    t = uniform_time(0.004, 20.0)
    log = motion(t, q=series(t - 0.021), tau=torque(t - 0.021), q_ref=series(t))
    back = without_delay(log, 0.021, ["tau", "q"])
    assert np.abs(back.q - back.q_ref).max() < 1e-5
    assert np.abs(back.tau - torque(back.time)).max() < 1e-4
    assert log.n - back.n == 6


def test_what_a_recording_lacks_is_named():
    log = motion(uniform_time(0.01, 5.0))
    with pytest.raises(
        UnknownNameError, match=r"unknown channel of this recording 'q_ref'.*Valid: q, v, tau"
    ):
        cutoff_of(log, "q_ref")
    with pytest.raises(RecordingError, match="a spectrum needs 100"):
        cutoff_of(log.window(0.0, 0.5))
    with pytest.raises(RecordingError, match="nothing moves"):
        cutoff_of(log.with_channels(q=np.ones((log.n, 2))))
