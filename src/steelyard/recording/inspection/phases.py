"""The phases of a log: rest, an approach to the start, the motion proper, and a motion that repeats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from steelyard.finding import Finding, Severity
from steelyard.recording.inspection.speed import relative_speed
from steelyard.recording.recording import Recording

SLOW = 0.02
"""Part of its usual top speed below which every joint is at rest."""
REST = 0.15
"""Seconds of rest that part two motions, at least five samples; joints that all turn at once are faster."""
WORTH = 0.02
"""Part of the log that must lie outside the motion proper to be worth a word."""
CLOSE = 0.1
"""A motion repeats when positions one period apart differ by this part of their spread, root mean square."""
LEAST_OVERLAP = 0.2
_SAMPLES = 1000


def main_motion(recording: Recording) -> slice:
    """Return the rows of the longest motion between two rests.

    Args:
        recording: the recording.

    Returns:
        The rows; all of them when nothing moves for more than a sample.
    """
    first, last = max(_motions(recording), key=lambda rows: recording.time[rows[1]] - recording.time[rows[0]])
    return slice(first, last + 1) if last > first else slice(0, recording.n)


def phase_findings(recording: Recording) -> Iterator[Finding]:
    """Yield what lies outside the motion proper, and a period after which the motion repeats.

    Args:
        recording: the recording.

    Yields:
        The findings.
    """
    main = main_motion(recording)
    time = recording.time
    before = float(time[main.start] - time[0])
    after = float(time[-1] - time[main.stop - 1])
    if before > WORTH * recording.duration:
        moved = sum(1 for first, _ in _motions(recording) if first < main.start)
        what = f"{moved} other motion(s) and rest" if moved else "rest"
        code = "approach-phase" if moved else "rest-before"
        message = (
            f"{what} for {before:.4g} s before the motion proper, which starts at {time[main.start]:.6g} s."
        )
        yield Finding(Severity.WARNING, code, message, f"rows 0 to {main.start - 1}")
    if after > WORTH * recording.duration:
        message = (
            f"the motion proper ends at {time[main.stop - 1]:.6g} s; {after:.4g} s of other things follow."
        )
        yield Finding(Severity.INFO, "rest-after", message, f"rows {main.stop} to {recording.n - 1}")
    found = period(recording.rows(main))
    if found is not None:
        seconds, off = found
        yield Finding(
            Severity.WARNING,
            "periodic",
            f"the motion repeats after {seconds:.4g} s (positions differ by {100 * off:.2g} % of their "
            "spread): a later stretch of this log is no test of an earlier one.",
        )


def period(recording: Recording) -> tuple[float, float] | None:
    r"""Return after which time a motion repeats.

    The shortest T at which the root mean square of $q(t + T) - q(t)$, measured by the joints' spread over the
    log, has a minimum below `CLOSE` (a motion that merely returns is close for a moment, not throughout). At
    least `LEAST_OVERLAP` of the log must lie behind T.

    Args:
        recording: the recording.

    Returns:
        T in s and the difference found, dimensionless; None when the motion does not repeat.
    """
    n = min(recording.n, _SAMPLES)
    t = np.linspace(recording.time[0], recording.time[-1], n)
    spread = recording.q.std(axis=0)
    moving = spread > 1e-3 * spread.max(initial=0.0)
    if n < 20 or not moving.any():
        return None
    q = np.column_stack([np.interp(t, recording.time, x) for x in recording.q[:, moving].T]) / spread[moving]
    shifts = np.arange(1, int((1.0 - LEAST_OVERLAP) * n))
    off = np.array([np.sqrt(np.mean((q[k:] - q[:-k]) ** 2)) for k in shifts])
    # Close to zero shift everything is alike; a repeat needs to have been unlike in between.
    apart = np.flatnonzero(off > 5.0 * CLOSE)
    if not len(apart):
        return None
    dips = [k for k in range(int(apart[0]) + 1, len(off) - 1) if off[k] < CLOSE and _is_dip(off, k)]
    return (float(shifts[dips[0]] * (t[1] - t[0])), float(off[dips[0]])) if dips else None


def _is_dip(off: NDArray[np.float64], k: int) -> bool:
    return bool(off[k] <= off[k - 1] and off[k] <= off[k + 1])


def _motions(recording: Recording) -> list[tuple[int, int]]:
    """First and last row of each motion; motions are parted by rests longer than `REST`."""
    moving = np.flatnonzero(relative_speed(recording) > SLOW)
    if not len(moving):
        return [(0, recording.n - 1)]
    rest = max(REST, 5.0 / recording.rate)
    parts = np.flatnonzero(np.diff(recording.time[moving]) > rest)
    firsts = moving[np.concatenate(([0], parts + 1))]
    lasts = moving[np.concatenate((parts, [len(moving) - 1]))]
    return [(int(a), int(b)) for a, b in zip(firsts, lasts, strict=True)]
