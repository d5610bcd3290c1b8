r"""Another sampling interval, with anti-aliasing."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse
from numpy.lib.stride_tricks import sliding_window_view

from steelyard.arrays import Array, IntArray
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.columns import all_mapped
from steelyard.signals.sampling import checked_interval, uniform_interval

_INTEGER = 1e-6  # a ratio this close to an integer keeps the stamps of the original samples


def resampled(
    recording: Recording, interval: float, *, passband: float = 0.6, attenuation: float = 120.0
) -> Recording:
    r"""Resample a uniform recording with anti-aliasing; all columns pass the same zero-phase filter.

    $$y(T) = \sum_k x_k\, h\, 2 f_c \operatorname{sinc}(2 f_c (T - t_k))\, w(T - t_k)$$

    with a Kaiser window w. Let $f_N$ be the smaller of the old and new Nyquist frequencies. Up to `passband`
    times $f_N$ signals pass with a relative error of $10^{-A/20}$, beyond $f_N$ they are attenuated by A.
    The filter commutes with differentiation, so q, v, a and tau stay consistent. At a ratio that is an
    integer the stamps kept are those of original samples. Samples closer to an end than half the
    filter's length have no full neighbourhood and are cut.

    Args:
        recording: a uniform recording.
        interval: new interval, s.
        passband: share of $f_N$ that passes, between 0 and 1; nearer 1 is a longer filter.
        attenuation: A, dB, at least 40.

    Returns:
        The recording on the new grid.

    Raises:
        RecordingError: time is not uniform.
        InputError: a setting is not possible, or the recording is shorter than the filter.
    """
    h, H = uniform_interval(recording), checked_interval(interval)
    if not 0.0 < passband < 1.0 or not attenuation >= 40.0:
        raise InputError(
            f"passband {passband:g} or attenuation {attenuation:g} dB is out of range.",
            place="resampled",
            remedy="The passband lies between 0 and 1, the attenuation is at least 40 dB.",
        )
    nyquist = 0.5 / max(h, H)
    taps, beta = _kaiser(attenuation, (1.0 - passband) * nyquist * 2.0 * h)
    half = 0.5 * taps * h
    ratio = H / h
    every = round(ratio)
    exact = every >= 1 and abs(ratio - every) <= _INTEGER * ratio
    step = every * h if exact else H
    positions = np.arange(0.0, recording.duration + 0.5 * h, step) / h
    reach = half / h
    positions = positions[(positions >= reach) & (positions <= recording.n - 1 - reach)]
    if len(positions) < 2:
        raise InputError(
            f"the recording lasts {recording.duration:.3g} s, the filter {2.0 * half:.3g} s.",
            place="interval",
            remedy="Record longer, choose a smaller interval, or lower passband or attenuation.",
        )
    cutoff = 0.5 * (1.0 + passband) * nyquist
    # Exact to the last digit on stamps that are kept; the grid's own numbers elsewhere.
    rows = np.rint(positions).astype(np.int64)
    time = recording.time[rows] if exact else recording.time[0] + positions * h
    detail = {
        "interval": step,
        "original_interval": h,
        "kept_stamps": exact,
        "passband_Hz": passband * nyquist,
        "stopband_Hz": nyquist,
        "attenuation_dB": attenuation,
        "edge_cut_s": half,
        "samples": [recording.n, len(time)],
    }
    if exact:
        weights = _weights(rows[:1].astype(float), recording.n, reach, cutoff * h, beta)
        fields = all_mapped(recording, lambda x: _decimated(weights, rows, every, x))
    else:
        weights = _weights(positions, recording.n, reach, cutoff * h, beta)
        fields = all_mapped(recording, lambda x: np.asarray(weights @ x))
    return recording.revised("resampled", detail, time=time, **fields)


def _weights(positions: Array, n: int, reach: float, cutoff: float, beta: float) -> scipy.sparse.csr_array:
    """The filter as a matrix (outputs, n); positions and reach in samples, cut-off in cycles per sample."""
    width = 2 * math.ceil(reach) + 1
    columns = np.rint(positions).astype(np.int64)[:, None] + np.arange(width) - width // 2
    distance = positions[:, None] - columns
    inside = (np.abs(distance) <= reach) & (columns >= 0) & (columns < n)
    window = np.i0(beta * np.sqrt(np.maximum(0.0, 1.0 - (distance / reach) ** 2))) / np.i0(beta)
    values = np.where(inside, np.sinc(2.0 * cutoff * distance) * window, 0.0)
    values /= values.sum(axis=1, keepdims=True)  # constants pass unchanged
    indptr = width * np.arange(len(positions) + 1)
    parts = (values.ravel(), np.clip(columns, 0, n - 1).ravel(), indptr)
    return scipy.sparse.csr_array(parts, shape=(len(positions), n))


def _decimated(first: scipy.sparse.csr_array, rows: IntArray, every: int, x: Array) -> Array:
    """The filter at every so many samples, where all outputs have the weights of the first one (1, n)."""
    reached = np.flatnonzero(first.toarray()[0])
    start, width = int(reached[0]), int(reached[-1] - reached[0]) + 1
    w = first.toarray()[0, start : start + width]
    taken = x[start : start + int(rows[-1] - rows[0]) + width]
    return np.asarray(sliding_window_view(taken, width, axis=0)[::every] @ w)


def _kaiser(attenuation: float, width: float) -> tuple[int, float]:
    """Length in samples and shape of Kaiser's window (Kaiser 1974).

    Args:
        attenuation: dB, at least 40.
        width: of the transition, as a share of Nyquist's frequency.
    """
    if attenuation > 50.0:
        beta = 0.1102 * (attenuation - 8.7)
    else:
        beta = 0.5842 * (attenuation - 21.0) ** 0.4 + 0.07886 * (attenuation - 21.0)
    return math.ceil((attenuation - 7.95) / (2.285 * math.pi * width) + 1.0), beta
