"""Which samples to keep: standing still, turning, at a limit; what is removed is named by its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, checked
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording

# Rows removed from a recording, named by their times


def with_rows(
    recording: Recording,
    rows: BoolArray,
    action: str = "with_rows",
    detail: Mapping[str, object] | None = None,
) -> Recording:
    """Keep chosen samples; the history names how many and which intervals were removed.

    Args:
        recording: the recording.
        rows: which samples stay, shape (N,), dimensionless.
        action: name of the step in the history.
        detail: what else the step says.

    Returns:
        The recording of the samples left.

    Raises:
        RecordingError: fewer than two are left.
    """
    keep = np.asarray(rows)
    if keep.shape != (recording.n,) or keep.dtype != np.bool_:
        raise InputError(f"must be {recording.n} answers of yes or no.", place="rows")
    if keep.sum() < 2:
        raise RecordingError(f"{int(keep.sum())} of {recording.n} samples are left.", place=action)
    t = recording.time
    removed = [[float(t[start]), float(t[stop - 1])] for start, stop in runs(~keep)]
    said = {**(detail or {}), "samples_removed": int((~keep).sum()), "intervals_removed": removed}
    fields: dict[str, object] = {name: value[keep] for name, value in recording.channels.items()}
    fields["extra"] = {name: column[keep] for name, column in recording.extra.items()}
    return recording.revised(action, said, time=t[keep], **fields)


def runs(rows: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield first row and row after the last of each stretch of True.

    Args:
        rows: answers, shape (N,), dimensionless.

    Yields:
        The stretches, in order.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], rows, [False])).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        yield int(start), int(stop)


# Where the joints stand: samples near zero velocity, pauses, the approach before the main motion.

STANDING = 0.01
"""Speed below which a joint is taken to stand, rad/s or m/s."""


def is_moving(recording: Recording, threshold: ArrayLike) -> BoolArray:
    r"""Say of each sample and joint whether $|v|$ exceeds a threshold.

    As weights of the equations this drops a joint's own equation where its friction is undefined, and keeps
    those of the others.

    Args:
        recording: a recording with velocities.
        threshold: one for all or one for each joint, shape () or (nj,), rad/s or m/s.

    Returns:
        The answers, shape (N, nj), dimensionless.

    Raises:
        RecordingError: there are no velocities.
        InputError: a threshold is negative, or there are not as many as joints.
    """
    if recording.v is None:
        raise RecordingError(
            "there are no velocities.", place="v", remedy="Differentiate the positions first."
        )
    limit = np.asarray(threshold, dtype=np.float64)
    if limit.shape not in ((), (len(recording.joints),)) or not (limit >= 0.0).all():
        raise InputError(f"must be one number or {len(recording.joints)}, none negative.", place="threshold")
    moving: BoolArray = np.abs(recording.v) > limit
    return moving


def main_motion(recording: Recording, threshold: ArrayLike, rest: float = 0.2) -> Recording:
    """Cut the approach phase and the rest around it: keep the longest stretch without a pause.

    A pause is a time in which no joint moves; those shorter than `rest` are turning points within a motion.

    Args:
        recording: a recording with velocities.
        threshold: speed below which a joint stands, shape () or (nj,), rad/s or m/s.
        rest: shortest pause that separates two motions, s.

    Returns:
        The recording of the longest motion.

    Raises:
        RecordingError: no joint moves.
    """
    t, moving = recording.time, np.any(is_moving(recording, threshold), axis=1)
    stretches = list(runs(moving))
    if not stretches:
        raise RecordingError("no joint moves faster than the threshold.", place="main_motion")
    joined = [stretches[0]]
    for start, stop in stretches[1:]:
        if t[start] - t[joined[-1][1] - 1] < rest:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    first, last = max(joined, key=lambda run: t[run[1] - 1] - t[run[0]])
    rows = np.zeros(recording.n, dtype=np.bool_)
    rows[first:last] = True
    detail = {"threshold": _listed(threshold), "rest": rest, "motions_found": len(joined)}
    return with_rows(recording, rows, "main_motion", detail)


def _listed(threshold: ArrayLike) -> object:
    values: Array = np.asarray(threshold, dtype=np.float64)
    return values.tolist()


# Rows in which a joint turns: dry friction jumps there, and a prepared log has lost the jump.

TURNING = 3
"""Samples before and after a turn that are affected: the reach of the filter that thins a torque."""
LEAST_LEFT = 0.5
"""Share of the samples that must be left for any to be removed."""


def is_turning(v: Array, samples: int = TURNING) -> BoolArray:
    """Say of each sample and joint whether the joint turns nearby.

    It turns where its velocity changes sign between motions in opposite directions. Where it moves on in the
    same direction it only stood, and signs are noise.

    Args:
        v: velocities of consecutive samples, shape (N, nv), rad/s or m/s.
        samples: how far from a turn is near.

    Returns:
        The answers, shape (N, nv), dimensionless.
    """
    moving = np.where(np.abs(checked("v", v, ("N", "nv"))) > STANDING, np.sign(v), 0.0)
    before, after = _carried(moving), _carried(moving[::-1])[::-1]
    turns = np.zeros(moving.shape, dtype=np.bool_)
    turns[1:] = (np.sign(v[1:]) != np.sign(v[:-1])) & (before[:-1] * after[1:] < 0.0)
    near = turns.copy()
    # The first sample of the new direction is the turn; the jump lies between it and the one before.
    for k in range(1, min(samples, len(turns))):
        near[k:] |= turns[:-k]
    for k in range(1, min(samples + 1, len(turns))):
        near[:-k] |= turns[k:]
    return near


def without_turning(recording: Recording, samples: int = TURNING) -> Recording:
    """Remove the samples near which a joint turns.

    A joint sticks for a moment where it turns, the sign of a filtered velocity changes a little early or
    late, and a torque that was thinned has lost its jump. Least squares takes all three for less dry and more
    viscous friction. In logs of a few seconds this bias exceeds the deviation that noise leaves.

    Args:
        recording: a recording with velocities.
        samples: how far from a turn samples are removed.

    Returns:
        The recording without these samples; all of it where less than half would be left, as its history
        tells.

    Raises:
        RecordingError: there are no velocities.
    """
    if recording.v is None:
        raise RecordingError("has no v.", place="recording", remedy="Differentiate it first.")
    rows: BoolArray = ~np.any(is_turning(recording.v, samples), axis=1)
    detail = {"samples": samples, "share_left": float(rows.mean())}
    if rows.mean() < LEAST_LEFT:
        return recording.revised("without_turning", {**detail, "removed": False})
    return with_rows(recording, rows, "without_turning", {**detail, "removed": True})


def _carried(moving: Array) -> Array:
    """The direction in which each joint moved last; zero before it first moves, shape (N, nv)."""
    last = np.maximum.accumulate(np.where(moving != 0.0, np.arange(len(moving))[:, None], 0), axis=0)
    return np.take_along_axis(moving, last, axis=0)


# Stretches of a log in which a drive stood at its limit: marked in its history, and left out of a fit.
#
# They are marked where the log is made ready and left out last: alignment and filters need even samples.

ACTION = "drive at its limit"


def marked_limited(recording: Recording, stretches: Sequence[tuple[float, float]]) -> Recording:
    """State in a recording's history when a drive was at its limit.

    Args:
        recording: the recording, on the clock of the stretches.
        stretches: first and last time of each, s.

    Returns:
        The same recording with that step.
    """
    return recording.revised(ACTION, {"stretches": [list(ends) for ends in stretches]})


def is_limited(recording: Recording, time: Array) -> BoolArray:
    """Say of each instant whether a drive was at its limit at it or within three samples of it.

    Args:
        recording: a recording with its history.
        time: instants on its clock, shape (N,), s.

    Returns:
        The answers, shape (N,), dimensionless; all no where the history marks nothing.
    """
    t = checked("time", time, ("N",))
    found = np.zeros(len(t), dtype=np.bool_)
    # The filter that thins a torque reaches this far beyond what happened.
    near = TURNING * float(np.median(np.diff(recording.time)))
    for step in recording.provenance:
        if step.action != ACTION:
            continue
        stretches = step.detail["stretches"]
        assert isinstance(stretches, list | tuple)
        for first, last in stretches:
            found |= (t >= first - near) & (t <= last + near)
    return found


def without_limited(recording: Recording) -> Recording:
    """Remove the samples at which a drive was at its limit.

    Args:
        recording: a recording that was made ready.

    Returns:
        The recording without them; unchanged where its history marks none.

    Raises:
        RecordingError: fewer than two samples are left.
    """
    rows = ~is_limited(recording, recording.time)
    return recording if rows.all() else with_rows(recording, rows, "without_limited")


# Poses that were held: one sample each, for identification from statics.

SHORTEST = 0.2
"""Shortest time a pose is held, s."""


def held_poses(recording: Recording, threshold: float = STANDING, shortest: float = SHORTEST) -> Recording:
    """Average each stretch in which no joint moves into one sample, at rest.

    A log without velocities in which every row is another pose is a table of held poses already, and is
    taken as such; its history says which of the two it was.

    Args:
        recording: positions with torques or currents.
        threshold: speed below which a joint stands, rad/s or m/s.
        shortest: shortest time a pose is held, s.

    Returns:
        One sample for each pose, at the middle of its time, with zero velocity and acceleration.

    Raises:
        RecordingError: no pose is held.
    """
    t = recording.time
    v = recording.v if recording.v is not None else np.gradient(recording.q, t, axis=0)
    still: BoolArray = np.all(np.abs(v) < threshold, axis=1)
    if recording.v is None and not still.any() and float(np.diff(t).min()) >= shortest:
        stretches = [(k, k + 1) for k in range(recording.n)]
        source = "every row is a pose"
    else:
        stretches = [(a, b) for a, b in runs(still) if t[b - 1] - t[a] >= shortest]
        source = "stretches without motion"
    if len(stretches) < 2:
        raise RecordingError(
            f"{len(stretches)} poses are held for {shortest:g} s.",
            place="held_poses",
            remedy="Hold several poses, each for a second, or identify from motion.",
        )
    mean = {
        name: np.array([values[a:b].mean(axis=0) for a, b in stretches])
        for name, values in recording.channels.items()
        if name in ("q", "tau", "current")
    }
    rest = np.zeros_like(mean["q"])
    removed = dict.fromkeys(("q_ref", "v_ref", "a_ref"))
    return recording.revised(
        "held_poses",
        {"threshold": threshold, "shortest": shortest, "poses": len(stretches), "source": source},
        time=np.array([0.5 * (t[a] + t[b - 1]) for a, b in stretches]),
        **mean,
        **removed,
        v=rest,
        a=rest,
        extra={},
    )
