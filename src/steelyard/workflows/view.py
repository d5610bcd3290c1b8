"""Look at a robot, a result or a motion in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    FloorGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    PackagePathGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.limits import Scene
    from steelyard.model import Model
    from steelyard.motion import Motion
    from steelyard.robot import Robot
    from steelyard.workflows.identification import Identification
    from steelyard.workflows.shown import View

PORT = 8080
"""Where a view listens where nothing is said."""


@workflow
def view(
    subject: Annotated[
        Robot | Model | Identification | Motion | FilePath,
        Option(
            "A robot, the folder of a result of identify or payload, or a motion file (with --robot).",
            metavar="ROBOT|RESULT|MOTION",
            argument=True,
        ),
    ],
    *,
    robot: Annotated[
        Robot | FilePath | None,
        Option(
            "Of a motion, the robot that makes it; of a result, the description whose meshes are shown.",
            metavar="ROBOT",
        ),
    ] = None,
    motion: Annotated[
        Motion | FilePath | None,
        Option("Motion that the robot or the result plays (JSON).", metavar="MOTION"),
    ] = None,
    scene: Annotated[
        Scene | FilePath | None, Option("Obstacles around the robot (TOML or JSON).", metavar="PATH")
    ] = None,
    floor: FloorGiven = "base",
    clearance: Annotated[
        bool, Option("Also measure the least distance along the motion.", flag="--clearance/--no-clearance")
    ] = True,
    out: Annotated[
        FilePath | None,
        Option("Write .html, .viser or .rrd (Rerun) and end, instead of serving.", metavar="PATH"),
    ] = None,
    serve: Annotated[
        bool,
        Option("Serve it until interrupted; without it only say what is shown.", flag="--serve/--no-serve"),
    ] = True,
    port: Annotated[
        int, Option("Where it is served; the next free one if taken.", default=True, least=0, most=65535)
    ] = PORT,
    host: Annotated[
        str, Option("Who may look: this machine alone, or 0.0.0.0 for all who reach it.", default=True)
    ] = "127.0.0.1",
    browser: Annotated[bool, Option("Open a browser.", flag="--browser/--no-browser")] = False,
    force: ForceGiven = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    tool_frame: ToolFrameGiven = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> View:
    """Look at a robot, a result or a motion: meshes, inertias described and estimated, torques, limits.

    Args:
        subject: the robot or its description; a result, its model or its folder; a motion or its file.
        robot: of a motion, the robot that makes it; of a result, the description whose shapes are shown.
        motion: what the robot or the result plays; None for none.
        scene: what stands around it, or its file.
        floor: `base`, `none`, or its height above the base frame, m.
        clearance: whether the least distance along the motion is measured.
        out: file to write: `.html`, `.viser` or `.rrd`; None to serve it.
        serve: whether it is served; without it and without `out` nothing but the description is made.
        port: where it is served; 0 for any free one.
        host: address it listens on.
        browser: whether a browser is opened.
        force: whether an earlier file may be replaced.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        The view; where it is served, it goes on until it is closed.

    Raises:
        InputError: something given is not usable; nothing is written.
    """
    from steelyard.workflows.shown import view_of

    return view_of(
        subject,
        robot=robot,
        motion=motion,
        scene=scene,
        floor=floor,
        clearance=clearance,
        out=out,
        serve=serve,
        port=port,
        host=host,
        browser=browser,
        force=force,
        gravity=gravity,
        lock=lock,
        tool_frame=tool_frame,
        argument=argument,
        package_path=package_path,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
