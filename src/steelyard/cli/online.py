"""`steelyard online`: certified motion and guaranteed bounds of an unknown load, in closed loop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.destination import ForceOption
from steelyard.cli.output import JsonOption, announce_compilation, print_json
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    FloorOption,
    GravityOption,
    LimitsOption,
    LockOption,
    RobotArgument,
    ToolFrameOption,
    ToolOption,
    TorqueOption,
    VelocityOption,
)

EXTENT = 0.1
"""Ball that a load is taken to be in where nothing is stated, m."""


def online(
    robot: RobotArgument,
    payload: Annotated[
        Path,
        typer.Option(help="What the simulated robot holds (JSON); the loop is not told.", show_default=False),
    ],
    scene: Annotated[
        Path | None, typer.Option(help="What stands around it (TOML or JSON).", show_default=False)
    ] = None,
    floor: FloorOption = "base",
    tool: ToolOption = None,
    law: Annotated[str, typer.Option(help="robust (ARMOUR's), clamped or componentwise.")] = "clamped",
    out: Annotated[
        Path | None, typer.Option(help="Folder for log and page.", show_default="none is kept")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            help="Intervals that hold the load (JSON: lower, upper).",
            show_default="any body in a ball about the tool frame",
        ),
    ] = None,
    heaviest: Annotated[
        float | None,
        typer.Option(
            help="Of a load in that ball, kg.", show_default="3, or what the weakest joint bears if less"
        ),
    ] = None,
    extent: Annotated[float, typer.Option(help="Radius of that ball, m.")] = EXTENT,
    start: Annotated[
        str | None,
        typer.Option(metavar="Q,…", help="Where it stands, rad or m.", show_default="nominal posture"),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(metavar="Q,…", help="Where to go, learning on the way.", show_default=False),
    ] = None,
    excite: Annotated[
        float, typer.Option(help="With --goal: what log cond counts beside rad² of distance.", min=0.0)
    ] = 0.1,
    torque_error: Annotated[
        str, typer.Option(metavar="R,A", help="Relative and absolute error of torques.")
    ] = "0.025,0.1",
    velocity_error: Annotated[float, typer.Option(help="Of velocities, rad/s or m/s.")] = 5e-4,
    torque_delay: Annotated[
        float, typer.Option(help="By how much logged torques may be early or late, s.", min=0.0)
    ] = 0.0,
    model_error: Annotated[float, typer.Option(help="Share by which the robot may be off.")] = 0.05,
    rotor: Annotated[
        str | None,
        typer.Option(
            metavar="I|I,…",
            help="Inertia of the joints' rotors at the output, kg·m².",
            show_default="the description's, or as heavy as a tube needs",
        ),
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Of the tube, rad/s.", show_default="by V_M = 1 mJ")
    ] = None,
    reach: Annotated[float, typer.Option(help="Of a joint in one plan, rad or m.")] = 1.2,
    cycle: Annotated[float, typer.Option(help="Of the control, s.")] = 1e-3,
    plans: Annotated[int, typer.Option(help="Most plans to drive.", min=1)] = 4,
    budget: Annotated[float, typer.Option(help="For a plan and its proof, s.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Of searches and sensors.", min=0)] = 0,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Its clock is the wall's; answers can be late.")
    ] = False,
    live: Annotated[bool, typer.Option("--live", help="Show the run in a browser while it goes on.")] = False,
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
    """Move a simulated robot along proven plans and learn what it holds, with guaranteed bounds.

    Every plan is proven, with its stop, for all that robot and load can be, and its proof is checked by
    another program; exit code 1 if a promise was broken, a proof refused or an assumption is not so, 3 if no
    first plan could be proven and checked. The verdict is `warn` where something that could hit is not part
    of the proofs.
    """
    from steelyard.cli.online_answer import answer, page_of, print_answer, refuse_existing, write_result
    from steelyard.cli.online_line import learn
    from steelyard.cli.online_request import OnlineRequest
    from steelyard.cli.online_watch import watching

    announce_compilation("online")
    if out is not None:
        refuse_existing(out, force=force)
    request = OnlineRequest(
        robot=robot,
        payload=str(payload),
        scene=None if scene is None else str(scene),
        law=law,
        prior=None if prior is None else str(prior),
        heaviest=heaviest,
        extent=extent,
        start=start,
        goal=goal,
        excite=excite,
        torque_error=torque_error,
        velocity_error=velocity_error,
        torque_delay=torque_delay,
        model_error=model_error,
        rotor=rotor,
        radius=radius,
        reach=reach,
        cycle=cycle,
        plans=plans,
        budget=budget,
        seed=seed,
        gravity=gravity,
        lock=tuple(lock or ()),
        tool_frame=tool_frame,
        argument=tuple(argument or ()),
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
        floor=floor,
        tool=None if tool is None else str(tool),
    )
    with watching() as watch:
        learned = learn(request, real_time=real_time, watched=watch.opened if live else None)
        page = page_of(learned) if live or out is not None else ""
        watch.finish(page)
    files = {} if out is None else write_result(learned, page, out)
    document = answer(learned, files)
    if json:
        print_json(document)
    else:
        print_answer(learned, document)
    if document["verdict"] == "fail":
        raise typer.Exit(1)
