"""Zero-phase Butterworth low-pass, differentiated by a spline through its output."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import make_interp_spline

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.signals.differentiator import Differentiator
from steelyard.signals.recursion import recursion

_SETTLED = 6.9  # time constants after which a thousandth of a step is left


@dataclass(frozen=True)
class Butterworth(Differentiator):
    r"""A Butterworth low-pass run forwards and backwards, so that no phase is left.

    $$|F(f)| = \frac{1}{1 + (f/f_c)^{2n}}$$

    The gain at the cut-off is 1/2, as both passes give $1/\sqrt2$. (The bilinear transform bends the
    frequency axis towards Nyquist; the cut-off is exact.) Derivatives are those of the spline of degree 5
    through the output, so all of them see the same filter.

    Attributes:
        cutoff: $f_c$, Hz.
        order: n, of each pass.
    """

    cutoff: float
    order: int = 4

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cutoff) and self.cutoff > 0.0):
            raise InputError(f"must be positive, got {self.cutoff:g} Hz.", place="cutoff")
        if self.order < 1:
            raise InputError(f"must be at least 1, got {self.order}.", place="order")

    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the filtered signal; see `Differentiator.filtered`.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative.
            highest: not used: the filter is the same for all.

        Returns:
            The derivative, shape (N, n), SI.
        """
        smooth = self._smooth(series, interval, highest)
        return smooth if derivative == 0 else next(_slopes(smooth, interval, [derivative]))

    def derivatives(self, series: Array, interval: float, highest: int) -> tuple[Array, ...]:
        """Return the filtered signal and all its derivatives; see `Differentiator.derivatives`.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            highest: the highest derivative.

        Returns:
            The derivatives, each of shape (N, n), SI.
        """
        smooth = self._smooth(series, interval, highest)
        return smooth, *_slopes(smooth, interval, range(1, highest + 1))

    def _smooth(self, series: Array, interval: float, highest: int) -> Array:
        """What the filter lets through."""
        nyquist = 0.5 / interval
        if self.cutoff >= nyquist:
            raise InputError(
                f"{self.cutoff:g} Hz is not below the Nyquist frequency of {nyquist:g} Hz.", place="cutoff"
            )
        pad = min(3 * self.margin(interval, highest), len(series) - 1)
        return _both_ways(np.asarray(series), pad, _sections(self.order, self.cutoff, interval))

    def margin(self, interval: float, highest: int) -> int:
        """Return the samples in which the slowest pole settles to a thousandth.

        Args:
            interval: sampling interval, s.
            highest: not used.

        Returns:
            The number of samples.
        """
        slowest = 2.0 * math.pi * self.cutoff * math.sin(math.pi / (2 * self.order))
        return math.ceil(_SETTLED / slowest / interval)


@lru_cache(maxsize=64)
def _sections(order: int, cutoff: float, interval: float) -> tuple[tuple[float, ...], ...]:
    r"""Feedback of the parts of a pass, each of one real pole or a pair; constants pass each unchanged.

    The poles $\omega e^{i\theta_k}$ of the analogue filter, evenly spaced on the left half of a circle, go
    through the bilinear transform $z = (1 + s h/2) / (1 - s h/2)$; $\omega$ is bent such that the cut-off
    stays where it is.
    """
    radius = math.tan(math.pi * cutoff * interval)
    angles = 0.5 * math.pi * (1.0 + (2.0 * np.arange((order + 1) // 2) + 1.0) / order)
    s = radius * np.exp(1j * angles)
    z = (1.0 + s) / (1.0 - s)
    pairs = [(-2.0 * float(pole.real), float(abs(pole) ** 2)) for pole in z[: order // 2]]
    return *pairs, *((-float(pole.real),) for pole in z[order // 2 :])


def _slopes(smooth: Array, interval: float, derivatives: Iterable[int]) -> Iterator[Array]:
    """Derivatives of the spline through a signal at its samples."""
    t = interval * np.arange(len(smooth))
    spline = make_interp_spline(t, smooth, k=min(5, len(smooth) - 1))
    for derivative in derivatives:
        yield np.asarray(spline.derivative(derivative)(t))


def _both_ways(x: Array, pad: int, sections: tuple[tuple[float, ...], ...]) -> Array:
    """A pass forwards and one backwards, over samples continued beyond both ends, turned about the last."""
    long = x
    if pad > 0:
        long = np.concatenate((2.0 * x[0] - x[pad:0:-1], x, 2.0 * x[-1] - x[-2 : -(pad + 2) : -1]))
    back = _pass(sections, _pass(sections, long)[::-1])
    return np.asarray(back[::-1][pad : pad + len(x)])


def _pass(sections: tuple[tuple[float, ...], ...], x: Array) -> Array:
    r"""A pass, $\prod_j g_j (1 + z^{-1})^{p_j} / (1 + \sum_k a_{jk} z^{-k})$, settled on the first sample."""
    y = np.asfortranarray(x - x[0])  # a column, which is filtered by itself, lies in one piece
    for feedback in sections:
        y = recursion(feedback, (1.0 + sum(feedback)) / 2.0 ** len(feedback) * y)
        for _ in feedback:
            y[1:] += y[:-1]
    return np.asarray(y + x[0])
