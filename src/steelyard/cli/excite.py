"""`steelyard excite`: a motion that shows the parameters, inside every limit and clear of everything."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.destination import ForceOption, require_files
from steelyard.cli.log_options import ColumnsOption, TopicOption
from steelyard.cli.output import JsonOption, announce_compilation, print_json
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    FloorOption,
    GravityOption,
    JerkOption,
    LimitsOption,
    LockOption,
    RobotArgument,
    ToolFrameOption,
    ToolOption,
    TorqueOption,
    VelocityOption,
)
from steelyard.errors import InputError

LONGEST = 3600.0
"""Longest motion that is searched for, s."""
MOST_COEFFICIENTS = 200
"""Most harmonics or pieces: a search among more chooses nothing."""

if TYPE_CHECKING:
    from steelyard.cli.excite_wish import Wish


def excite(
    context: typer.Context,
    robot: RobotArgument,
    out: Annotated[
        Path, typer.Option(metavar="MOTION", help="Motion file (.json); more beside it.", show_default=False)
    ],
    family: Annotated[
        str, typer.Option(help="Family of motions: fourier, spline or primitives.")
    ] = "fourier",
    motion_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of the primitives: this motion, such as AG02.",
            show_default="the best by the criterion",
        ),
    ] = None,
    harmonics: Annotated[int, typer.Option(help="Harmonics of a Fourier series.", min=2)] = 5,
    pieces: Annotated[int, typer.Option(help="Pieces of a spline.", min=2)] = 12,
    period: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="How long it lasts; primitives last as long as they need."),
    ] = 10.0,
    criterion: Annotated[
        str,
        typer.Option(
            help="What makes it good: cond, cond-normalised, cond-orthonormal, rc, rc-free, a, d or e."
        ),
    ] = "cond",
    whom: Annotated[str, typer.Option("--for", help="Whose parameters to show: robot or payload.")] = "robot",
    start: Annotated[
        str,
        typer.Option(
            metavar="home|free|Q,…", help="Where it starts and ends, at rest; primitives have postures."
        ),
    ] = "home",
    drive: Annotated[
        str, typer.Option(metavar="LIST", help="Drive terms at every joint.")
    ] = "viscous,coulomb",
    tool: ToolOption = None,
    tool_scale: Annotated[float, typer.Option(help="Metres per unit of the tool's mesh.")] = 1.0,
    scene: Annotated[Path | None, typer.Option(help="Obstacles (TOML or JSON).", show_default=False)] = None,
    payload: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What it will hold along the motion (JSON); torques count it.",
            show_default=False,
        ),
    ] = None,
    floor: FloorOption = "base",
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:NAME",
            help="Links, obstacles or `tool` that may touch each other; may be repeated.",
            show_default=False,
        ),
    ] = None,
    distance: Annotated[float, typer.Option(help="How far everything stays apart, m.", min=0.0)] = 0.01,
    after: Annotated[
        list[str] | None,
        typer.Option(metavar="LOG", help="Data already recorded; may be repeated.", show_default=False),
    ] = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    planned: Annotated[
        Path | None,
        typer.Option(
            metavar="MOTION",
            help="With --for payload: a motion that is planned anyway; says what it cannot show and adds the "
            "least that does.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        str, typer.Option(metavar="LIST", help="Limits not to keep: acceleration, torque, clearance.")
    ] = "",
    parameter_range: Annotated[
        float,
        typer.Option(metavar="SHARE", help="By how much the nominal parameters may be wrong.", min=0.0),
    ] = 0.0,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time for the search; primitives need none.")
    ] = 10.0,
    rounds: Annotated[
        int | None,
        typer.Option(help="Stop after so many local searches instead; same bits again.", show_default=False),
    ] = None,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Rate of the sampled files.")] = 100.0,
    slower: Annotated[float, typer.Option(help="How many times slower the rehearsal is.")] = 4.0,
    seed: Annotated[int, typer.Option(help="Seed of the search.", min=0)] = 0,
    force: ForceOption = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    tool_frame: ToolFrameOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    jerk: JerkOption = None,
    json: JsonOption = False,
) -> None:
    """Design a motion, prove that it keeps every limit, and write it.

    Exit code 3 if it cannot be proven, or if something that could hit or overload is not part of the proof;
    the motion is written all the same, and both are said.
    """
    from steelyard.cli.excite_answer import answer, print_answer
    from steelyard.cli.excite_files import files_beside, write_files
    from steelyard.cli.excite_line import designed
    from steelyard.cli.excite_wish import Wish, refuse_in_vain

    if out.suffix.lower() != ".json":
        raise InputError("a motion file ends in .json.", place="--out")
    _refuse_sampling(period, rate, slower)
    _refuse_coefficients(family, harmonics, pieces)
    require_files(files_beside(out).values(), force=force)
    refuse_in_vain(family, (name for name in context.params if _is_given(context, name)))
    announce_compilation("excite")
    began = time.perf_counter()
    wish = Wish(
        robot=robot,
        family=family,
        harmonics=harmonics,
        pieces=pieces,
        period=period,
        criterion=criterion,
        whom=whom,
        start=start,
        drive=drive,
        tool=tool,
        tool_scale=tool_scale,
        scene=scene,
        payload=payload,
        floor=floor,
        ignore=tuple(ignore or ()),
        distance=distance,
        after=tuple(after or ()),
        without=tuple(word.strip() for word in without.split(",") if word.strip()),
        parameter_range=parameter_range,
        budget=budget,
        rounds=rounds,
        seed=seed,
        gravity=gravity,
        lock=tuple(lock or ()),
        tool_frame=tool_frame,
        arguments=tuple(argument or ()),
        motion_name=motion_name,
        columns=columns,
        topic=topic,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
        jerk=jerk,
    )
    if planned is not None:
        _added(wish, planned, out, rate, slower, began, json)
        return
    done = designed(wish)
    files = write_files(done, out, rate=rate, slower=slower)
    document = answer(done, files, time.perf_counter() - began)
    if json:
        print_json(document)
    else:
        print_answer(done, document)
    if not document["certified"]:
        raise typer.Exit(3)


def _refuse_sampling(period: float, rate: float, slower: float) -> None:
    """Refuse what the files could not be written with, before the search."""
    from steelyard.motion import sample_times

    if not (math.isfinite(slower) and slower > 0.0):
        raise InputError(f"must be a positive number, got {slower:g}.", place="--slower")
    if not (math.isfinite(period) and 0.0 < period <= LONGEST):
        raise InputError(f"must be positive and at most {LONGEST:g} s, got {period:g} s.", place="--period")
    try:
        sample_times(period, rate)
    except InputError as error:
        raise InputError(error.message, place="--rate") from error


def _refuse_coefficients(family: str, harmonics: int, pieces: int) -> None:
    """Refuse more coefficients than a search could choose."""
    for option, wanted, number in (("harmonics", "fourier", harmonics), ("pieces", "spline", pieces)):
        if family == wanted and not 1 <= number <= MOST_COEFFICIENTS:
            raise InputError(
                f"must be 1 to {MOST_COEFFICIENTS}, got {float(number):.4g}.", place=f"--{option}"
            )


def _is_given(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _added(
    wish: Wish, planned: Path, out: Path, rate: float, slower: float, began: float, json: bool
) -> None:
    """What a planned motion lacks, and the least that adds it."""
    from steelyard.cli.excite_planned import added_answer, added_for, print_added, write_added

    if wish.whom != "payload":
        raise InputError("goes with --for payload.", place="--planned")
    found, uncovered, look = added_for(wish, planned)
    files = write_added(found, out, rate=rate, slower=slower)
    document = added_answer(found, uncovered, look, files, time.perf_counter() - began)
    if json:
        print_json(document)
    else:
        print_added(found, document)
    if uncovered:
        raise typer.Exit(3)
