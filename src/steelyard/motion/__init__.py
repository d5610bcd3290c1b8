"""Motions: joint references with exact derivatives in time and in coefficients, bounded at all times."""

from steelyard.motion.basis import Basis, LinearMotion
from steelyard.motion.composition import AnyMotion, SequenceMotion, SumMotion, in_sequence
from steelyard.motion.conditions import LinearConditions, rest_conditions
from steelyard.motion.crane_x7 import crane_x7_motions
from steelyard.motion.enclosure import enclose
from steelyard.motion.extent import between_samples, extent
from steelyard.motion.files import read_motion, write_motion
from steelyard.motion.fourier import FourierMotion, fourier_basis
from steelyard.motion.jerk import largest_jerk, slowdown_within_jerk, slowed_within_jerk
from steelyard.motion.motion import Motion, MotionSample, SmoothMotion
from steelyard.motion.point_to_point import pick_and_place, quintic
from steelyard.motion.random_fourier import UNLIMITED_SLIDE, UNLIMITED_TURN, random_fourier
from steelyard.motion.receding import RecedingPlans
from steelyard.motion.receding_plan import RecedingPlan
from steelyard.motion.recipes import Recipe, paper_recipes
from steelyard.motion.rest import rest_to_rest
from steelyard.motion.sampled_files import sample_times, write_joint_trajectory, write_samples
from steelyard.motion.sinusoid import SinusoidMotion
from steelyard.motion.slowed import slowdown_within, slowed
from steelyard.motion.spline import SplineMotion, bezier
from steelyard.motion.structured import StructuredMotions, structured_motions

__all__ = [
    "UNLIMITED_SLIDE",
    "UNLIMITED_TURN",
    "AnyMotion",
    "Basis",
    "FourierMotion",
    "LinearConditions",
    "LinearMotion",
    "Motion",
    "MotionSample",
    "RecedingPlan",
    "RecedingPlans",
    "Recipe",
    "SequenceMotion",
    "SinusoidMotion",
    "SmoothMotion",
    "SplineMotion",
    "StructuredMotions",
    "SumMotion",
    "between_samples",
    "bezier",
    "crane_x7_motions",
    "enclose",
    "extent",
    "fourier_basis",
    "in_sequence",
    "largest_jerk",
    "paper_recipes",
    "pick_and_place",
    "quintic",
    "random_fourier",
    "read_motion",
    "rest_conditions",
    "rest_to_rest",
    "sample_times",
    "slowdown_within",
    "slowdown_within_jerk",
    "slowed",
    "slowed_within_jerk",
    "structured_motions",
    "write_joint_trajectory",
    "write_motion",
    "write_samples",
]
