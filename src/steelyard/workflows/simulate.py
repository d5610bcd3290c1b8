"""Run a motion on a simulated robot: a MuJoCo plant with sensors, controller, load and obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.control import Controller
    from steelyard.inertia import Body
    from steelyard.limits import Scene
    from steelyard.motion import Motion
    from steelyard.workflows.simulation import Simulation


@workflow
def simulate(
    robot: RobotGiven,
    motion: Annotated[Motion | FilePath, Option("A motion file (JSON).", argument=True, metavar="MOTION")],
    *,
    out: Annotated[
        FilePath | None, Option("Log to write: .csv, .parquet or .npz.", metavar="PATH", required=True)
    ] = None,
    sensor: Annotated[str, Option("Sensor preset.", default=True)] = "ideal",
    controller: Annotated[
        Controller | FilePath | None,
        Option("Controller file (TOML).", metavar="PATH", default="computed torque"),
    ] = None,
    payload: Annotated[
        Body | FilePath | None,
        Option("Body held at the tool frame (JSON), known to the controller's model.", metavar="PATH"),
    ] = None,
    scene: Annotated[
        Scene | FilePath | None,
        Option("Obstacles the arm must not strike (TOML or JSON).", metavar="PATH"),
    ] = None,
    wrench: Annotated[
        str | None,
        Option(
            "Link in whose frame a force-torque sensor sits: logs its wrench too.",
            metavar="LINK",
        ),
    ] = None,
    backlash: Annotated[
        float, Option("Play between each joint and its encoder, rad or m.", default=True, least=0.0)
    ] = 0.0,
    rate: Annotated[float | None, Option("Samples per second.", default="the preset's own")] = None,
    seed: Annotated[int, Option("Seed of the sensors' noise.", default=True, least=0)] = 0,
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
) -> Simulation:
    """Run a motion on a simulated robot (MuJoCo) and write the log.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        motion: the motion, or its file.
        out: the log to write, `.csv`, `.parquet` or `.npz`; None to write nothing.
        sensor: preset of the sensors: `ideal`, `industrial` or `low-cost`.
        controller: what follows the motion, or its file; None for computed torque.
        payload: body held at the tool frame, or its file; the controller's model knows it.
        scene: obstacles that the arm must not strike, or their file.
        wrench: link in whose frame a force-torque sensor sits, which logs what the load exerts on it in the
            columns `wrench_<link>_fx` to `_mz`; None for none.
        backlash: play between each joint and its encoder, rad or m.
        rate: samples per second, Hz; None for the preset's own.
        seed: seed of the sensors' noise.
        force: whether an earlier log may be replaced.
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
        The log, and how well the motion was followed.

    Raises:
        InputError: something given is not usable; nothing is written.
    """
    from steelyard.workflows.simulation import simulated_run

    return simulated_run(
        robot,
        motion,
        out=out,
        sensor=sensor,
        controller=controller,
        payload=payload,
        scene=scene,
        wrench=wrench,
        backlash=backlash,
        rate=rate,
        seed=seed,
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
