"""The ROBOT argument and its options, the same for every command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.workflows.given import given_robot, lock_positions

__all__ = ["given_robot", "lock_positions"]

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
