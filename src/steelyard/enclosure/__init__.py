"""Bounds that hold over a whole stretch of time, rounding included: the torques of every motion in a set.

`forms` are numbers known up to shared unknowns, `arithmetic` computes with them, `bodies` moves links and
`torque` encloses joint torques.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
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

open_door(__name__)
