"""What may be asked: the parameters of this robot, in which its torques are linear."""

from __future__ import annotations

from steelyard.dynamics.batch import belongs
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot


def check_question(robot: Robot, layout: Layout) -> None:
    """Refuse a question that has no linear answer.

    Args:
        robot: the robot.
        layout: the parameters asked about.

    Raises:
        InputError: the layout is another robot's, or has friction that grows with the load.
    """
    belongs(robot, layout)
    if "load" in layout.drive:
        raise InputError(
            "friction that grows with the load is not linear in the parameters.",
            place="layout",
            remedy="Leave out 'load'.",
        )
