r"""How late one signal follows another, found between samples, and taken out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize_scalar

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals.columns import present
from steelyard.signals.sampling import uniform_interval


@dataclass(frozen=True, eq=False)
class Delay:
    """How late one signal follows another.

    Attributes:
        seconds: the delay common to all columns, s; negative where the second signal leads.
        deviation: its standard deviation if what is left is white noise, s.
        correlation: mean correlation of the columns at this delay, dimensionless.
        each: delay of each column by itself, NaN where one does not change, shape (n,), s.
    """

    seconds: float
    deviation: float
    correlation: float
    each: Array


def series_delay(reference: ArrayLike, delayed: ArrayLike, interval: float, longest: float) -> Delay:
    r"""Find the delay d at which two signals with common sample times correlate best.

    $$\max_d \sum_j \operatorname{corr}\bigl(y_j(t),\, x_j(t - d)\bigr)$$

    with y the delayed signal and x the reference, each column with its own gain and offset. The same samples
    of y are used for every d. The best whole number of samples is refined on a spline through x.

    Args:
        reference: x, shape (N,) or (N, n), any unit, such as a predicted torque, N·m.
        delayed: y, same shape and any unit, such as a measured torque, N·m.
        interval: sampling interval, s.
        longest: largest delay of either sign that is considered, s.

    Returns:
        The delay.

    Raises:
        InputError: the signals are shorter than four times `longest`, or do not change.
    """
    x, y = _columns("reference", reference), _columns("delayed", delayed)
    if x.shape != y.shape:
        raise InputError(f"has shape {y.shape}, but the reference has {x.shape}.", place="delayed")
    if not (interval > 0.0 and longest >= interval):
        raise InputError(f"{longest:g} s is not at least the interval of {interval:g} s.", place="longest")
    L = math.ceil(longest / interval) + 1
    if len(x) < 4 * L:
        raise InputError(f"{len(x)} samples are too few for delays up to {longest:g} s.", place="longest")
    alive = (np.ptp(x, axis=0) > 0.0) & (np.ptp(y[L:-L], axis=0) > 0.0)
    if not alive.any():
        raise InputError("no pair of columns changes.", place="delayed")
    search = _Search(x[:, alive], y[L:-L][:, alive], L, interval)
    each = np.full(x.shape[1], np.nan)
    each[alive] = [search.best([j]) for j in range(search.columns)]
    d = search.best(range(search.columns))
    return Delay(d, search.deviation(d), float(search.correlation(d).mean()), read_only(each))


def delay_between(recording: Recording, reference: str, delayed: str, longest: float = 0.2) -> Delay:
    """Find how late one channel of a recording follows another, such as `q` after `q_ref`.

    Torque against motion needs a model: hand a predicted torque to `series_delay`.

    Args:
        recording: a uniform recording.
        reference: name of the channel that leads.
        delayed: name of the channel that follows.
        longest: largest delay considered, s.

    Returns:
        The delay, with one value per joint.
    """
    for name in (reference, delayed):
        if name not in recording.channels:
            raise UnknownNameError("channel of this recording", name, tuple(recording.channels))
    channels = recording.channels
    return series_delay(channels[reference], channels[delayed], uniform_interval(recording), longest)


def without_delay(recording: Recording, delay: float, channels: Sequence[str]) -> Recording:
    """Move channels earlier by a delay, interpolated by a spline; rows they no longer cover are cut.

    Args:
        recording: the recording.
        delay: how late the channels are, s; negative moves them later.
        channels: their names.

    Returns:
        The recording with these channels moved.

    Raises:
        RecordingError: a channel is missing, or less than two samples would be left.
    """
    names = present(recording, channels)
    if not names or len(names) != len(set(channels)):
        raise RecordingError(
            f"has {', '.join(recording.channels)}, but {', '.join(channels) or 'no channel'} should move.",
            place="channels",
        )
    t = recording.time
    kept = np.flatnonzero((t + delay >= t[0]) & (t + delay <= t[-1]))
    if len(kept) < 2:
        raise RecordingError(f"lasts {recording.duration:g} s, the delay {delay:g} s.", place="time")
    at = np.clip(t + delay, t[0], t[-1])
    degree = min(5, recording.n - 1)
    fields = {name: make_interp_spline(t, recording.channels[name], k=degree)(at) for name in names}
    moved = recording.revised("without_delay", {"delay": delay, "channels": list(names)}, **fields)
    return moved.rows(slice(int(kept[0]), int(kept[-1]) + 1))


def _columns(name: str, series: ArrayLike) -> Array:
    array = np.asarray(series)
    return checked(name, array[:, None] if array.ndim == 1 else array, ("N", "n"))


class _Search:
    """Correlation of y with x moved by a delay, for columns that change."""

    def __init__(self, x: Array, y: Array, margin: int, interval: float) -> None:
        self.columns = x.shape[1]
        self._h = interval
        self._t = interval * (margin + np.arange(len(y)))
        self._y = y - y.mean(axis=0)
        self._x = make_interp_spline(interval * np.arange(len(x)), x, k=5)
        self._lags = np.arange(1 - margin, margin)
        rows = margin + np.arange(len(y))
        self._scan = np.array([self._correlated(x[rows - lag]) for lag in self._lags])

    def correlation(self, d: float) -> Array:
        return self._correlated(self._x(self._t - d))

    def best(self, columns: Sequence[int]) -> float:
        chosen = list(columns)
        k = int(np.argmax(self._scan[:, chosen].mean(axis=1)))
        near = self._lags[[max(k - 1, 0), min(k + 1, len(self._lags) - 1)]] * self._h
        found = minimize_scalar(
            lambda d: -float(self.correlation(d)[chosen].mean()),
            bounds=(float(near[0]), float(near[1])),
            method="bounded",
            options={"xatol": 1e-6 * self._h},
        )
        return float(found.x)

    def deviation(self, d: float) -> float:
        """Cramér-Rao bound: one over the root of the sum of (g x')² / σ² with gain g and noise σ."""
        x, slope = self._x(self._t - d), self._x(self._t - d, nu=1)
        x = x - x.mean(axis=0)
        g = np.sum(x * self._y, axis=0) / np.sum(x**2, axis=0)
        variance = np.mean((self._y - g * x) ** 2, axis=0)
        information = np.sum((g * slope) ** 2, axis=0)
        return float(1.0 / np.sqrt(np.sum(information / np.maximum(variance, np.finfo(float).tiny))))

    def _correlated(self, x: Array) -> Array:
        x = x - x.mean(axis=0)
        scale = np.linalg.norm(x, axis=0) * np.linalg.norm(self._y, axis=0)
        found: Array = np.sum(x * self._y, axis=0) / np.where(scale > 0.0, scale, np.inf)
        return found
