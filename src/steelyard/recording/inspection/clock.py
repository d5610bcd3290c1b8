"""The clock of a recording: uneven intervals, gaps, samples that repeat the one before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.finding import Finding, Severity
from steelyard.recording.recording import Recording

JITTER = 0.05
"""Intervals are uneven when a tenth of them differ from the median by more than this part of it."""
GAP = 2.0
"""An interval longer than so many medians is a gap."""
STALE = 0.01
"""Part of the samples that may repeat the one before in every channel."""
MOST_GAPS = 20


def clock_findings(recording: Recording) -> Iterator[Finding]:
    """Yield what is wrong with the times of the samples.

    Args:
        recording: the recording.

    Yields:
        One finding for each gap, up to `MOST_GAPS`, and one each for jitter and for repeated samples.
    """
    intervals = np.diff(recording.time)
    median = float(np.median(intervals))
    spread = float(np.quantile(np.abs(intervals - median), 0.9)) / median
    if spread > JITTER:
        yield Finding(
            Severity.WARNING,
            "clock-jitter",
            f"intervals run from {1e3 * intervals.min():.4g} to {1e3 * intervals.max():.4g} ms around a "
            f"median of {1e3 * median:.4g} ms; a tenth are off by more than {100 * spread:.3g} %.",
            "time",
        )
    yield from _gaps(recording, median)
    yield from _stale(recording)


def _gaps(recording: Recording, median: float) -> Iterator[Finding]:
    intervals = np.diff(recording.time)
    gaps = np.flatnonzero(intervals > GAP * median)
    for before in gaps[:MOST_GAPS]:
        lost = np.round(intervals[before] / median) - 1.0
        yield Finding(
            Severity.WARNING,
            "gap",
            f"{1e3 * intervals[before]:.4g} ms without a sample at {recording.time[before]:.6g} s, room for "
            f"{lost:.6g} more.",
            f"rows {before} to {before + 1}",
        )
    if len(gaps) > MOST_GAPS:
        rest = gaps[MOST_GAPS:]
        yield Finding(
            Severity.WARNING,
            "gap",
            f"{len(rest)} further gaps, the longest of {1e3 * intervals[rest].max():.4g} ms.",
            f"rows {rest[0]} to {rest[-1] + 1}",
        )


def _stale(recording: Recording) -> Iterator[Finding]:
    values = np.hstack(list(recording.channels.values()))
    same = (values[1:] == values[:-1]).all(axis=1)
    if same.mean() > STALE:
        first = int(np.flatnonzero(same)[0]) + 1
        yield Finding(
            Severity.WARNING,
            "repeated-samples",
            f"{int(same.sum())} of {recording.n} samples repeat the one before in every channel: the log is "
            "faster than the measurement, or the measurement stood still.",
            f"row {first}",
        )
