"""All that a recording's own numbers reveal about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from steelyard.finding import Finding, Severity
from steelyard.recording.inspection.clock import clock_findings
from steelyard.recording.inspection.garbage import garbage_rows
from steelyard.recording.inspection.phases import phase_findings
from steelyard.recording.inspection.scale import scale_findings
from steelyard.recording.inspection.values import value_findings
from steelyard.recording.recording import Recording

LEAST = 10


def inspect_recording(recording: Recording) -> tuple[Finding, ...]:
    """Look for defects of a log that is well formed: nothing is changed, everything is said with its place.

    Args:
        recording: the recording, as read.

    Returns:
        Findings about garbage, clock, units, channels and phases; places name the file it came from, and rows
        count from 0 in the recording.
    """
    if recording.n < LEAST:
        few = Finding(Severity.WARNING, "too-short", f"{recording.n} samples are too few to be inspected.")
        return (few,)
    file = _file(recording)
    # Squares of numbers near the end of what doubles hold overflow; no measure below then finds anything.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return tuple(
            replace(finding, place=": ".join(part for part in (file, finding.place) if part))
            for finding in _findings(recording)
        )


def _findings(recording: Recording) -> Iterator[Finding]:
    garbage = np.flatnonzero(garbage_rows(recording.time, recording.channels))
    for row in garbage:
        message = "holds numbers that do not follow from the rows around it."
        yield Finding(Severity.ERROR, "garbage-row", message, f"row {row}")
    if len(garbage):
        # Numbers that cannot have been measured would spoil every measure below.
        return
    yield from clock_findings(recording)
    yield from scale_findings(recording)
    yield from value_findings(recording)
    yield from phase_findings(recording)


def _file(recording: Recording) -> str:
    files = [str(step.detail.get("file", "")) for step in recording.provenance if step.action == "read"]
    return files[-1] if files else ""
