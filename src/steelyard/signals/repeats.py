"""Whether a motion repeats, as far as its whole log could tell."""

from __future__ import annotations

from steelyard.errors import InputError
from steelyard.recording import Recording
from steelyard.signals.period import period_of
from steelyard.signals.prepared_step import stated


def repeats_after(recording: Recording) -> float | None:
    """Return the time after which a motion repeats.

    A log that was made ready states what was found before filters cut its ends, which may leave too little of
    the second period to see it; elsewhere the recording itself is looked at.

    Args:
        recording: a recording, uniform where it was not made ready.

    Returns:
        The period, s; None where nothing repeats.
    """
    known = stated(recording, "period")
    if known is not None:
        return known
    try:
        return period_of(recording)
    except InputError:
        return None
