"""`steelyard joints`: models of single joints by open-loop experiments, and the controller they give."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.destination import ForceOption
from steelyard.cli.joints_request import BANDWIDTH, MARGIN, TRAVEL, JointsRequest, carry_out
from steelyard.cli.log_options import ColumnsOption, TopicOption
from steelyard.cli.output import JsonOption, announce_compilation, complain, print_json
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    GravityOption,
    LimitsOption,
    LockOption,
    RobotArgument,
    TorqueOption,
    VelocityOption,
)


def joints(
    robot: RobotArgument,
    out: Annotated[Path, typer.Option(help="Folder for models, controller and page.", show_default=False)],
    log: Annotated[
        list[Path] | None,
        typer.Option(
            help="Log of an open-loop experiment, with a column command_JOINT; may be repeated.",
            show_default="experiments on the simulated robot",
        ),
    ] = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    sensor: Annotated[str, typer.Option(help="Sensor preset of the simulated robot.")] = "low-cost",
    posture: Annotated[
        str | None,
        typer.Option(
            metavar="Q,…",
            help="Where the joints are held, rad or m.",
            show_default="the right angles nearest to the middle of the limits",
        ),
    ] = None,
    backlash: Annotated[
        float, typer.Option(help="Play between each joint and its encoder, rad or m.", min=0.0)
    ] = 0.0,
    travel: Annotated[float, typer.Option(help="How far a joint may go to either side, rad or m.")] = TRAVEL,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            metavar="RAD/S",
            help="Of the feedback; refused where a joint has too little margin for it.",
            show_default=f"{BANDWIDTH:g}, or the largest that a joint allows",
        ),
    ] = None,
    margin: Annotated[float, typer.Option(metavar="DEG", help="Least phase margin.")] = MARGIN,
    inertia_range: Annotated[
        str | None,
        typer.Option(
            metavar="LEAST,MOST",
            help="Inertias that the margin holds for, over that of the experiments.",
            show_default="by the description, over all poses",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of sequences and sensors' noise.", min=0)] = 0,
    force: ForceOption = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    json: JsonOption = False,
) -> None:
    """Drive one joint at a time in open loop, fit its model, and design feedforward and PD control.

    A joint that cannot be modelled is left out, held where it stood, and the exit code is 3.
    """
    from steelyard.cli.joints_answer import answer, print_answer

    announce_compilation("joints")
    started = time.perf_counter()
    request = JointsRequest(
        robot=robot,
        logs=tuple(str(path) for path in log or ()),
        sensor=sensor,
        posture=posture,
        backlash=backlash,
        travel=travel,
        bandwidth=bandwidth,
        margin=margin,
        inertia_range=inertia_range,
        seed=seed,
        gravity=gravity,
        lock=tuple(lock or ()),
        arguments=tuple(argument or ()),
        columns=columns,
        topic=topic,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
    done, files = carry_out(request, out, force=force)
    document = answer(done) | {"seconds": time.perf_counter() - started, "files": files}
    if json:
        print_json(document)
    else:
        print_answer(done, document)
    for error in done.failed.values():
        complain(f"{error} The other joints are written, with a controller for them alone.")
    if done.failed:
        raise typer.Exit(3)
