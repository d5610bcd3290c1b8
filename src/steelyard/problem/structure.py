"""What can be known of a robot, found once for all problems that are posed about it."""

from __future__ import annotations

from functools import lru_cache

from steelyard.identifiability import Identifiability, structural_identifiability
from steelyard.layout import Layout
from steelyard.robot import Robot


@lru_cache(maxsize=8)
def structure_of(robot: Robot, layout: Layout) -> Identifiability:
    """The answer of `structural_identifiability`, remembered.

    One identification poses several problems: to choose a cut-off, with and without load friction, once more
    when the shapes of friction are known. They ask the same of the robot.

    Args:
        robot: the robot.
        layout: its parameters.

    Returns:
        What torques could say about them.
    """
    return structural_identifiability(robot, layout)
