"""The options of every command that reads logs."""

from __future__ import annotations

from typing import Annotated

import typer

TorqueConstantOption = Annotated[
    str | None,
    typer.Option(metavar="K,…", help="Torque per current at each joint, N·m/A.", show_default=False),
]
TorqueConstantErrorOption = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE[,…]",
        help="Relative standard deviation of the torque constants, one for all joints or one each.",
        show_default="0.10 with --torque-constant, else 0",
    ),
]
ColumnsOption = Annotated[
    str | None, typer.Option(metavar="MAP", help="Names of the logs' columns.", show_default=False)
]
TopicOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Topic of joint states in the logs that are ROS 2 bags.",
        show_default="the only one",
    ),
]
CutoffOption = Annotated[
    float | None,
    typer.Option(metavar="HZ", help="Cut-off of the low-pass filter.", show_default="from the spectrum"),
]
