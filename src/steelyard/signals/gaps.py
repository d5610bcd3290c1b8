"""Where time is missing: logs are split there, never bridged silently."""

from __future__ import annotations

import numpy as np

from steelyard.errors import RecordingError
from steelyard.recording import Recording
from steelyard.signals.sampling import GAP, Sampling, sampling_of


def split_at_gaps(recording: Recording, longest: float | None = None) -> tuple[Recording, ...]:
    """Split a recording where time is missing.

    Args:
        recording: any recording.
        longest: longest interval within a part, s; None for three median intervals.

    Returns:
        The parts with at least two samples, in order. Each says in its history which part of how many it is,
        how long the gap before it lasted, and how many lone samples were dropped in total.
    """
    steps = np.diff(recording.time)
    limit = GAP * float(np.median(steps)) if longest is None else longest
    cuts = np.flatnonzero(steps > limit) + 1
    bounds = list(zip([0, *cuts], [*cuts, recording.n], strict=True))
    kept = [(int(start), int(stop)) for start, stop in bounds if stop - start >= 2]
    if not kept:
        raise RecordingError(f"no two samples are closer than {limit:g} s.", place="split_at_gaps")
    parts = []
    for number, (start, stop) in enumerate(kept, 1):
        detail = {
            "part": number,
            "of": len(kept),
            "longest_interval": limit,
            "gap_before": float(steps[start - 1]) if start else None,
            "lone_samples_dropped": len(bounds) - len(kept),
        }
        parts.append(recording.rows(slice(start, stop)).revised("split_at_gaps", detail))
    return tuple(parts)


def sampling_without_gaps(recording: Recording, longest: float) -> Sampling:
    """Return how a recording's time runs after checking that no interval is too long.

    Args:
        recording: any recording.
        longest: longest interval, in median intervals.

    Returns:
        Its interval, jitter and gaps.

    Raises:
        RecordingError: an interval is longer; the message says where.
    """
    sampling = sampling_of(recording)
    limit = longest * float(np.median(np.diff(recording.time)))
    if sampling.longest > limit:
        worst = int(np.argmax(np.diff(recording.time)))
        raise RecordingError(
            f"no sample for {sampling.longest:.3g} s after t = {recording.time[worst]:.6g} s; "
            f"{limit:.3g} s are allowed.",
            place="time",
            remedy="Split the recording at its gaps, or allow longer ones where that is offered.",
            evidence={"sampling": sampling},
        )
    return sampling
