"""Defects of a recording that its numbers reveal, and whether two recordings show the same motion."""

from steelyard.recording.inspection.inspect import inspect_recording
from steelyard.recording.inspection.phases import main_motion
from steelyard.recording.inspection.repeat import same_motion
from steelyard.recording.inspection.saturation import saturated

__all__ = [
    "inspect_recording",
    "main_motion",
    "same_motion",
    "saturated",
]
