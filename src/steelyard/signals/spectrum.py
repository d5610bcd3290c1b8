"""The power of a signal by frequency."""

from __future__ import annotations

import numpy as np
import scipy.fft

from steelyard.arrays import Array

_BLACKMAN_HARRIS = (0.35875, -0.48829, 0.14128, -0.01168)
"""Cosines of the window of four terms whose side lobes lie 92 dB below its peak (Harris 1978)."""


def power_spectrum(series: Array, interval: float) -> tuple[Array, Array]:
    r"""One-sided power spectral density of each column, its mean taken off.

    $$P(f) = \frac{2h}{\sum_t w_t^2}\,\Big|\sum_t w_t\,(x_t - \bar x)\,e^{-2\pi i f t h}\Big|^2$$

    The window w is that of Blackman and Harris: motions lie ten orders of power above the noise of an
    encoder, and side lobes of a simpler window would cover it. The mean and, of an even number of samples,
    Nyquist's frequency have no second side, so no factor 2.

    Args:
        series: samples, shape (N, n), any unit.
        interval: sampling interval h, s.

    Returns:
        Frequencies, shape (N // 2 + 1,), Hz, and P, shape (N // 2 + 1, n), squared unit per Hz.
    """
    N = len(series)
    turns = 2.0 * np.pi * np.arange(N) / N
    window = np.cos(np.outer(turns, np.arange(len(_BLACKMAN_HARRIS)))) @ _BLACKMAN_HARRIS
    windowed = window[:, None] * (series - series.mean(axis=0))
    transform = scipy.fft.rfft(windowed, axis=0)
    P = interval / (window @ window) * (transform.real**2 + transform.imag**2)
    P[1 : (N + 1) // 2] *= 2.0
    return np.asarray(scipy.fft.rfftfreq(N, interval)), np.asarray(P)
