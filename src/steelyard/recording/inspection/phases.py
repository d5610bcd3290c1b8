"""The phases of a log, and whether two logs show the same motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Array
from steelyard.finding import Finding, Severity
from steelyard.recording.recording import Recording

# How fast each joint moves, from the log's velocities or, without them, from its positions.


def velocities(recording: Recording) -> Array:
    """Return the velocities of a recording.

    Returns:
        The logged velocities, or central differences of the positions, shape (N, nj), rad/s or m/s.
    """
    if recording.v is not None:
        return recording.v
    return np.asarray(np.gradient(recording.q, recording.time, axis=0))


def relative_speed(recording: Recording) -> Array:
    """Return how fast the fastest joint moves, each measured by its own usual top speed.

    Returns:
        The largest ratio of a joint's speed to the 95th percentile of its speed over the log, shape (N,),
        dimensionless; joints that never move are left out, and all is zero when none does.
    """
    speed = np.abs(velocities(recording))
    usual = np.quantile(speed, 0.95, axis=0)
    moving = usual > 1e-3 * usual.max(initial=0.0)
    if not moving.any():
        return np.zeros(recording.n)
    return np.asarray((speed[:, moving] / usual[moving]).max(axis=1))


# The phases of a log: rest, an approach to the start, the motion proper, and a motion that repeats.

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


def main_motion_rows(recording: Recording) -> slice:
    """Return the rows of the longest motion between two rests.

    Returns:
        The rows; all of them when nothing moves for more than a sample.
    """
    first, last = max(_motions(recording), key=lambda rows: recording.time[rows[1]] - recording.time[rows[0]])
    return slice(first, last + 1) if last > first else slice(0, recording.n)


def phase_findings(recording: Recording) -> Iterator[Finding]:
    """Yield what lies outside the motion proper, and a period after which the motion repeats."""
    main = main_motion_rows(recording)
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


# Whether two recordings show the same motion, so that one of them is no test of the other.

SAME = 0.15
"""Two motions are one when what is left of the second after the fit is this part of its spread or less."""
REPEAT_OVERLAP = 0.5
_REPEAT_SAMPLES = 400
_SLACK = 0.02


@dataclass(frozen=True)
class Repeat:
    r"""How the second motion follows from the first: $q_b(t) = c + g\,q_a(\sigma t + d)$.

    Attributes:
        gain: g, one number for all joints, dimensionless.
        pace: σ, how much faster the second runs through it, dimensionless; NaN where only the path is the
            same and the timing is another one altogether.
        shift: d, where in the first motion the second starts, s; NaN as above.
        covered: part of the shorter motion that the fit covers, dimensionless.
        residual: what is left of the second after the fit, relative to its spread, dimensionless.
    """

    gain: float
    pace: float
    shift: float
    covered: float
    residual: float

    def finding(self, first: str, second: str) -> Finding:
        """Return the finding that a log is no test of another.

        Args:
            first: what the first recording is called.
            second: what the second one is called.
        """
        parts = []
        if abs(self.gain - 1.0) > _SLACK:
            parts.append(f"scaled by {self.gain:.3g}")
        if np.isnan(self.pace):
            parts.append("with another timing")
        elif abs(self.pace - 1.0) > _SLACK:
            parts.append(f"at {self.pace:.3g} times its pace")
        how = f" {' and '.join(parts)}" if parts else ""
        return Finding(
            Severity.WARNING,
            "repeated-motion",
            f"{second} is the motion of {first}{how} (all but {100 * self.residual:.2g} % of its spread): "
            "it tests how well the robot repeats itself, not what the model foretells.",
            second,
        )


def same_motion(first: Recording, second: Recording) -> Repeat | None:
    """Compare the motions of two recordings as curves.

    Compared are the longest motions between two rests. The second is fitted by the first with one gain and an
    offset for each joint, at the same pace and at the pace that makes their lengths equal, at every shift
    that leaves half of the shorter one covered. Where the best of these fits is not close, the two are fitted
    as paths, point by point along their lengths, whatever the timing.

    Args:
        first: a recording.
        second: another of the same joints; where names differ the order counts.

    Returns:
        The fit when it leaves no more than `SAME` of the second motion's spread, otherwise None; None as well
        when the joints differ in number or nothing moves.
    """
    if len(first.joints) != len(second.joints):
        return None
    if set(first.joints) == set(second.joints):
        second = second.joint_subset(first.joints)
    a, b = (recording.rows(main_motion_rows(recording)) for recording in (first, second))
    if not (np.ptp(a.q, axis=0).any() and np.ptp(b.q, axis=0).any()):
        return None
    # Squares that overflow fit nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        timed = min(_timed(a, b), key=lambda repeat: repeat.residual)
        if timed.residual <= SAME:
            return timed
        gain, residual = _fit(_path(a), _path(b))
    return Repeat(gain, np.nan, np.nan, 1.0, residual) if residual <= SAME else None


def _timed(a: Recording, b: Recording) -> Iterator[Repeat]:
    for pace in (1.0, a.duration / b.duration):
        interval = max(a.duration, pace * b.duration) / _REPEAT_SAMPLES
        yield from _shifted(_at(a, interval), _at(b, interval / pace), pace, interval)


def _shifted(a: Array, b: Array, pace: float, interval: float) -> Iterator[Repeat]:
    shorter = min(len(a), len(b))
    least = max(int(REPEAT_OVERLAP * shorter), 2)
    for shift in range(least - len(b), len(a) - least + 1):
        first, last = max(shift, 0), min(shift + len(b), len(a))
        gain, residual = _fit(a[first:last], b[first - shift : last - shift])
        yield Repeat(gain, pace, shift * interval, (last - first) / shorter, residual)


def _fit(a: Array, b: Array) -> tuple[float, float]:
    """The gain g > 0 of b = c + g a, and what is left of b relative to its spread."""
    x, y = a - a.mean(axis=0), b - b.mean(axis=0)
    xx, xy, yy = float((x * x).sum()), float((x * y).sum()), float((y * y).sum())
    if not (0.0 < xx < np.inf and 0.0 < yy < np.inf and xy > 0.0 and 0.0 < xx * yy < np.inf):
        return 0.0, 1.0
    return xy / xx, float(np.sqrt(max(1.0 - xy * xy / (xx * yy), 0.0)))


def _at(recording: Recording, interval: float) -> Array:
    """Positions at even times."""
    count = int(recording.duration / interval * (1.0 + 1e-9)) + 1
    t = recording.time[0] + interval * np.arange(count)
    return np.column_stack([np.interp(t, recording.time, x) for x in recording.q.T])


def _path(recording: Recording) -> Array:
    """Positions at even distances along the path, without regard to time."""
    q = _at(recording, recording.duration / _REPEAT_SAMPLES)
    lengths = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))))
    even = np.linspace(0.0, lengths[-1], len(q))
    return np.column_stack([np.interp(even, lengths, x) for x in q.T])
