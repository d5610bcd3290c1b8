"""The whole line on a simulated arm: design a motion, run it, identify the arm, weigh what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
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
    from steelyard.robot import Robot
    from steelyard.workflows.demonstration import Demonstration


@workflow
def demo(
    robot: Annotated[
        Robot | FilePath, Option("A zoo name, or the path of a URDF, xacro or MJCF file.", default=True)
    ] = "panda",
    *,
    out: Annotated[FilePath | None, Option("Folder for the results.", metavar="PATH", default="demo")] = None,
    seed: Annotated[int, Option("Seed of the random motions.", default=True, least=0)] = 1,
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
) -> Demonstration:
    """Design a motion, run it on a simulated arm with noisy sensors, identify it, and weigh what it holds.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        out: folder for the results; None to write nothing.
        seed: of the design, of the robot on the bench and of its sensors.
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
        What was found out, beside the truth.

    Raises:
        InputError: something given is not usable; nothing is written.
    """
    from steelyard.workflows.demonstration import demonstration

    return demonstration(
        robot,
        out=out,
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
    )
