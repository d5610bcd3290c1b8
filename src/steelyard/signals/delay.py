"""A signal that came late, moved back in time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import make_interp_spline

from steelyard.errors import RecordingError
from steelyard.recording import Recording
from steelyard.signals.columns import present


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
