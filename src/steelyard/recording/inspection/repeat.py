"""Whether two recordings show the same motion, so that one of them is no test of the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Finding, Severity
from steelyard.recording.inspection.phases import main_motion
from steelyard.recording.recording import Recording

SAME = 0.15
"""Two motions are one when what is left of the second after the fit is this part of its spread or less."""
LEAST_OVERLAP = 0.5
_SAMPLES = 400
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

        Returns:
            The finding.
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
    a, b = (recording.rows(main_motion(recording)) for recording in (first, second))
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
        interval = max(a.duration, pace * b.duration) / _SAMPLES
        yield from _shifted(_at(a, interval), _at(b, interval / pace), pace, interval)


def _shifted(a: Array, b: Array, pace: float, interval: float) -> Iterator[Repeat]:
    shorter = min(len(a), len(b))
    least = max(int(LEAST_OVERLAP * shorter), 2)
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
    q = _at(recording, recording.duration / _SAMPLES)
    lengths = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))))
    even = np.linspace(0.0, lengths[-1], len(q))
    return np.column_stack([np.interp(even, lengths, x) for x in q.T])
