"""Defects of a recording that its numbers reveal, and whether two recordings show the same motion."""

from steelyard.recording.inspection.inspect import inspect_recording, saturated
from steelyard.recording.inspection.phases import main_motion_rows, same_motion

__all__ = [
    "inspect_recording",
    "main_motion_rows",
    "same_motion",
    "saturated",
]
