"""Spectra and recursions, as SciPy has them."""

import numpy as np
import pytest
import scipy.signal

from steelyard.signals import power_spectrum, recursion


@pytest.mark.parametrize("samples", [7, 8, 501, 1000])
def test_the_spectrum_is_the_windowed_periodogram_of_scipy(samples: int) -> None:
    x = 5.0 + np.random.default_rng(samples).normal(size=(samples, 3))
    f, P = power_spectrum(x, 0.02)
    frequencies, powers = scipy.signal.periodogram(x, 50.0, "blackmanharris", detrend="constant", axis=0)
    np.testing.assert_allclose(f, frequencies)
    np.testing.assert_allclose(P, powers, rtol=1e-9, atol=1e-12 * powers.max())


def test_a_sine_has_half_its_squared_amplitude_under_the_spectrum() -> None:
    t = 0.01 * np.arange(4000)
    f, P = power_spectrum(3.0 * np.sin(2.0 * np.pi * 5.0 * t)[:, None], 0.01)
    assert P.sum() * f[1] == pytest.approx(4.5, rel=1e-6)
    assert f[np.argmax(P)] == pytest.approx(5.0)


@pytest.mark.parametrize("feedback", [[], [-0.9], [-1.8, 0.82], [0.1, 0.2, -0.3, 0.05]])
@pytest.mark.parametrize("shape", [(1,), (3, 2), (400, 3), (400,)])
def test_a_recursion_is_the_filter_of_scipy(feedback: list[float], shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    kept = x.copy()
    wanted = scipy.signal.lfilter([1.0], [1.0, *feedback], x, axis=0)
    np.testing.assert_allclose(recursion(feedback, x), wanted, rtol=1e-9, atol=1e-12)
    assert np.array_equal(x, kept)
