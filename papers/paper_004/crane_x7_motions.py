"""The motions of Oaki et al. (2026) at the postures of their own arm, the CRANE-X7."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import read_only
from steelyard.errors import InputError
from steelyard.limits import MotionLimits
from steelyard.motion import Recipe, structured_motions
from steelyard.motion.structured import StructuredMotions

CRANE_X7_POSTURES = read_only(
    np.radians(
        [
            [0.0, 0.0, 0.0, -90.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, -150.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 60.0, 0.0, -150.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
)
"""Postures A, B and C of the paper's eight axes, the hand last, shape (3, 8), rad (Appendix B)."""
CRANE_X7_WRIST = 5
"""Joint 6 of the paper, counted from zero."""


def crane_x7_motions(
    limits: MotionLimits, *, recipes: tuple[Recipe, ...] | None = None, dwell: float = 0.0
) -> StructuredMotions:
    """PA01 to PA11, PB01 to PB11, PC01 to PC11, AP01 to AP05, AG01, AG02 and V01 to V03.

    Where the description is narrower than the paper's posture, the posture gives way. Joint 6 stops at 90
    degrees: the wrist variant stands a hundredth of the range before that, and joint 6 swings to one side
    of it. Joint 4 folds to 160.8 degrees, but with 150, as at postures B and C, capsules around forearm and
    upper arm all but touch: it unfolds until they are clear, and swings outwards.

    Args:
        limits: what every motion must respect, with a CRANE-X7.
        recipes: which motions; None for all 43.
        dwell: how long to rest at each waypoint, s.

    Returns:
        The motions.

    Raises:
        InputError: the robot has neither seven nor eight joints.
    """
    nv = limits.robot.nv
    if nv not in (7, 8):
        raise InputError(
            f"has {nv} joints, a CRANE-X7 has 7, or 8 with its hand.",
            place=f"robot '{limits.robot.name}'",
            remedy="For other arms give postures of their own.",
        )
    return structured_motions(
        limits, postures=CRANE_X7_POSTURES[:, :nv], wrist=CRANE_X7_WRIST, recipes=recipes, dwell=dwell
    )
