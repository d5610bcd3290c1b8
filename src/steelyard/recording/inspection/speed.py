"""How fast each joint moves, from the log's velocities or, without them, from its positions."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.recording.recording import Recording


def velocities(recording: Recording) -> Array:
    """Return the velocities of a recording.

    Args:
        recording: the recording.

    Returns:
        The logged velocities, or central differences of the positions, shape (N, nj), rad/s or m/s.
    """
    if recording.v is not None:
        return recording.v
    return np.asarray(np.gradient(recording.q, recording.time, axis=0))


def relative_speed(recording: Recording) -> Array:
    """Return how fast the fastest joint moves, each measured by its own usual top speed.

    Args:
        recording: the recording.

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
