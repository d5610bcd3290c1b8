"""The floor a robot stands on, which hardly any description states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box, Robot

FLOOR = "floor"
"""Its name among the obstacles."""
_WIDE, _THICK = 100.0, 1.0
"""Edges of the box that stands for it, m: no arm reaches its sides."""
_UPRIGHT = np.cos(np.radians(2.0))


def stands_upright(robot: Robot) -> bool:
    """Whether gravity pulls along the negative z axis of the base, to two degrees.

    Only then is the floor likely to be where the base frame is: an arm that hangs from a ceiling or a wall
    has it somewhere else.

    Args:
        robot: the robot.

    Returns:
        The answer; False without gravity.
    """
    g = float(np.linalg.norm(robot.gravity))
    return g > 0.0 and float(-robot.gravity[2]) >= _UPRIGHT * g


@dataclass(frozen=True, eq=False)
class Floor:
    """What a robot stands on.

    Attributes:
        obstacle: the floor, as a box that reaches farther than any arm.
        assumed: whether nobody said where it is: then a robot that starts in it shows that it is elsewhere.
    """

    obstacle: Obstacle
    assumed: bool = False


def floor_of(robot: Robot, height: float = 0.0, *, assumed: bool = False) -> Floor:
    """A level floor below a robot.

    Args:
        robot: the robot, whose gravity says what is level.
        height: of the floor above the origin of the base frame, m; negative where the robot stands on
            something.
        assumed: whether nobody said so.

    Returns:
        The floor.

    Raises:
        InputError: the height is not finite, or there is no gravity.
    """
    g = float(np.linalg.norm(robot.gravity))
    if not np.isfinite(height):
        raise InputError(f"must be finite, got {height:g} m.", place=FLOOR)
    if g == 0.0:
        raise InputError("without gravity nothing says where down is.", place=FLOOR, remedy="Leave it out.")
    up = -robot.gravity / g
    centre = (height - 0.5 * _THICK) * up
    return Floor(Obstacle(FLOOR, Box(_WIDE, _WIDE, _THICK), Pose(_level(up), centre)), assumed)


def _level(up: Array) -> Array:
    """A rotation whose third column is a unit vector, shape (3, 3)."""
    aside = np.eye(3)[int(np.argmin(np.abs(up)))]
    x = np.cross(aside, up)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(up, x), up])
