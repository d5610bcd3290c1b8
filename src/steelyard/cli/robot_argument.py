"""The ROBOT argument and its options, the same for every command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from steelyard.errors import InputError
from steelyard.robot import Robot, StatedLimits
from steelyard.zoo import find_robot

RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT", help="A zoo name, or the path of a URDF, xacro or MJCF file.", show_default=False
    ),
]
GravityOption = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y,Z|none",
        help="Free fall in the base frame, m/s² (as described: 0,0,-9.81).",
        show_default=False,
    ),
]
LockOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JOINT=Q",
        help="Hold a joint still at a position, rad or m; may be repeated.",
        show_default=False,
    ),
]
ArgumentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="NAME=VALUE",
        help="Value of a xacro argument; may be repeated.",
        show_default=False,
    ),
]
ToolFrameOption = Annotated[
    str | None,
    typer.Option(
        metavar="LINK",
        help="Link whose frame is the tool's (default: the end of the longest chain).",
        show_default=False,
    ),
]
FloorOption = Annotated[
    str,
    typer.Option(
        metavar="base|none|HEIGHT",
        help="Where the floor is: level with the base frame, nowhere, or so many m above that (negative: "
        "below).",
    ),
]
ToolOption = Annotated[
    Path | None,
    typer.Option(
        metavar="MESH|none",
        help="Shape of tool and load, in the tool frame, m; none where they add no shape.",
        show_default=False,
    ),
]
LimitsOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Limits of the joints beside the description (TOML, JSON, or joint_limits.yaml of ROS).",
        show_default=False,
    ),
]
VelocityOption = Annotated[
    str | None,
    typer.Option(
        metavar="V|V,…|J=V,…",
        help="Largest speed of the joints, rad/s or m/s.",
        show_default="the description's",
    ),
]
AccelerationOption = Annotated[
    str | None,
    typer.Option(
        metavar="A|A,…|J=A,…",
        help="Largest acceleration of the joints, rad/s² or m/s².",
        show_default="the description's",
    ),
]
JerkOption = Annotated[
    str | None,
    typer.Option(
        metavar="J|J,…|NAME=J,…",
        help="Largest jerk of the joints, rad/s³ or m/s³; the motion is slowed until it keeps it.",
        show_default="the limits file's",
    ),
]
TorqueOption = Annotated[
    str | None,
    typer.Option(
        metavar="T|T,…|J=T,…",
        help="Largest torque or force of the joints, N·m or N.",
        show_default="the description's",
    ),
]


def given_robot(
    robot: str,
    gravity: str | None = None,
    lock: Sequence[str] | None = None,
    tool_frame: str | None = None,
    *,
    arguments: Sequence[str] | None = None,
    snap: bool = True,
    floating: bool = False,
    stated: StatedLimits | None = None,
) -> Robot:
    """Turn the argument and its options into a robot; rounded angles are read as meant unless told not to."""
    found = find_robot(robot, snap=snap, arguments=_arguments(arguments or ()), floating=floating)
    if gravity is not None:
        found = found.with_gravity(_gravity(gravity))
    if tool_frame is not None:
        found = found.with_tool_frame(tool_frame)
    if lock:
        found = found.locked(lock_positions(lock))
    return found if stated is None else stated.limited(found)


def _arguments(given: Sequence[str]) -> dict[str, str]:
    """Values of xacro arguments by name."""
    values: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(
                f"expected a name and a value, got '{text}'.", place="--arg", remedy="Write name=value."
            )
        values[name] = value
    return values


def _gravity(text: str) -> list[float]:
    if text == "none":
        return [0.0, 0.0, 0.0]
    values = _numbers(text)
    if len(values) != 3:
        raise InputError(
            f"expected three numbers or 'none', got '{text}'.", place="--gravity", remedy="Write 0,0,-9.81."
        )
    return values


def lock_positions(locks: Sequence[str]) -> dict[str, float | list[float]]:
    """Positions by joint: one number each, or seven where a joint floats."""
    positions: dict[str, float | list[float]] = {}
    for text in locks:
        joint, _, number = text.rpartition("=")
        values = _numbers(number)
        if not joint or not values:
            raise InputError(
                f"expected a joint and its position, got '{text}'.",
                place="--lock",
                remedy="Write joint=0.5, in rad or m.",
            )
        if joint in positions:
            raise InputError(f"joint '{joint}' is locked twice.", place="--lock", remedy="Lock it once.")
        positions[joint] = values[0] if len(values) == 1 else values
    return positions


def _numbers(text: str) -> list[float]:
    """Numbers between commas; none at all where one of them is not a number."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        return []
