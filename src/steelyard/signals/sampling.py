"""When the samples were taken: interval, jitter, gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording

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

    Args:
        recording: the recording.

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


def checked_interval(interval: float) -> float:
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
