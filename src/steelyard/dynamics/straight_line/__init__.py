"""Straight-line code generated per robot: forward dynamics and its linearisation without a loop."""

from steelyard.dynamics.straight_line.adjoint import straight_line_adjoint
from steelyard.dynamics.straight_line.carried import carried_parameters
from steelyard.dynamics.straight_line.choice import LARGEST, straight_line_code, straight_line_pays
from steelyard.dynamics.straight_line.code import StraightLineCode
from steelyard.dynamics.straight_line.machine_code import LANES
from steelyard.dynamics.straight_line.regressor import straight_line_regressor
from steelyard.dynamics.straight_line.store import call, specialise

__all__ = [
    "LANES",
    "LARGEST",
    "StraightLineCode",
    "call",
    "carried_parameters",
    "specialise",
    "straight_line_adjoint",
    "straight_line_code",
    "straight_line_pays",
    "straight_line_regressor",
]
