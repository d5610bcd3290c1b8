"""Signals brought together in time: by a delay, or by dynamic time warping."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals.sampling import all_mapped, present, uniform_interval

# A signal that came late, moved back in time.


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


# Dynamic time warping: two runs of one motion brought to the same positions (Lambert 2023, section 4.2.1).

SOURCE_TIME = "source_time"
"""Extra column of an aligned recording: when its samples happened in the run they come from, s."""


def aligned(recording: Recording, reference: Recording, band: float = 0.5) -> Recording:
    r"""Bring a run to the positions of a reference run: its samples at warped times, on the reference's time.

    The path through both runs with the least $\sum \|S^{-1}(q(t_i) - q'(s_j))\|^2$ is found first, S being
    the joints' standard deviations: monotone, from both beginnings to both ends, within a band about the
    diagonal. It gives each reference time $t_i$ a time $s_i$ of the run, which is then refined between
    samples by Gauss-Newton steps to the nearest position, by at most one sample, and kept monotone.

    Every channel is the run's own at $s_i$, interpolated. The chain rule is not applied to velocities and
    accelerations on purpose: at $s_i$ the robot had that velocity and needed that torque, so each row still
    obeys the equations of motion. A velocity rescaled by $ds/dt$ never occurred and belongs to no torque.

    Args:
        recording: the run to be warped, uniform.
        reference: the run whose positions and times are met, uniform, with the same joints.
        band: largest distance from the diagonal, as a time of the run, s.

    Returns:
        The warped run with as many samples as the reference; `source_time` says when each was measured.

    Raises:
        RecordingError: the joints differ.
        InputError: the band is narrower than a sample.
    """
    if recording.joints != reference.joints:
        raise RecordingError(
            f"has joints {', '.join(recording.joints)}, the reference {', '.join(reference.joints)}.",
            place="joints",
        )
    h = uniform_interval(recording)
    uniform_interval(reference)
    scale = reference.q.std(axis=0)
    moving = scale > 0.0
    if not moving.any():
        raise InputError("no joint of the reference moves.", place="reference")
    A, B = (x.q[:, moving] / scale[moving] for x in (reference, recording))
    pairs = warping_path(A, B, band / h)
    s = _refined(A, B, _mean_partner(pairs, len(A)))
    source = recording.time[0] + h * s
    degree = min(5, recording.n - 1)
    spline_time = recording.time[0] + h * np.arange(recording.n)
    fields = all_mapped(recording, lambda x: make_interp_spline(spline_time, x, k=degree)(source))
    extra = {**dict(fields.pop("extra")), SOURCE_TIME: source}  # type: ignore[call-overload]
    shift = source - source[0] - (reference.time - reference.time[0])
    detail = {
        "reference": reference.digest,
        "band": band,
        "largest_shift": float(np.abs(shift).max()),
        "largest_difference_before": _largest(reference.q, recording.q) if len(A) == len(B) else None,
        "largest_difference": _largest(reference.q, np.asarray(fields["q"])),
    }
    return recording.revised("aligned", detail, time=reference.time, extra=extra, **fields)


def warping_path(reference: Array, series: Array, band: float) -> IntArray:
    """Find the monotone path of least squared distance through two series (Sakoe and Chiba).

    Args:
        reference: shape (N, n), any unit, such as rad.
        series: shape (M, n), same unit.
        band: largest distance from the diagonal, in samples of `series`.

    Returns:
        Pairs of rows (i, j) from (0, 0) to (N - 1, M - 1), shape (K, 2), dimensionless.

    Raises:
        InputError: the band is narrower than the diagonal's own steps.
    """
    N, M = len(reference), len(series)
    slope = (M - 1) / (N - 1)
    half = math.floor(band)
    if half < math.ceil(slope):
        raise InputError(
            f"{band:.3g} samples are narrower than a step of the diagonal, {slope:.3g}.", place="band"
        )
    centre = np.rint(slope * np.arange(N)).astype(np.int64)
    moves = np.full((N, 2 * half + 1), -1, dtype=np.int8)
    _accumulate(np.ascontiguousarray(reference), np.ascontiguousarray(series), centre, half, moves)
    i, j, pairs = N - 1, M - 1, [(N - 1, M - 1)]
    while (i, j) != (0, 0):
        move = moves[i, j - centre[i] + half]
        i, j = i - (move != 1), j - (move != 0)
        pairs.append((i, j))
    return np.array(pairs[::-1], dtype=np.int64)


@kernel
def _accumulate(A: Array, B: Array, centre: IntArray, half: int, moves: NDArray[np.int8]) -> None:
    """Write where the best path to (i, j) came from: 0 from (i-1, j), 1 from (i, j-1), 2 from (i-1, j-1)."""
    N, M, n = len(A), len(B), A.shape[1]
    width = 2 * half + 1
    before, now = np.full(width, np.inf), np.full(width, np.inf)
    for i in range(N):
        shift = centre[i] - centre[i - 1] if i > 0 else 0
        for k in range(width):
            now[k] = np.inf
            j = centre[i] - half + k
            if j < 0 or j >= M:
                continue
            cost = 0.0
            for c in range(n):
                cost += (A[i, c] - B[j, c]) ** 2
            best, move = np.inf, -1
            if i == 0 and j == 0:
                best = 0.0
            # Diagonal first: of equal paths the one nearest to the diagonal is taken.
            if i > 0 and 0 <= k - 1 + shift < width and before[k - 1 + shift] < best:
                best, move = before[k - 1 + shift], 2
            if i > 0 and k + shift < width and before[k + shift] < best:
                best, move = before[k + shift], 0
            if k > 0 and now[k - 1] < best:
                best, move = now[k - 1], 1
            now[k] = best + cost
            moves[i, k] = move
        before, now = now, before


def _mean_partner(pairs: IntArray, n: int) -> Array:
    total = np.bincount(pairs[:, 0], weights=pairs[:, 1], minlength=n)
    mean: Array = total / np.bincount(pairs[:, 0], minlength=n)
    return mean


def _refined(A: Array, B: Array, s: Array) -> Array:
    spline = make_interp_spline(np.arange(float(len(B))), B, k=min(5, len(B) - 1))
    low, high = np.maximum(s - 1.0, 0.0), np.minimum(s + 1.0, len(B) - 1.0)
    for _ in range(3):
        slope = spline(s, nu=1)
        square = np.sum(slope**2, axis=1)
        step = np.sum((A - spline(s)) * slope, axis=1) / np.where(square > 0.0, square, np.inf)
        s = np.clip(s + step, low, high)
    return np.maximum.accumulate(s)


def _largest(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())
