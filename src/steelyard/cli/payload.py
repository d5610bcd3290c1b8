"""`steelyard payload`: what the arm holds, weighed from its logs, as an asset for simulators."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.destination import ForceOption
from steelyard.cli.log_options import (
    ColumnsOption,
    CutoffOption,
    TopicOption,
    TorqueConstantErrorOption,
    TorqueConstantOption,
)
from steelyard.cli.output import JsonOption, announce_compilation, print_json
from steelyard.cli.payload_request import PayloadRequest, carry_out
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


def payload(
    robot: RobotArgument,
    loaded: Annotated[
        list[str],
        typer.Option(metavar="LOG", help="A run with the payload; may be repeated.", show_default=False),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the asset.", show_default=False)],
    empty: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOG",
            help="A run without it, best of the same motion; may be repeated.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|ROBOT", help="The robot without payload: a result folder, or a description."
        ),
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            help="auto, residual (loaded minus empty), model (known robot) or arm (estimated twice)."
        ),
    ] = "auto",
    method: Annotated[str, typer.Option(help="Estimator: wls, ols, huber or momentum.")] = "wls",
    window: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Time over which --method momentum integrates, on the log at its own rate.",
            show_default="0.1",
        ),
    ] = None,
    point: Annotated[
        str, typer.Option(help="Which body that agrees with the data: mean, lmi or cholesky.")
    ] = "mean",
    mesh: Annotated[
        Path | None, typer.Option(help="Its shape (STL or OBJ), in the payload's frame.", show_default=False)
    ] = None,
    scale: Annotated[float, typer.Option(help="Metres in a unit of the mesh.")] = 1.0,
    grasp: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z[,R,P,Y]",
            help="The payload's frame in the tool frame, m and rad.",
            show_default="the tool frame itself",
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The true payload (JSON, in the tool frame): drop, push and swing the asset beside it.",
            show_default=False,
        ),
    ] = None,
    heaviest: Annotated[float, typer.Option(help="Mass that it cannot exceed, kg.")] = 100.0,
    extent: Annotated[float, typer.Option(help="Radius about its frame that it cannot leave, m.")] = 0.5,
    torque_error: Annotated[
        str | None,
        typer.Option(
            metavar="R,A",
            help="Bound of the torque error, a share and N·m: asks for guaranteed bounds.",
            show_default=False,
        ),
    ] = None,
    model_error: Annotated[
        float, typer.Option(help="Bound of the error of the robot's own numbers, as a share.", min=0.0)
    ] = 0.05,
    velocity_error: Annotated[
        float, typer.Option(help="Bound of the velocity error, rad/s or m/s, for guaranteed bounds.", min=0.0)
    ] = 1e-3,
    position_error: Annotated[
        float | None,
        typer.Option(
            help="Bound of the position error, rad or m, for guaranteed bounds.",
            min=0.0,
            show_default="the least step in the log",
        ),
    ] = None,
    torque_delay: Annotated[
        float,
        typer.Option(
            help="Most that a torque can be late or early, s, for guaranteed bounds.", min=0.0, max=0.1
        ),
    ] = 2e-3,
    torque_constant: TorqueConstantOption = None,
    torque_constant_error: TorqueConstantErrorOption = None,
    known_load: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOG",
            help="A run with a load that is known: it calibrates the torque constants; may be repeated.",
            show_default=False,
        ),
    ] = None,
    known_mass: Annotated[
        float | None, typer.Option(metavar="KG", help="Mass of the known load.", show_default=False)
    ] = None,
    known_com: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z", help="Its centre of mass in the payload's frame, m.", show_default="unknown"
        ),
    ] = None,
    known_body: Annotated[
        Path | None,
        typer.Option(
            help="The known load with all its numbers (JSON, in the tool frame), as --truth.",
            show_default=False,
        ),
    ] = None,
    other_torque_constant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K,…",
            help="Torque per current by another source: what would the answer be; may be repeated.",
            show_default=False,
        ),
    ] = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    cutoff: CutoffOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws behind the intervals.", min=0)] = 0,
    force: ForceOption = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    empty_lock: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=Q",
            help="Where a locked joint was in the empty run, as fingers that were open.",
            show_default="as in the loaded run",
        ),
    ] = None,
    tool_frame: ToolFrameOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    json: JsonOption = False,
) -> None:
    """Weigh what the arm holds and write it as an asset; exit code 1 if the verdict is fail."""
    from steelyard.cli.payload_answer import answer, print_answer

    announce_compilation("payload")
    started = time.perf_counter()
    request = PayloadRequest(
        robot,
        tuple(loaded),
        tuple(empty or ()),
        model,
        way,
        method,
        point,
        None if mesh is None else str(mesh),
        scale,
        grasp,
        None if truth is None else str(truth),
        heaviest,
        extent,
        torque_error,
        model_error,
        velocity_error,
        position_error,
        torque_delay,
        torque_constant,
        torque_constant_error,
        tuple(known_load or ()),
        known_mass,
        known_com,
        None if known_body is None else str(known_body),
        tuple(other_torque_constant or ()),
        columns,
        cutoff,
        seed,
        gravity,
        tuple(lock or ()),
        tuple(empty_lock or ()),
        tool_frame,
        tuple(argument or ()),
        window,
        topic,
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
    if document["verdict"] == "fail":
        raise typer.Exit(1)
