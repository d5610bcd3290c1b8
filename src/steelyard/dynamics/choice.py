"""Which code answers: the generic kernels, or straight-line code made for the robot."""

from __future__ import annotations

from steelyard.errors import UnknownNameError
from steelyard.robot import Robot

CODES = ("auto", "generic", "straight-line")
"""The codes to choose from."""
STRAIGHT_LINE_FROM = 5000
"""Samples from which `auto` uses code made for the robot, which takes a few seconds once per robot."""


def wants_straight_line(code: str, robot: Robot, samples: int) -> bool:
    """Whether to use straight-line code.

    Args:
        code: one of `CODES`.
        robot: the robot.
        samples: how many samples will be computed.

    Returns:
        True when it was asked for, or when the batch is long and the robot small enough.

    Raises:
        UnknownNameError: no such code.
    """
    if code not in CODES:
        raise UnknownNameError("code", code, CODES)
    if code == "auto" and samples >= STRAIGHT_LINE_FROM:
        # The generator takes a moment to load, which short batches are spared.
        from steelyard.dynamics.straight_line import straight_line_pays

        return straight_line_pays(robot)
    return code == "straight-line"
