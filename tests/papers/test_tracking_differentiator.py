"""The tracking differentiator of Tian et al. against its theory: no lag, a double pole, least time."""

import math

import numpy as np
import pytest
import scipy.signal

from paper_003.tracking_differentiator import TrackingDifferentiator, _tracked
from signals.periodic_motion import motion, series, torque, uniform_time
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals import differentiated
from steelyard.signals.differentiation import smoothed


def relative(got, want):
    return np.abs(got - want).max() / np.abs(want).max()


@pytest.mark.parametrize("source", ["q", "v"])
def test_velocity_and_acceleration_of_a_fourier_series_are_its_derivatives(source):
    log = differentiated(motion(uniform_time(0.001, 9.0)), TrackingDifferentiator(0.003), source)
    assert relative(log.v, series(log.time, 1)) < 5e-3
    assert relative(log.a, series(log.time, 2)) < 1e-2


@pytest.mark.parametrize("source", ["q", "v"])
def test_both_sides_of_a_linear_equation_of_motion_lose_the_same_frequencies(source):
    """With one filter for all, torque = 1.5 a + 0.7 v + 4 q holds after it, however much it takes away."""
    log = differentiated(motion(uniform_time(0.01, 39.99)), TrackingDifferentiator(0.05), source)
    left = 1.5 * log.a + 0.7 * log.v + 4.0 * log.q
    assert relative(left, log.tau) < 5e-4
    assert relative(left, torque(log.time)) > 5e-3


def test_the_tracking_differentiator_follows_a_ramp_without_lag():
    t = uniform_time(0.002, 4.0)
    ramp = Recording(("j",), t, (0.7 * t + 0.1)[:, None])
    log = differentiated(ramp, TrackingDifferentiator(0.02))
    assert log.q[:, 0] == pytest.approx(0.7 * log.time + 0.1, abs=1e-4)
    assert log.v == pytest.approx(0.7, abs=1e-4)
    assert np.abs(log.a).max() < 1e-2


def test_the_linear_tracking_differentiator_is_a_double_pole_run_both_ways():
    rng = np.random.default_rng(0)
    t = uniform_time(0.002, 6.0)
    log = Recording(("j",), t, rng.standard_normal((len(t), 1)))
    clean = smoothed(log, TrackingDifferentiator(0.02))
    z = 1.0 - 0.002 / 0.02
    b, a = [0.0, 0.0, (1 - z) ** 2], [1.0, -2 * z, z * z]
    both_ways = scipy.signal.filtfilt(b, a, log.q[:, 0], method="gust")
    peer = np.convolve(both_ways, [1 / 6, 4 / 6, 1 / 6], "same")
    rows = np.isin(t, clean.time)
    assert np.abs(clean.q[:, 0] - peer[rows])[200:-200].max() < 1e-6


def test_a_bounded_tracking_differentiator_reaches_a_step_in_the_least_time():
    """A double integrator bounded by r needs 2 √(s/r) for a step s: half to speed up, half to slow down."""
    h, r, step = 1e-3, 4.0, 1.0
    x, v = (x[:, 0] for x in _tracked(np.vstack([[0.0], np.full((2000, 1), step)]), h, 5.0 * h, r))
    least = 2.0 * np.sqrt(step / r)
    assert x[round(0.5 * least / h)] == pytest.approx(0.5 * step, abs=0.02)
    assert v.max() == pytest.approx(np.sqrt(step * r), rel=0.02)
    assert x[round(1.05 * least / h)] == pytest.approx(step, abs=0.01)
    assert x.max() < 1.001 * step
    assert np.abs(np.diff(v)).max() <= r * h * (1.0 + 1e-9)


def test_the_bound_of_the_tracking_differentiator_tames_an_outlier():
    t = uniform_time(0.002, 6.0)
    v = 0.5 * np.sin(t)
    v[1500] += 50.0
    log = Recording(("j",), t, np.cumsum(v)[:, None] * 0.002, v=v[:, None])
    free, bound = (differentiated(log, TrackingDifferentiator(0.01, r), "v").a for r in (math.inf, 100.0))
    want = 0.5 * np.cos(differentiated(log, TrackingDifferentiator(0.01), "v").time)
    assert np.abs(bound[:, 0] - want).max() < 0.2 * np.abs(free[:, 0] - want).max()


def test_a_time_constant_below_the_sampling_interval_is_refused():
    with pytest.raises(InputError, match="below the sampling interval"):
        differentiated(motion(uniform_time(0.01, 5.0)), TrackingDifferentiator(0.001))
