"""Rows in which a joint turns: dry friction jumps there, and a prepared log has lost the jump."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.errors import RecordingError
from steelyard.recording import Recording
from steelyard.signals.rows import with_rows
from steelyard.signals.standstill import STANDING

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
