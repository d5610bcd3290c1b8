"""Move a simulated robot along proven plans and learn what it holds, with guaranteed bounds."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
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
    NoClearanceGiven,
    Numbers,
    Option,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    ToolGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.inertia import Body
    from steelyard.limits import Scene
    from steelyard.uncertainty import PayloadBox
    from steelyard.workflows.safe_learning import SafeLearning

EXTENT = 0.1
"""Radius of the ball that holds a load of which nothing is stated, m."""


@workflow
def online(
    robot: RobotGiven,
    *,
    payload: Annotated[
        Body | FilePath,
        Option("What the simulated robot holds (JSON); the loop is not told.", metavar="PATH"),
    ],
    scene: Annotated[
        Scene | FilePath | None, Option("What stands around the robot (TOML or JSON).", metavar="PATH")
    ] = None,
    floor: FloorGiven = "base",
    tool: ToolGiven = None,
    law: Annotated[
        str, Option("The robust law: robust (ARMOUR's), clamped or componentwise.", default=True)
    ] = "clamped",
    out: Annotated[
        FilePath | None,
        Option("Folder for the log and the page of the run.", metavar="PATH", default="none is kept"),
    ] = None,
    prior: Annotated[
        PayloadBox | FilePath | None,
        Option(
            "Intervals that hold the load (JSON: lower, upper).",
            metavar="PATH",
            default="any body in a ball about the tool frame",
        ),
    ] = None,
    heaviest: Annotated[
        float | None,
        Option(
            "Largest mass of a load in that ball, kg.",
            default="3, or what the weakest joint bears if less",
        ),
    ] = None,
    extent: Annotated[float, Option("Radius of that ball, m.", default=True)] = EXTENT,
    start: Annotated[
        Numbers | None,
        Option("Where the robot stands, rad or m.", metavar="Q,…", default="nominal posture"),
    ] = None,
    goal: Annotated[
        Numbers | None, Option("Where the robot is to go, rad or m; it learns on the way.", metavar="Q,…")
    ] = None,
    excite: Annotated[
        float,
        Option(
            "With --goal: what one of log cond of the load's regressor counts beside one rad² of distance to "
            "the goal.",
            default=True,
            least=0.0,
        ),
    ] = 0.1,
    torque_error: Annotated[
        Numbers,
        Option("Relative and absolute error of measured torques, N·m.", metavar="R,A", default=True),
    ] = "0.025,0.1",
    velocity_error: Annotated[
        float, Option("Largest error of measured velocities, rad/s or m/s.", default=True)
    ] = 5e-4,
    torque_delay: Annotated[
        float, Option("By how much logged torques may be early or late, s.", default=True, least=0.0)
    ] = 0.0,
    model_error: Annotated[
        float, Option("Share by which the robot's parameters may be off.", default=True)
    ] = 0.05,
    rotor: Annotated[
        Numbers | None,
        Option(
            "Inertia of the joints' rotors at the output, kg·m².",
            metavar="I|I,…",
            default="the description's, or as heavy as a tube needs",
        ),
    ] = None,
    radius: Annotated[
        float | None, Option("Radius of the tube around the plan, rad/s.", default="by V_M = 1 mJ")
    ] = None,
    reach: Annotated[float, Option("How far a joint may go in one plan, rad or m.", default=True)] = 1.2,
    cycle: Annotated[float, Option("Length of a control cycle, s.", default=True)] = 1e-3,
    plans: Annotated[int, Option("Largest number of plans to drive.", default=True, least=1)] = 4,
    budget: Annotated[float, Option("Time for finding a plan and its proof, s.", default=True)] = 0.3,
    seed: Annotated[int, Option("Seed of searches and sensors.", default=True, least=0)] = 0,
    real_time: Annotated[
        bool,
        Option("Let the simulated robot's clock be the wall's; answers can be late.", flag="--real-time"),
    ] = False,
    allow_no_clearance: NoClearanceGiven = False,
    live: Annotated[bool, Option("Show the run in a browser while it goes on.", flag="--live")] = False,
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
) -> SafeLearning:
    """Move a simulated robot along proven plans and learn what it holds, with guaranteed bounds.

    Every plan is proven, with its stop, for all that robot and load can be, and its proof is checked by
    another program; exit code 1 if a promise was broken, a proof refused or an assumption is not so, 3 if no
    first plan could be proven and checked. The verdict is `warn` where something that could hit is not part
    of the proofs; where that is a shape of the robot itself, as a mesh that was not found, the code is 3.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        payload: body that the simulated robot holds at its tool frame, or its file; the loop is not told.
        scene: what stands around the robot, or its file.
        floor: `base` for level with the base frame, `none`, or its height above the base, m.
        tool: mesh of tool and load in the tool frame, m; `none` where they add no shape.
        law: the robust law: `robust` (ARMOUR's), `clamped` or `componentwise`.
        out: folder for the log and the page; None to write nothing.
        prior: intervals that hold the load, or their file; None for any body in a ball about the tool frame.
        heaviest: largest mass of a load in that ball, kg; None for 3, or what the weakest joint
            bears if less.
        extent: radius of that ball, m.
        start: where the robot stands, rad or m; None for its nominal posture.
        goal: where the robot is to go, rad or m; None to learn and nothing else.
        excite: what one of log cond of the load's regressor counts beside one rad² of distance to the goal,
            dimensionless.
        torque_error: relative and absolute error of measured torques, dimensionless and N·m.
        velocity_error: largest error of measured velocities, rad/s or m/s.
        torque_delay: by how much logged torques may be early or late, s.
        model_error: share by which the robot's parameters may be off, dimensionless.
        rotor: inertia of the joints' rotors at the output, one for all or one each, kg·m²; None for the
            description's, or as heavy as a tube needs.
        radius: radius ε of the tube around the plan, rad/s; None for that of V_M = 1 mJ.
        reach: how far a joint may go in one plan, rad or m.
        cycle: length of a control cycle, s.
        plans: largest number of plans to drive.
        budget: time for finding a plan and its proof, s.
        seed: seed of searches and sensors.
        real_time: whether the simulated robot's clock is the wall's, and answers can be late.
        allow_no_clearance: whether it is accepted that shapes of the robot are missing; the answer still says
            so.
        live: whether to show the run in a browser while it goes on.
        force: whether a folder that holds something may be written into.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is assumed and done.

    Returns:
        The run, what it learned and what it broke.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: no robust law follows for the robot, or no first plan was proven and checked, so the
            robot did not move.
    """
    from steelyard.workflows.safe_learning import drive_and_learn, learning_task, require_empty

    if out is not None:
        require_empty(Path(out), force=force)
    begin = time.perf_counter()
    task = learning_task(
        robot,
        scene=scene,
        floor=floor,
        tool=tool,
        law=law,
        prior=prior,
        heaviest=heaviest,
        extent=extent,
        start=start,
        goal=goal,
        torque_error=torque_error,
        velocity_error=velocity_error,
        torque_delay=torque_delay,
        model_error=model_error,
        rotor=rotor,
        radius=radius,
        reach=reach,
        cycle=cycle,
        seed=seed,
        gravity=gravity,
        lock=lock,
        tool_frame=tool_frame,
        argument=argument,
        package_path=package_path,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
        allow_no_clearance=allow_no_clearance,
    )
    learned = drive_and_learn(
        task,
        payload,
        plans=plans,
        budget=budget,
        excite=excite,
        seed=seed,
        real_time=real_time,
        live=live,
        begin=begin,
    )
    return learned if out is None else replace(learned, files=learned.save(out, force=True))
