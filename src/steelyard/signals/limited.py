"""Stretches of a log in which a drive stood at its limit: marked in its history, and left out of a fit.

They are marked where the log is made ready and left out last: alignment and filters need even samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array, BoolArray, checked
from steelyard.recording import Recording
from steelyard.signals.rows import with_rows
from steelyard.signals.turning import TURNING

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
