"""`steelyard identify`: from logs to an estimate that is judged on data it has not seen."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.destination import ForceOption
from steelyard.cli.identify_request import DRIVE, Request, carry_out
from steelyard.cli.log_options import (
    ColumnsOption,
    CutoffOption,
    TopicOption,
    TorqueConstantErrorOption,
    TorqueConstantOption,
)
from steelyard.cli.output import JsonOption, announce_compilation, print_json
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


def identify(
    robot: RobotArgument,
    logs: Annotated[
        list[str], typer.Argument(metavar="LOG…", help="Logs to identify from.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the result.", show_default=False)],
    holdout: Annotated[
        str | None,
        typer.Option(
            metavar="LOG",
            help="A log of another motion, to judge by.",
            show_default="a stretch of the last log that repeats nothing",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="Estimator: auto, ols, wls, huber, ridge, bounded, lmi, entropic, cholesky, momentum, iv or "
            "clie (closed-loop input error)."
        ),
    ] = "auto",
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Drive terms at every joint.",
            show_default=f"{DRIVE}; with --method auto also what left-out blocks ask for",
        ),
    ] = None,
    torque_constant: TorqueConstantOption = None,
    torque_constant_error: TorqueConstantErrorOption = None,
    known_moment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=NM[~SD]@Q,…",
            help="Torque that holds a joint against gravity at a pose (rad, m), by a scale and a lever, with "
            "its standard deviation (2 % if not given): it calibrates the torque constants; may be repeated.",
            show_default=False,
        ),
    ] = None,
    torque_sign: Annotated[
        str | None,
        typer.Option(
            metavar="J=-1,…|-",
            help="Sign of the logged torques: of joints by name, one for each joint, or - to turn all.",
            show_default="as logged",
        ),
    ] = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    cutoff: CutoffOption = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="ROBOT|none",
            help="Numbers believed beforehand; they decide what the data does not.",
            show_default="the description's",
        ),
    ] = None,
    motion: Annotated[
        str | None,
        typer.Option(
            metavar="MOTION",
            help="The planned motion: instruments of --method iv, references of clie.",
            show_default="the references in the logs",
        ),
    ] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The controller that followed it (TOML): --method iv and clie simulate the closed loop.",
            show_default=False,
        ),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Time over which --method momentum integrates, on the log at its own rate.",
            show_default="0.1",
        ),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="The logs hold poses: identify what statics can.")
    ] = False,
    draws: Annotated[
        int, typer.Option(help="Models to draw from the posterior, for domain randomisation.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the drawn models.", min=0)] = 0,
    strength: Annotated[
        float | None,
        typer.Option(
            help="How strongly links are drawn to the prior: 1 weighs a link that is off by its own size "
            "like one sample that is off by its noise.",
            show_default="the strongest that predicts left-out blocks as well as the best",
        ),
    ] = None,
    prior_error: Annotated[
        float | None,
        typer.Option(
            help="Relative accuracy of the prior's links, for the intervals of full parameters.",
            show_default="0.3",
        ),
    ] = None,
    total_mass: Annotated[
        float | None,
        typer.Option(
            metavar="KG", help="What the robot weighs on a scale, base included.", show_default=False
        ),
    ] = None,
    mass: Annotated[
        list[str] | None,
        typer.Option(metavar="LINK=KG", help="A link that was weighed; may be repeated.", show_default=False),
    ] = None,
    rotor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=KGM2",
            help="Rotor inertia at the joint's output, from a data sheet, kg·m²; may be repeated.",
            show_default=False,
        ),
    ] = None,
    equal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK=LINK",
            help="Two links built alike, such as those of two legs; may be repeated.",
            show_default=False,
        ),
    ] = None,
    shapes: Annotated[
        bool,
        typer.Option(
            "--shapes/--no-shapes",
            help="Keep centres of mass inside the shapes of their links, where the description has some.",
        ),
    ] = True,
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
    """Identify a robot from its logs, judge the model and write it; exit code 1 if the verdict is fail."""
    from steelyard.cli.identify_answer import answer, print_answer

    announce_compilation("identify")
    started = time.perf_counter()
    request = Request(
        robot,
        tuple(logs),
        holdout,
        method,
        drive,
        torque_constant,
        columns,
        cutoff,
        prior,
        motion,
        controller,
        static,
        draws,
        seed,
        gravity,
        tuple(lock or ()),
        tuple(argument or ()),
        strength,
        prior_error,
        total_mass,
        tuple(mass or ()),
        tuple(rotor or ()),
        tuple(equal or ()),
        torque_constant_error,
        window,
        torque_sign,
        shapes,
        topic,
        tuple(known_moment or ()),
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
