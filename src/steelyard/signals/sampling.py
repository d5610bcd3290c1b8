"""When the samples were taken: interval, jitter and gaps; made uniform, or brought to another interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.lib.stride_tricks import sliding_window_view
from scipy.interpolate import make_interp_spline

from steelyard.arrays import Array, IntArray
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import CHANNELS, Recording

# Interval, jitter and gaps

UNIFORM = 0.01
"""Largest distance of a stamp from the uniform grid, in intervals, that still counts as uniform."""
GAP = 3.0
"""An interval longer than this many median intervals is a gap."""


@dataclass(frozen=True)
class Sampling:
    """How a recording's time runs.

    Attributes:
        interval: mean interval by a straight line through the stamps, s.
        jitter: largest distance of a stamp from that line, s.
        shortest: shortest interval, s.
        longest: longest interval, s.
        gaps: times of the samples before the gaps, s.
    """

    interval: float
    jitter: float
    shortest: float
    longest: float
    gaps: tuple[float, ...]

    @property
    def is_uniform(self) -> bool:
        """Whether every stamp lies on the uniform grid."""
        return self.jitter <= UNIFORM * self.interval


def sampling_of(recording: Recording) -> Sampling:
    """Return how a recording's time runs.

    Args:
        recording: any recording.

    Returns:
        Its interval, jitter and gaps.
    """
    line, steps = straight_line(recording.time), np.diff(recording.time)
    after = np.flatnonzero(steps > GAP * np.median(steps))
    return Sampling(
        interval=float((line[-1] - line[0]) / (recording.n - 1)),
        jitter=float(np.abs(recording.time - line).max()),
        shortest=float(steps.min()),
        longest=float(steps.max()),
        gaps=tuple(float(t) for t in recording.time[after]),
    )


def uniform_interval(recording: Recording) -> float:
    """Return the interval of a uniformly sampled recording, s.

    Returns:
        The interval, s.

    Raises:
        RecordingError: its time jitters or has gaps.
    """
    sampling = sampling_of(recording)
    if not sampling.is_uniform:
        raise RecordingError(
            f"must be uniform here, but a stamp lies {sampling.jitter:.3g} s from the grid of "
            f"{sampling.interval:.6g} s (intervals {sampling.shortest:.3g} s to {sampling.longest:.3g} s).",
            place="time",
            remedy="Split it at gaps, then bring it to uniform time.",
            evidence={"sampling": sampling},
        )
    return sampling.interval


def straight_line(time: Array) -> Array:
    """Return the straight line through stamps by least squares.

    Args:
        time: stamps, shape (N,), s.

    Returns:
        The line at the same samples, shape (N,), s.
    """
    k = np.arange(len(time)) - 0.5 * (len(time) - 1)
    slope = float(k @ (time - time.mean()) / (k @ k))
    line: Array = time.mean() + slope * k
    return line


def checked_sampling_interval(interval: float) -> float:
    """Return an interval after checking that it is positive.

    Args:
        interval: the interval, s.

    Returns:
        The same, s.

    Raises:
        InputError: it is zero, negative or not finite.
    """
    if not (math.isfinite(interval) and interval > 0.0):
        raise InputError(f"must be positive, got {interval:g} s.", place="interval")
    return float(interval)


# One operation on many columns of a recording at once.

MEASURED = ("q", "v", "a", "tau", "current")
"""Channels that sensors gave; the others are commanded and free of noise."""


def present(recording: Recording, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the named channels that a recording holds.

    Args:
        recording: the recording.
        names: names of channels.

    Returns:
        The names that are there, in the fixed order of channels.

    Raises:
        UnknownNameError: there is no such channel.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in CHANNELS:
            raise UnknownNameError("channel", name, CHANNELS)
    return tuple(name for name in recording.channels if name in wanted)


def all_mapped(recording: Recording, operation: Callable[[Array], Array]) -> dict[str, object]:
    """Apply one operation to every channel and every extra column, side by side.

    Args:
        recording: the recording.
        operation: takes columns of shape (N, n) and returns as many, of any common length.

    Returns:
        The fields of the result by name, without time.
    """
    channels, extra = recording.channels, recording.extra
    stacked = np.column_stack([*channels.values(), *extra.values()])
    mapped = operation(stacked)
    nj = len(recording.joints)
    fields: dict[str, object] = {name: mapped[:, k * nj : (k + 1) * nj] for k, name in enumerate(channels)}
    first = nj * len(channels)
    fields["extra"] = {name: mapped[:, first + k] for k, name in enumerate(extra)}
    return fields


# Gaps: a log is split there, never bridged silently


def split_at_gaps(recording: Recording, longest: float | None = None) -> tuple[Recording, ...]:
    """Split a recording where time is missing.

    Args:
        recording: any recording.
        longest: longest interval within a part, s; None for three median intervals.

    Returns:
        The parts with at least two samples, in order. Each says in its history which part of how many it is,
        how long the gap before it lasted, and how many lone samples were dropped in total.
    """
    steps = np.diff(recording.time)
    limit = GAP * float(np.median(steps)) if longest is None else longest
    cuts = np.flatnonzero(steps > limit) + 1
    bounds = list(zip([0, *cuts], [*cuts, recording.n], strict=True))
    kept = [(int(start), int(stop)) for start, stop in bounds if stop - start >= 2]
    if not kept:
        raise RecordingError(f"no two samples are closer than {limit:g} s.", place="split_at_gaps")
    parts = []
    for number, (start, stop) in enumerate(kept, 1):
        detail = {
            "part": number,
            "of": len(kept),
            "longest_interval": limit,
            "gap_before": float(steps[start - 1]) if start else None,
            "lone_samples_dropped": len(bounds) - len(kept),
        }
        parts.append(recording.rows(slice(start, stop)).revised("split_at_gaps", detail))
    return tuple(parts)


def sampling_without_gaps(recording: Recording, longest: float) -> Sampling:
    """Return how a recording's time runs after checking that no interval is too long.

    Args:
        recording: any recording.
        longest: longest interval, in median intervals.

    Returns:
        Its interval, jitter and gaps.

    Raises:
        RecordingError: an interval is longer; the message says where.
    """
    sampling = sampling_of(recording)
    limit = longest * float(np.median(np.diff(recording.time)))
    if sampling.longest > limit:
        worst = int(np.argmax(np.diff(recording.time)))
        raise RecordingError(
            f"no sample for {sampling.longest:.3g} s after t = {recording.time[worst]:.6g} s; "
            f"{limit:.3g} s are allowed.",
            place="time",
            remedy="Split the recording at its gaps, or allow longer ones where that is offered.",
            evidence={"sampling": sampling},
        )
    return sampling


# Uniform time: late stamps corrected, or irregular samples interpolated


def evenly_timed(recording: Recording, longest_gap: float = GAP) -> Recording:
    r"""Make time uniform the way that the positions themselves ask for.

    Jitter may be in the stamps of regular samples (`restamped`) or in the sampling (`to_uniform_time`); the
    wrong cure turns it into noise of about velocity times jitter. A robot moves smoothly, so the cure that
    leaves the smaller third differences of q is taken; the history has both figures. Real logs are of either
    kind, with ratios of one to two orders of magnitude. Time that is uniform stays as it is.

    Args:
        recording: the recording.
        longest_gap: longest interval that is interpolated over, in median intervals; with any interval above
            three of them samples are missing, and the stamps cannot be put on a line.

    Returns:
        The recording with uniform time.

    Raises:
        RecordingError: a gap is longer than that.
    """
    sampling = sampling_of(recording)
    if sampling.is_uniform:
        return recording
    interpolated = to_uniform_time(recording, longest_gap=longest_gap)
    detail: dict[str, object] = {"chosen": "to_uniform_time", "gaps": len(sampling.gaps)}
    if sampling.gaps or recording.n < 5:
        return interpolated.revised("evenly_timed", detail)
    regular = restamped(recording)
    rough = [float(np.sqrt(np.mean(np.diff(x.q, 3, axis=0) ** 2))) for x in (regular, interpolated)]
    if rough[0] < rough[1]:
        detail["chosen"] = "restamped"
    detail["rms_third_difference"] = {"restamped": rough[0], "to_uniform_time": rough[1]}
    return (regular if rough[0] < rough[1] else interpolated).revised("evenly_timed", detail)


def restamped(recording: Recording) -> Recording:
    """Put stamps that jitter on the straight line through them; the values stay as they are.

    Right where the device sampled regularly and only the stamps are late, as with a log written by a busy
    computer. Where the samples themselves are irregular, use `to_uniform_time`.

    Args:
        recording: a recording without gaps.

    Returns:
        The recording with uniform time.

    Raises:
        RecordingError: samples are missing: a straight line would then shift what follows.
    """
    sampling = sampling_without_gaps(recording, GAP)
    detail = {"interval": sampling.interval, "largest_correction": sampling.jitter}
    return recording.revised("restamped", detail, time=straight_line(recording.time))


def to_uniform_time(
    recording: Recording, interval: float | None = None, *, degree: int = 5, longest_gap: float = GAP
) -> Recording:
    """Interpolate samples taken at irregular times on a uniform grid that starts at the first of them.

    Every column is interpolated by a spline through its samples. A step of an interval longer than the
    median one does not filter: follow with `resampled`, which does.

    Args:
        recording: the recording.
        interval: interval of the grid, s; None for the median interval.
        degree: degree of the spline: 1, 3 or 5. The higher, the more exact on smooth signals, and the more
            noise grows where stamps nearly coincide.
        longest_gap: longest interval that is interpolated over, in median intervals.

    Returns:
        The recording on the grid.

    Raises:
        RecordingError: a gap is longer than that.
        InputError: the interval exceeds the median one by more than half, or the degree is not offered.
    """
    if degree not in (1, 3, 5) or recording.n <= degree:
        raise InputError(
            f"degree {degree} with {recording.n} samples is not possible.",
            place="degree",
            remedy="Choose 1, 3 or 5, with more samples than the degree.",
        )
    sampling = sampling_without_gaps(recording, longest_gap)
    median = float(np.median(np.diff(recording.time)))
    step = median if interval is None else checked_sampling_interval(interval)
    if step > 1.5 * median:
        raise InputError(
            f"{step:g} s is far above the median interval of {median:g} s; interpolation does not filter.",
            place="interval",
            remedy="Go to uniform time at the median interval first, then resample.",
        )
    columns = 1 + sum(x.shape[1] for x in recording.channels.values()) + len(recording.extra)
    require_memory(
        4 * NUMBER * columns * (recording.duration / step),
        f"a log of {recording.duration:g} s in steps of {step:g} s",
        place="time",
        remedy="Cut the log where its time jumps.",
    )
    count = math.floor(recording.duration / step * (1.0 + 1e-12)) + 1
    grid = np.minimum(recording.time[0] + step * np.arange(count), recording.time[-1])
    detail = {
        "interval": step,
        "degree": degree,
        "samples": [recording.n, count],
        "shortest_interval": sampling.shortest,
        "longest_interval": sampling.longest,
    }
    fields = all_mapped(recording, lambda x: make_interp_spline(recording.time, x, k=degree)(grid))
    return recording.revised("to_uniform_time", detail, time=grid, **fields)


# Resampling, with anti-aliasing

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
    h, H = uniform_interval(recording), checked_sampling_interval(interval)
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
