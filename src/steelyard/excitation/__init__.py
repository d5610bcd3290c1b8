"""Excitation: the constrained design problem over a motion, and the search that solves it."""

from steelyard.excitation.added_motion import AddedMotion, added_motion
from steelyard.excitation.columns import payload_columns, proximal_base, robot_columns, unmodelled_friction
from steelyard.excitation.design import Design, design, judged_again
from steelyard.excitation.families import fourier_family, home, spline_family
from steelyard.excitation.judgement import SmallestMargins
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.search import Budget, Progress
from steelyard.excitation.torque_meter import TorqueMeter

__all__ = [
    "AddedMotion",
    "Budget",
    "Design",
    "DesignProblem",
    "Progress",
    "SmallestMargins",
    "TorqueMeter",
    "added_motion",
    "design",
    "fourier_family",
    "home",
    "judged_again",
    "payload_columns",
    "proximal_base",
    "robot_columns",
    "spline_family",
    "unmodelled_friction",
]
