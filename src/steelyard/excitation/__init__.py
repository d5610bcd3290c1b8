"""Excitation: the constrained design problem over a motion, and the search that solves it."""

from steelyard.excitation.columns import payload_columns, proximal_base, robot_columns
from steelyard.excitation.design import Design, design
from steelyard.excitation.families import fourier_family, home, spline_family
from steelyard.excitation.judgement import Judgement, SmallestMargins
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.search import Budget, Progress

__all__ = [
    "Budget",
    "Design",
    "DesignProblem",
    "Judgement",
    "Progress",
    "SmallestMargins",
    "design",
    "fourier_family",
    "home",
    "payload_columns",
    "proximal_base",
    "robot_columns",
    "spline_family",
]
