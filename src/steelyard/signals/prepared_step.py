"""The step that `prepared` leaves in a recording's history, for those who come later."""

from __future__ import annotations

from typing import Literal

from steelyard.recording import Recording

ACTION = "prepared"


def marked(recording: Recording, cutoff: float, period: float | None) -> Recording:
    """State the band of a recording and its period in its history.

    Args:
        recording: a recording whose motion passed a low-pass.
        cutoff: the cut-off, Hz.
        period: time after which the motion repeats, s; None where it does not.

    Returns:
        The same recording with that step.
    """
    return recording.revised(ACTION, {"cutoff": cutoff, "period": period})


def stated(recording: Recording, what: Literal["cutoff", "period"]) -> float | None:
    """Return what the last such step states.

    Args:
        recording: any recording.
        what: `cutoff` in Hz, or `period` in s.

    Returns:
        The number; None where the history has no such step, or the step no such number.
    """
    values = [step.detail[what] for step in recording.provenance if step.action == ACTION]
    return values[-1] if values and isinstance(values[-1], float) else None
