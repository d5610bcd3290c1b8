"""The ROBOT argument and its options, the same for every command."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.zoo import find_robot

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A zoo name, or the path of a URDF file.", show_default=False)
]
GravityOption = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y,Z|none",
        help="Free fall in the base frame, m/s² (as described: 0,0,-9.81).",
        show_default=False,
    ),
]


def given_robot(robot: str, gravity: str | None) -> Robot:
    """Turn the argument and its options into a robot."""
    found = find_robot(robot)
    return found if gravity is None else found.with_gravity(_vector(gravity))


def _vector(text: str) -> list[float]:
    if text == "none":
        return [0.0, 0.0, 0.0]
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 3:
        raise InputError(
            f"expected three numbers or 'none', got '{text}'.", place="--gravity", remedy="Write 0,0,-9.81."
        )
    return values
