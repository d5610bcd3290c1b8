"""Motions: joint references with exact derivatives in time and in coefficients, bounded at all times.

`motion` says what a motion is. Families: `fourier`, `random_fourier`, `spline`, `structured` (from `recipes`)
and the plans of `receding_horizon`. `bounds` are proven by `bernstein`; `conditions` are rest at the ends and
the like; `composition` and `time_scaling` make motions of motions; `files` reads and writes them;
`goal` is what a controller of ROS 2 takes.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.motion.bounds import between_samples, enclose, extent
    from steelyard.motion.composition import AnyMotion, SequenceMotion, in_sequence
    from steelyard.motion.conditions import LinearConditions, rest_conditions
    from steelyard.motion.files import (
        read_motion,
        sample_times,
        write_joint_trajectory,
        write_motion,
        write_samples,
    )
    from steelyard.motion.fourier import FourierMotion, SinusoidMotion
    from steelyard.motion.goal import ACTION_NAME, MotionDeviation, TrajectoryGoal, trajectory_goal
    from steelyard.motion.motion import Basis, LinearMotion, Motion, MotionSample, SmoothMotion
    from steelyard.motion.random_fourier import UNLIMITED_SLIDE, UNLIMITED_TURN, random_fourier
    from steelyard.motion.receding_horizon import RecedingPlan, RecedingPlans
    from steelyard.motion.recipes import Recipe, structured_recipes
    from steelyard.motion.spline import SplineMotion, bezier, pick_and_place, quintic
    from steelyard.motion.structured import structured_motions
    from steelyard.motion.time_scaling import (
        largest_jerk,
        slowdown_within,
        slowdown_within_jerk,
        slowed,
        slowed_within_jerk,
    )

__all__ = [
    "ACTION_NAME",
    "UNLIMITED_SLIDE",
    "UNLIMITED_TURN",
    "AnyMotion",
    "Basis",
    "FourierMotion",
    "LinearConditions",
    "LinearMotion",
    "Motion",
    "MotionDeviation",
    "MotionSample",
    "RecedingPlan",
    "RecedingPlans",
    "Recipe",
    "SequenceMotion",
    "SinusoidMotion",
    "SmoothMotion",
    "SplineMotion",
    "TrajectoryGoal",
    "between_samples",
    "bezier",
    "enclose",
    "extent",
    "in_sequence",
    "largest_jerk",
    "pick_and_place",
    "quintic",
    "random_fourier",
    "read_motion",
    "rest_conditions",
    "sample_times",
    "slowdown_within",
    "slowdown_within_jerk",
    "slowed",
    "slowed_within_jerk",
    "structured_motions",
    "structured_recipes",
    "trajectory_goal",
    "write_joint_trajectory",
    "write_motion",
    "write_samples",
]

open_door(__name__)
