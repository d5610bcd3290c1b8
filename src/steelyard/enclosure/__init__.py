"""What cannot be left over a stretch of time: torques, proven, rounding included."""

from steelyard.enclosure.forms import (
    Curve,
    Forms,
    MotionForms,
    Tracking,
    motion_forms,
    untied_motion,
    untied_positions,
)
from steelyard.enclosure.torque import enclosed_torque, enclosed_torque_apart

__all__ = [
    "Curve",
    "Forms",
    "MotionForms",
    "Tracking",
    "enclosed_torque",
    "enclosed_torque_apart",
    "motion_forms",
    "untied_motion",
    "untied_positions",
]
