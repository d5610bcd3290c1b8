"""Straight-line code generated per robot: forward dynamics and its linearisation without a loop."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.dynamics.straight_line.code import StraightLineCode, straight_line_code, straight_line_pays
    from steelyard.dynamics.straight_line.machine_code import LANES
    from steelyard.dynamics.straight_line.specialise import call, specialise

__all__ = [
    "LANES",
    "StraightLineCode",
    "call",
    "specialise",
    "straight_line_code",
    "straight_line_pays",
]

open_door(__name__)
