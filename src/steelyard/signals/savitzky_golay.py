"""Savitzky-Golay: derivatives of the polynomial fitted around each sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.signals.differentiator import Differentiator


@dataclass(frozen=True)
class SavitzkyGolay(Differentiator):
    """The polynomial fitted by least squares to the samples in a window around each sample.

    Signal and derivatives come from the same polynomial; polynomials up to its degree pass exactly.

    Attributes:
        window: length of the window, s; taken as the nearest odd number of samples.
        degree: degree of the polynomial.
    """

    window: float
    degree: int = 4

    def __post_init__(self) -> None:
        if not (math.isfinite(self.window) and self.window > 0.0):
            raise InputError(f"must be positive, got {self.window:g} s.", place="window")
        if self.degree < 0:
            raise InputError(f"must not be negative, got {self.degree}.", place="degree")

    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the fitted polynomials; see `Differentiator.filtered`.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative.
            highest: not used beyond a check: the polynomial is the same for all.

        Returns:
            The derivative, shape (N, n), SI.
        """
        length = 2 * self.margin(interval, highest) + 1
        if not highest <= self.degree < length <= len(series):
            raise InputError(
                f"degree {self.degree} does not fit a window of {length} samples in a series of "
                f"{len(series)} with derivatives up to {highest}.",
                place="SavitzkyGolay",
                remedy="The degree is at least the highest derivative and below the samples in the window.",
            )
        import scipy.signal  # brings all of SciPy's statistics, a third of a second

        return np.asarray(
            scipy.signal.savgol_filter(series, length, self.degree, derivative, delta=interval, axis=0)
        )

    def margin(self, interval: float, highest: int) -> int:
        """Return half the window.

        Args:
            interval: sampling interval, s.
            highest: not used.

        Returns:
            The number of samples.
        """
        return max(round(0.5 * (self.window / interval - 1.0)), 1)
