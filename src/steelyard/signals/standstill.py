"""Where the joints stand: samples near zero velocity, pauses, the approach before the main motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray
from steelyard.errors import InputError, RecordingError
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
