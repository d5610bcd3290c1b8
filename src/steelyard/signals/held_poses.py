"""Poses that were held: one sample each, for identification from statics."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import BoolArray
from steelyard.errors import RecordingError
from steelyard.recording import Recording
from steelyard.signals.rows import runs
from steelyard.signals.standstill import STANDING

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
