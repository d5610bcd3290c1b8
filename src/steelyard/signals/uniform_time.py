"""Time that jitters, made uniform: late stamps put right, or irregular samples interpolated."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import make_interp_spline

from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.columns import all_mapped
from steelyard.signals.gaps import sampling_without_gaps
from steelyard.signals.sampling import GAP, checked_interval, sampling_of, straight_line


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
    step = median if interval is None else checked_interval(interval)
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
