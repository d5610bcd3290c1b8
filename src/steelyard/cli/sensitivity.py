"""`steelyard sensitivity`: how noise, filters and motions change what a payload weighs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.destination import ForceOption
from steelyard.cli.output import JsonOption, announce_compilation, print_json
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    GravityOption,
    LimitsOption,
    LockOption,
    RobotArgument,
    ToolFrameOption,
    TorqueOption,
    VelocityOption,
)
from steelyard.cli.sensitivity_request import USUAL, SensitivityRequest, carry_out


def sensitivity(
    robot: RobotArgument,
    out: Annotated[Path, typer.Option(help="Folder for tables and page.", show_default=False)],
    payload: Annotated[
        Path | None,
        typer.Option(
            help="Body held at the tool frame (JSON).", show_default="the object of paper 001, Table 5.4"
        ),
    ] = None,
    motions: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Kinds of sinusoid, pick-and-place and excitation.",
            show_default=f"{USUAL}, as far as the robot reaches",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="q=…,v=…,tau=…;…",
            help="Standard deviations to add, rad, rad/s and N·m; several cases between semicolons.",
            show_default="q=0.01,v=0.01;tau=0.01;tau=0.1;q=1e-5,v=1e-5,tau=0.1",
        ),
    ] = None,
    filters: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Some of none, clean, butterworth, prepared, weighted and momentum.",
            show_default="all of them",
        ),
    ] = None,
    trials: Annotated[int, typer.Option(help="How often noise is drawn for each case.", min=1)] = 18,
    count: Annotated[int, typer.Option(help="Motions of each kind that are compared.", min=1)] = 10,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Samples per second.")] = 200.0,
    seed: Annotated[int, typer.Option(help="Seed of motions and noise.", min=0)] = 0,
    force: ForceOption = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    tool_frame: ToolFrameOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    json: JsonOption = False,
) -> None:
    """Add noise to runs of known torque, weigh the payload again and again, and tabulate the errors."""
    from steelyard.cli.sensitivity_answer import answer, print_answer

    announce_compilation("sensitivity")
    started = time.perf_counter()
    request = SensitivityRequest(
        robot=robot,
        payload=None if payload is None else str(payload),
        motions=motions,
        noise=noise,
        filters=filters,
        trials=trials,
        count=count,
        rate=rate,
        seed=seed,
        gravity=gravity,
        lock=tuple(lock or ()),
        tool_frame=tool_frame,
        arguments=tuple(argument or ()),
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
    done, files = carry_out(request, out, force=force)
    document = answer(done, files, time.perf_counter() - started)
    if json:
        print_json(document)
    else:
        print_answer(done, document)
