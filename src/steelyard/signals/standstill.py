"""Where the joints stand: samples near zero velocity, pauses, the approach before the main motion."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals.rows import runs, with_rows

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


def without_standstill(
    recording: Recording, threshold: ArrayLike, moving: Literal["every", "any"] = "every"
) -> Recording:
    """Remove samples near zero velocity, where the sign of friction is not known.

    The samples left are not neighbours in time any more: filter and differentiate before, not after.

    Args:
        recording: a recording with velocities.
        threshold: one for all or one for each joint, shape () or (nj,), rad/s or m/s.
        moving: keep samples where `every` joint moves, or where `any` does.

    Returns:
        The recording of the samples left; its history names the intervals removed.
    """
    rows, detail = _moving_rows(recording, threshold, moving)
    return with_rows(recording, rows, "without_standstill", detail)


def moving_segments(
    recording: Recording, threshold: ArrayLike, moving: Literal["every", "any"] = "every"
) -> tuple[Recording, ...]:
    """Return each stretch between standstills as a recording of its own, for steps that need neighbours.

    Args:
        recording: a recording with velocities.
        threshold: one for all or one for each joint, shape () or (nj,), rad/s or m/s.
        moving: whether `every` joint moves in a stretch, or `any` of them.

    Returns:
        The stretches of at least two samples, in order.
    """
    rows, detail = _moving_rows(recording, threshold, moving)
    stretches = [(start, stop) for start, stop in runs(rows) if stop - start >= 2]
    return tuple(
        recording.rows(slice(start, stop)).revised(
            "moving_segments", {**detail, "segment": number, "of": len(stretches)}
        )
        for number, (start, stop) in enumerate(stretches, 1)
    )


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


def _moving_rows(
    recording: Recording, threshold: ArrayLike, moving: str
) -> tuple[BoolArray, dict[str, object]]:
    if moving not in ("every", "any"):
        raise UnknownNameError("choice of moving joints", moving, ("every", "any"))
    each = is_moving(recording, threshold)
    rows: BoolArray = np.all(each, axis=1) if moving == "every" else np.any(each, axis=1)
    return rows, {"threshold": _listed(threshold), "moving": moving}


def _listed(threshold: ArrayLike) -> object:
    values: Array = np.asarray(threshold, dtype=np.float64)
    return values.tolist()
