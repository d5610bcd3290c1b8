"""The period of a motion, found from its positions."""

from __future__ import annotations

import numpy as np
import scipy.fft
from scipy.interpolate import BSpline, make_interp_spline
from scipy.optimize import minimize_scalar

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.sampling import uniform_interval

SAME = 0.02
"""Largest difference d between periods of a periodic motion (0 for the same, 1 for unrelated)."""
OVERLAP = 0.25
"""Share of the recording that must repeat for a period to be seen."""


def period_of(recording: Recording, shortest: float | None = None) -> float:
    r"""Find the period of a motion: the shift after which all joints repeat.

    $$d(T) = \frac{\langle \|q(t+T) - q(t)\|^2 \rangle}{2\,\langle\|q - \bar q\|^2\rangle}$$

    is 0 at a period and 1 for unrelated signals. Of the local minima about as low as the lowest, the first
    is taken; it is then refined between samples.

    Args:
        recording: a uniform recording.
        shortest: shortest period considered, s; None for where d first exceeds 1/2.

    Returns:
        The period, s.

    Raises:
        InputError: nothing repeats.
    """
    h = uniform_interval(recording)
    q = recording.q - recording.q.mean(axis=0)
    power = float(np.mean(np.sum(q**2, axis=1)))
    if power == 0.0:
        raise InputError("nothing moves.", place="period")
    d = _difference(q) / (2.0 * power)
    far = np.flatnonzero(d > 0.5)
    first = (int(far[0]) if far.size else len(d)) if shortest is None else max(1, round(shortest / h))
    lags = np.arange(max(first, 1), len(d) - 1)
    lows = lags[(d[lags] <= d[lags - 1]) & (d[lags] <= d[lags + 1])]
    lows = lows[d[lows] <= SAME]
    if not lows.size:
        best = f"; the nearest repetition differs by d = {d[lags].min():.3g}" if lags.size else ""
        raise InputError(
            f"the motion does not repeat within {len(d) * h:.4g} s{best}.",
            place="period",
            remedy="Record at least 4/3 of a period, cut the approach phase, or state the period.",
        )
    # A lag between samples differs a little at each multiple of the period: compare what is left after that.
    t = np.arange(recording.n, dtype=np.float64) * h
    spline = make_interp_spline(t, q, k=5)
    found = [_refined(spline, q, t, h * float(lag), h) for lag in lows[:20]]
    least = min(value for _, value in found)
    return next(T for T, value in found if value <= 4.0 * least + 1e-9 * power)


def _difference(q: Array) -> Array:
    """Mean of ‖q(t+T) - q(t)‖² over the overlap, for lags 0, 1, ... samples."""
    N = len(q)
    longest = int((1.0 - OVERLAP) * N)
    size = scipy.fft.next_fast_len(2 * N)
    spectrum = scipy.fft.rfft(q, size, axis=0)
    correlation = scipy.fft.irfft(np.sum(np.abs(spectrum) ** 2, axis=1), size)[:longest]
    sums = np.concatenate(([0.0], np.cumsum(np.sum(q**2, axis=1))))
    lags = np.arange(longest)
    squares = sums[N - lags] + (sums[N] - sums[lags])
    difference: Array = np.maximum(squares - 2.0 * correlation, 0.0) / (N - lags)
    return difference


def _refined(spline: BSpline, q: Array, t: Array, period: float, h: float) -> tuple[float, float]:
    rows = t <= t[-1] - period - h

    def difference(T: float) -> float:
        return float(np.mean(np.sum((spline(t[rows] + T) - q[rows]) ** 2, axis=1)))

    found = minimize_scalar(
        difference, bounds=(period - h, period + h), method="bounded", options={"xatol": 1e-7 * h}
    )
    return float(found.x), float(found.fun)
