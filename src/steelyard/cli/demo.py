"""`steelyard demo`: the whole line on a simulated arm."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.output import JsonOption, announce_compilation, listening, print_json
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    GravityOption,
    LimitsOption,
    LockOption,
    ToolFrameOption,
    TorqueOption,
    VelocityOption,
    given_robot,
)
from steelyard.errors import InputError
from steelyard.files import require_writable
from steelyard.progress import heard_by
from steelyard.robot import StatedLimits


def demo(
    robot: Annotated[
        str, typer.Option(help="A zoo name, or the path of a URDF, xacro or MJCF file.")
    ] = "panda",
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the random motions.", min=0)] = 1,
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
    """Design a motion, run it on a simulated arm with noisy sensors, identify it, and weigh what it holds."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file, not a folder.", place=str(out))
    require_writable(out)
    stated = StatedLimits(limits=limits, velocity=velocity, acceleration=acceleration, torque=torque)
    found = given_robot(robot, gravity, lock, tool_frame, arguments=argument, stated=stated)
    # Simulator and kernels take a second to load; a wrong argument is answered before that.
    from steelyard.cli.demo_line import OBJECT, RESULT, document, print_run, run_line
    from steelyard.cli.identify_request import Request
    from steelyard.export import require_free

    for folder in (RESULT, OBJECT):
        require_free(out / folder, force=True)
    announce_compilation("demo")
    started = time.perf_counter()
    asked = Request(
        robot=robot,
        logs=(),
        gravity=gravity,
        lock=tuple(lock or ()),
        arguments=tuple(argument or ()),
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
    with listening() as progress, heard_by(progress):
        run = run_line(found, seed, out, asked, tool_frame)
    told = document(run, time.perf_counter() - started)
    if json:
        print_json(told)
    else:
        print_run(run, told)
    if told["verdict"] == "fail":
        raise typer.Exit(1)
