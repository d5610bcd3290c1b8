"""Say what a robot description states and what is wrong with it; and repair what can be."""

from __future__ import annotations

from collections.abc import Sequence
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
    RobotGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.workflows.inspection import Inspection, RepairedDescription


@workflow
def inspect(
    robot: RobotGiven,
    *,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    tool_frame: ToolFrameGiven = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    repair: Annotated[
        FilePath | None,
        Option("Write a URDF that simulators load, every change listed.", metavar="OUT"),
    ] = None,
    fill_mass: Annotated[
        float | None,
        Option(
            "With --repair: mass for moving links that state none, as a ball of water.",
            metavar="KG",
            default="they are left",
        ),
    ] = None,
    keep_meshes: Annotated[
        bool, Option("With --repair: keep shapes whose mesh is not reached.", flag="--keep-meshes")
    ] = False,
    force: Annotated[bool, Option("With --repair: replace OUT if it exists.", flag="--force")] = False,
    progress: Progress | None = None,
) -> Inspection:
    """Say what a robot description states and what is wrong with it.

    Exit code 1 if an error was found, or if the check `plausible` fails.

    With --repair, what is said is about the repaired description: `problems` are those that are left.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        repair: where to write a URDF that simulators load; None to repair nothing. The function `repair` does
            the same alone, and need not write.
        fill_mass: mass for moving links that state none, as a ball of water, kg; None to leave them.
        keep_meshes: whether shapes stay whose mesh is not reached.
        force: whether an earlier repaired file may be replaced.
        progress: told what is done.

    Returns:
        What is described, what is wrong with it, and what was repaired.

    Raises:
        InputError: the description cannot be read, or options do not go together.
    """
    from steelyard.workflows.inspection import inspection

    return inspection(
        robot,
        gravity=gravity,
        lock=lock,
        tool_frame=tool_frame,
        argument=argument,
        package_path=package_path,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
        repair=repair,
        fill_mass=fill_mass,
        keep_meshes=keep_meshes,
        force=force,
    )


@workflow
def repair(
    description: FilePath,
    out: FilePath | None = None,
    *,
    fill_mass: float | None = None,
    keep_meshes: bool = False,
    force: bool = False,
    package_path: FilePath | Sequence[FilePath] | None = None,
    progress: Progress | None = None,
) -> RepairedDescription:
    """Make a URDF that simulators load from a description that is wrong.

    On the command line it is `inspect --repair`.

    Args:
        description: the path of a URDF, xacro or MJCF file.
        out: the URDF to write; None to write nothing.
        fill_mass: mass for moving links that state none, as a ball of water, kg; None to leave them.
        keep_meshes: whether shapes stay whose mesh is not reached.
        force: whether an earlier file may be replaced.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        progress: told what is done.

    Returns:
        The repaired description, every change, and what is left to a person.

    Raises:
        DescriptionError: it cannot be understood, so it cannot be known what it means.
        InputError: it is a robot of the zoo, or the file to write exists.
    """
    from steelyard.workflows.inspection import repaired_description

    return repaired_description(description, out, fill_mass, keep_meshes, force, package_path)
