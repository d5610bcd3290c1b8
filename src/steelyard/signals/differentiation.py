r"""Velocity and acceleration from what was measured, torque through the same filter.

A method is a linear filter F and derivatives D of what it lets through:

$$q_F = F q, \quad v = D F q, \quad a = D^2 F q, \quad \tau_F = F \tau.$$

Torque passes F too, so that both sides of the equations of motion have lost the same frequencies.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.interpolate import make_interp_spline
from scipy.linalg.blas import dtbsv

from steelyard.arrays import Array
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals.sampling import MEASURED, present, uniform_interval


@dataclasses.dataclass(frozen=True)
class Differentiator(ABC):
    """A filter with derivatives; subclasses are frozen dataclasses whose attributes are their settings."""

    @abstractmethod
    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the filtered signal.

        The filter may depend on how many derivatives are taken of the signal it is chosen for; calls with
        the same `highest` use the same filter.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative to return: 0 for the filtered signal itself.
            highest: the highest derivative that is taken with this filter.

        Returns:
            The derivative at the same times, shape (N, n), SI.
        """

    def derivatives(self, series: Array, interval: float, highest: int) -> tuple[Array, ...]:
        """Return the filtered signal and all its derivatives, as `filtered` gives them one by one.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            highest: the highest derivative.

        Returns:
            The derivatives from 0 to the highest, each of shape (N, n), SI.
        """
        return tuple(self.filtered(series, interval, k, highest) for k in range(highest + 1))

    @abstractmethod
    def margin(self, interval: float, highest: int) -> int:
        """Return how many samples at each end depend on what lies beyond the recording.

        Args:
            interval: sampling interval, s.
            highest: the highest derivative that is taken with this filter.

        Returns:
            The number of samples.
        """

    @property
    def settings(self) -> Mapping[str, object]:
        """Name and settings of the method, as a recording's history keeps them."""
        return {"method": type(self).__name__, **dataclasses.asdict(self)}


def differentiated(
    recording: Recording, method: Differentiator, source: Literal["q", "v"] = "q"
) -> Recording:
    """Give a recording velocities and accelerations; positions, torques and currents pass the same filter.

    From `q` both v and a come from positions, and a measured v or a is replaced. From `v` measured velocities
    are filtered and differentiated once. References and extra columns keep their values. Samples at the ends
    that the filter cannot know are cut.

    Args:
        recording: a uniform recording.
        method: filter and derivatives.
        source: channel that is differentiated.

    Returns:
        The recording with q, v and a, and with torques and currents where it has them.

    Raises:
        RecordingError: time is not uniform, the channel is missing, or the recording is too short.
    """
    if source not in ("q", "v"):
        raise UnknownNameError("source", source, ("q", "v"))
    h = uniform_interval(recording)
    highest = 2 if source == "q" else 1
    x = recording.channels.get(source)
    if x is None:
        raise RecordingError("there are no measured velocities.", place="v", remedy="Differentiate from 'q'.")
    names = [name for name in present(recording, MEASURED) if name not in ("v", "a")]
    margin = _margin(recording, "differentiated", method, highest)
    derivatives = method.derivatives(x, h, highest)
    fields = {source: derivatives[0], "v": derivatives[-2], "a": derivatives[-1]}
    for name in names:
        if name != source:
            fields[name] = method.filtered(recording.channels[name], h, 0, highest)
    replaced = [name for name in (("v", "a") if source == "q" else ("a",)) if name in recording.channels]
    detail = {**method.settings, "source": source, "filtered": names, "replaced": replaced}
    return _cut(recording, "differentiated", detail, fields, margin)


def smoothed(recording: Recording, method: Differentiator, channels: Sequence[str] = MEASURED) -> Recording:
    """Pass channels through a filter, without derivatives.

    Args:
        recording: a uniform recording.
        method: the filter.
        channels: names of the channels; those that are absent are passed over.

    Returns:
        The recording with these channels filtered and its ends cut.
    """
    h = uniform_interval(recording)
    names = present(recording, channels)
    if not names:
        raise InputError(f"none of {list(channels)} is in the recording.", place="channels")
    margin = _margin(recording, "smoothed", method, 0)
    fields = {name: method.filtered(recording.channels[name], h, 0, 0) for name in names}
    detail = {**method.settings, "filtered": list(names)}
    return _cut(recording, "smoothed", detail, fields, margin)


def _margin(recording: Recording, action: str, method: Differentiator, highest: int) -> int:
    """Samples to be cut at each end; asked before anything is filtered: filters need some to be left."""
    margin = method.margin(uniform_interval(recording), highest)
    if recording.n - 2 * margin < 2:
        raise RecordingError(
            f"{margin} samples are cut at each end, but there are only {recording.n}.",
            place=action,
            remedy="Record longer, or choose a shorter filter.",
        )
    return margin


def _cut(
    recording: Recording, action: str, detail: Mapping[str, object], fields: Mapping[str, Array], margin: int
) -> Recording:
    whole = recording.revised(action, {**detail, "cut_at_each_end": margin}, **fields)
    return whole.rows(slice(margin, recording.n - margin)) if margin else whole


# All-pole filters, which every recursive filter is made of.


def recursion(feedback: npt.ArrayLike, x: Array) -> Array:
    r"""Filter from rest by a recursion on its own output.

    $$y_t = x_t - \sum_{k=1}^{p} a_k\,y_{t-k}$$

    Written for all times at once this is a banded triangular system, which BLAS solves as fast as SciPy's
    `lfilter` runs; `scipy.signal` itself, which loads all of SciPy's statistics, would take a third of a
    second of every command.

    Args:
        feedback: a, shape (p,), dimensionless.
        x: samples, shape (N,) or (N, n), any unit.

    Returns:
        y, shape (N,) or (N, n), same unit.
    """
    a = np.asarray(feedback, dtype=float)
    p = len(a)
    y = np.array(x, dtype=float, order="F")
    if p == 0 or not y.size:
        return y
    band = np.empty((p + 1, len(y)), order="F")
    band[0], band[1:] = 1.0, a[:, None]
    for column in y.reshape(len(y), -1, order="F").T:
        column[:] = dtbsv(p, band, column, lower=1, diag=1)
    return y


# Zero-phase Butterworth low-pass, differentiated by a spline through its output.

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


# Central differences, with what is not differentiated averaged over the same time.


@dataclass(frozen=True)
class CentralDifferences(Differentiator):
    r"""Central differences $(x_{k+1} - x_{k-1}) / 2h$, which average the derivative over two intervals.

    What is not differentiated is averaged over the same two intervals, by Simpson's rule
    $(x_{k-1} + 4 x_k + x_{k+1})/6$: the two filters agree to fourth order in h. Nothing else is filtered, so
    smooth signals are needed. There is one stage S for each derivative: $D^k$ of a signal is
    $(DS)^k S^{m-k}$ where m is the highest.
    """

    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the filtered signal; see `Differentiator.filtered`.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative.
            highest: number of stages; one at least.

        Returns:
            The derivative, shape (N, n), SI.
        """
        x = series
        for stage in range(max(highest, 1)):
            before = np.vstack((2 * x[:1] - x[1:2], x[:-1]))
            after = np.vstack((x[1:], 2 * x[-1:] - x[-2:-1]))
            slope = stage < derivative
            x = (after - before) / (2.0 * interval) if slope else (before + 4.0 * x + after) / 6.0
        return x

    def margin(self, interval: float, highest: int) -> int:
        """Return one sample for each stage.

        Args:
            interval: not used.
            highest: number of stages; one at least.

        Returns:
            The number of samples.
        """
        return max(highest, 1)
