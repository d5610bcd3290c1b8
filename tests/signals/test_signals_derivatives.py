"""Differentiators: exact derivatives where the theory says so, no phase, one filter for both sides."""

import numpy as np
import pytest
import scipy.integrate
import scipy.signal

from signals.periodic_motion import motion, series, torque, uniform_time
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals import Butterworth, CentralDifferences, differentiated
from steelyard.signals.differentiation import smoothed

# Largest error of v and a, relative to their largest value, on harmonics up to 1.25 Hz sampled at 1 kHz.
METHODS = {
    "butterworth": (Butterworth(25.0), 1e-5, 2e-4),
    "central": (CentralDifferences(), 1e-4, 1e-4),
}


@pytest.fixture(params=METHODS)
def case(request):
    return METHODS[request.param]


def relative(got, want):
    return np.abs(got - want).max() / np.abs(want).max()


@pytest.mark.parametrize("source", ["q", "v"])
def test_velocity_and_acceleration_of_a_fourier_series_are_its_derivatives(case, source):
    method, v_error, a_error = case
    log = differentiated(motion(uniform_time(0.001, 9.0)), method, source)
    assert relative(log.v, series(log.time, 1)) < v_error
    assert relative(log.a, series(log.time, 2)) < a_error


def test_differentiation_then_integration_returns_the_filtered_positions(case):
    method, _, _ = case
    log = differentiated(motion(uniform_time(0.001, 9.0), noise=1e-6), method)
    q = log.q[0] + scipy.integrate.cumulative_simpson(log.v, x=log.time, axis=0, initial=0.0)
    assert np.abs(q - log.q).max() < 2e-4


def test_no_method_moves_a_signal_in_time(case):
    method, _, _ = case
    log = motion(uniform_time(0.001, 9.0), noise=0.01)
    clean = smoothed(log, method)
    raw = series(clean.time)[:, 0]
    middle = slice(1000, -1000)
    shifts = np.arange(-20, 21)
    match = [np.mean((np.roll(raw, k)[middle] - clean.q[middle, 0]) ** 2) for k in shifts]
    assert abs(shifts[np.argmin(match)]) <= 2
    a, b, _ = np.polyfit(shifts, match, 2)
    assert abs(b / (2.0 * a)) < 0.5


def test_a_reversed_recording_gives_the_reversed_result(case):
    method, _, _ = case
    t = uniform_time(0.001, 8.0)
    log = motion(t, noise=1e-4)
    back = Recording(log.joints, t, log.q[::-1], tau=log.tau[::-1])
    forth, again = differentiated(log, method), differentiated(back, method)
    scale = np.abs(forth.a).max()
    assert np.abs(again.q[::-1] - forth.q).max() < 1e-5
    assert np.abs(again.v[::-1] + forth.v).max() < 1e-4 * scale
    assert np.abs(again.a[::-1] - forth.a).max() < 1e-3 * scale


@pytest.mark.parametrize("source", ["q", "v"])
@pytest.mark.parametrize(
    "method",
    [Butterworth(1.5), CentralDifferences()],
    ids=lambda method: type(method).__name__,
)
def test_both_sides_of_a_linear_equation_of_motion_lose_the_same_frequencies(method, source):
    """With one filter for all, torque = 1.5 a + 0.7 v + 4 q holds after it, however much it takes away."""
    raw = motion(uniform_time(0.01, 39.99))  # ten whole periods
    log = differentiated(raw, method, source)
    left = 1.5 * log.a + 0.7 * log.v + 4.0 * log.q
    assert relative(left, log.tau) < 5e-4
    # Unfiltered torque would not do, unless nothing was filtered.
    if not isinstance(method, CentralDifferences):
        assert relative(left, torque(log.time)) > 5e-3


def test_a_butterworth_run_both_ways_has_gain_one_half_at_its_cut_off_and_its_formula_elsewhere():
    t = uniform_time(0.0005, 20.0)
    for frequency in (2.0, 5.0, 9.0):
        log = smoothed(Recording(("j",), t, np.sin(2 * np.pi * frequency * t)[:, None]), Butterworth(5.0, 3))
        gain = 1.0 / (1.0 + (frequency / 5.0) ** 6)
        middle = log.window(8.0, 12.0)
        want = gain * np.sin(2 * np.pi * frequency * middle.time)
        assert np.abs(middle.q[:, 0] - want).max() < 1e-3


def test_scipy_filters_forwards_and_backwards_to_the_same_numbers():
    log = motion(uniform_time(0.001, 10.0), noise=0.01)
    clean = smoothed(log, Butterworth(10.0, 2))
    b, a = scipy.signal.butter(2, 10.0, fs=1000.0)
    peer = scipy.signal.filtfilt(b, a, log.tau, axis=0, method="gust")
    rows = np.isin(log.time, clean.time)
    assert np.abs(clean.tau - peer[rows])[200:-200].max() < 1e-7 * np.abs(peer).max()


def test_rows_at_the_ends_are_cut_and_the_history_says_how_many():
    raw = motion(uniform_time(0.01, 5.0), q_ref=series(uniform_time(0.01, 5.0)))
    log = differentiated(raw, CentralDifferences())
    step = log.provenance[-2]
    assert (step.action, step.detail["cut_at_each_end"], step.detail["replaced"]) == (
        "differentiated",
        2,
        ("v",),
    )
    assert np.array_equal(log.time, raw.time[2:-2])
    assert np.array_equal(log.q_ref, raw.q_ref[2:-2])


def test_settings_that_make_no_sense_are_refused():
    log = motion(uniform_time(0.01, 5.0))
    with pytest.raises(InputError, match="60 Hz is not below the Nyquist frequency of 50 Hz"):
        differentiated(log, Butterworth(60.0))
    with pytest.raises(RecordingError, match="no measured velocities"):
        differentiated(log.with_channels(v=None), CentralDifferences(), "v")
    with pytest.raises(RecordingError, match="cut at each end"):
        differentiated(log.window(0.0, 0.5), Butterworth(1.0))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(("samples", "interval"), [(1, 0.01), (2, 0.01), (40, 0.01), (3000, 0.001)])
def test_the_zero_phase_filter_is_that_of_scipy(samples: int, interval: float, order: int) -> None:
    x = 3.0 + np.random.default_rng(samples).normal(size=(samples, 3))
    low_pass = Butterworth(7.0, order)
    pad = min(3 * low_pass.margin(interval, 0), samples - 1)
    sections = scipy.signal.butter(order, 7.0, fs=1.0 / interval, output="sos")
    wanted = scipy.signal.sosfiltfilt(sections, x, axis=0, padlen=pad)
    np.testing.assert_allclose(low_pass.filtered(x, interval, 0, 0), wanted, rtol=1e-12, atol=1e-12)
