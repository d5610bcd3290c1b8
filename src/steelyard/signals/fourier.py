r"""Periodic motions: the Fourier series fitted to a signal, and its exact derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.differentiator import Differentiator
from steelyard.signals.period import period_of
from steelyard.signals.sampling import uniform_interval

_ROUNDING = 1e-12  # residuals below this share of the signal are rounding, and say nothing about harmonics
MOST_HARMONICS = 50


@dataclass(frozen=True)
class FourierSeries(Differentiator):
    r"""The Fourier series that fits the samples best, differentiated term by term.

    $$x(t) = c_0 + \sum_{l=1}^{L} a_l \cos \frac{2\pi l t}{T} + b_l \sin \frac{2\pi l t}{T}$$

    fitted by least squares, over any stretch of at least one period. No samples are lost at the ends, and all
    periods are averaged. Torques are projected on the same harmonics. Only for motions in their steady cycle:
    an approach phase must be cut first.

    Attributes:
        period: T, s.
        harmonics: L.
    """

    period: float
    harmonics: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.period) and self.period > 0.0):
            raise InputError(f"must be positive, got {self.period:g} s.", place="period")
        if self.harmonics < 1:
            raise InputError(f"must be at least 1, got {self.harmonics}.", place="harmonics")

    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the fitted series; see `Differentiator.filtered`.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative.
            highest: not used: the series is the same for all.

        Returns:
            The derivative, shape (N, n), SI.
        """
        _check_length(len(series), interval, self.period)
        if 2.0 * interval * self.harmonics >= self.period:
            raise InputError(
                f"harmonic {self.harmonics} of {1.0 / self.period:g} Hz is not below the Nyquist frequency "
                f"of {0.5 / interval:g} Hz.",
                place="harmonics",
            )
        coefficients = np.linalg.lstsq(
            _basis(len(series), interval, self.period, self.harmonics, 0), series, rcond=None
        )[0]
        return np.asarray(
            _basis(len(series), interval, self.period, self.harmonics, derivative) @ coefficients
        )

    def margin(self, interval: float, highest: int) -> int:
        """Return zero: a periodic motion has no ends.

        Args:
            interval: not used.
            highest: not used.

        Returns:
            Zero.
        """
        return 0


def fourier_series(
    recording: Recording, period: float | None = None, harmonics: int | None = None
) -> FourierSeries:
    r"""Choose period and number of harmonics for a periodic motion by its positions.

    The number of harmonics is the one with the least Bayesian information criterion over all n joints

    $$\sum_j N \log \frac{RSS_j(L)}{N} + n (2L + 1) \log N.$$

    Args:
        recording: a uniform recording of a motion in its steady cycle.
        period: s; None to find it, see `period_of`.
        harmonics: None to choose.

    Returns:
        The method, ready for `differentiated`.

    Raises:
        InputError: the motion is not periodic, or shorter than a period.
    """
    h = uniform_interval(recording)
    T = period_of(recording) if period is None else period
    _check_length(recording.n, h, T)
    return FourierSeries(T, _harmonics(recording.q, h, T) if harmonics is None else harmonics)


def _harmonics(q: Array, h: float, period: float) -> int:
    N, n = q.shape
    most = min(MOST_HARMONICS, math.ceil(0.5 * period / h) - 1, (N - 2) // 4)
    if most < 1:
        raise InputError(f"a period of {period:g} s holds too few samples at {h:g} s.", place="period")
    Q, _ = np.linalg.qr(_basis(N, h, period, most, 0))
    explained = np.cumsum((Q.T @ q) ** 2, axis=0)[2::2]
    total = np.sum(q**2, axis=0)
    residual = np.maximum(total - explained, _ROUNDING * total + np.finfo(float).tiny)
    L = np.arange(1, most + 1)
    criterion = N * np.log(residual / N).sum(axis=1) + n * (2 * L + 1) * np.log(N)
    return int(L[np.argmin(criterion)])


def _basis(count: int, interval: float, period: float, harmonics: int, derivative: int) -> Array:
    """Columns 1, cos, sin, cos 2, sin 2, ... or a derivative of each, shape (N, 2 L + 1)."""
    B = np.empty((count, 2 * harmonics + 1))
    B[:, 0] = 1.0 if derivative == 0 else 0.0
    w = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    # Each derivative turns the phase by a quarter and multiplies by the frequency.
    phase = np.outer(interval * np.arange(count), w) + 0.5 * np.pi * derivative
    B[:, 1::2], B[:, 2::2] = w**derivative * np.cos(phase), w**derivative * np.sin(phase)
    return B


def _check_length(n: int, interval: float, period: float) -> None:
    if n * interval < period * (1.0 - 1e-9):
        raise InputError(
            f"the recording lasts {n * interval:.4g} s, less than the period of {period:.4g} s.",
            place="period",
        )
