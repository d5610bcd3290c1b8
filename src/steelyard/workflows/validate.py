"""Judge an existing model, of whatever tool, by logs it need not come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    CalibrationGiven,
    ColumnsGiven,
    CutoffGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    PackagePathGiven,
    TopicGiven,
    TorqueConstantGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.model import Model
    from steelyard.recording import Log
    from steelyard.robot import Robot
    from steelyard.workflows.validation import Validation


@workflow
def validate(
    model: Annotated[
        Model | Robot | FilePath,
        Option(
            "A result folder, a zoo name, or the path of a URDF, xacro or MJCF file.",
            argument=True,
            metavar="MODEL",
        ),
    ],
    logs: Annotated[
        Log | Sequence[Log], Option("Logs to judge it by.", argument=True, metavar="LOG…", repeated=True)
    ],
    *,
    torque_constant: TorqueConstantGiven = None,
    columns: ColumnsGiven = None,
    topic: TopicGiven = None,
    units: UnitsGiven = None,
    calibration: CalibrationGiven = None,
    cutoff: CutoffGiven = None,
    out: Annotated[
        FilePath | None, Option("Folder for a report.", metavar="PATH", default="no report")
    ] = None,
    force: ForceGiven = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> Validation:
    """Judge a model by logs it need not come from; exit code 1 if the verdict is fail.

    Args:
        model: the model, a robot, a result folder, a zoo name, or the path of a description.
        logs: what to judge it by, one log or several: paths, recordings, columns by name, or data frames.
        torque_constant: torque per current at each joint, N·m/A or N/A; None for logged torques.
        columns: what the columns of the logs are.
        topic: of joint states, in bags with several.
        units: in which unit the logs' positions are where no column states one: `rad`, `degrees`,
            `normalised` or `counts:SERVO`, for joints by name as in `degrees,gripper=normalised`.
        calibration: calibration file of LeRobot, or `limits` where the robot's limits are the calibrated
            range.
        cutoff: of the low-pass filter, Hz; None for what the spectrum suggests.
        out: folder for a report; None to write nothing, which `Validation.save` may do later.
        force: whether an earlier report may be replaced.
        gravity: free fall in the base frame, m/s²; None for the model's own.
        lock: positions of joints that are held still, rad or m, by name.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        The verdict with the torque errors it rests on.

    Raises:
        InputError: something given is not usable; nothing is written.
    """
    from steelyard.workflows.validation import validation

    return validation(
        model,
        logs,
        torque_constant=torque_constant,
        columns=columns,
        topic=topic,
        units=units,
        calibration=calibration,
        cutoff=cutoff,
        out=out,
        force=force,
        gravity=gravity,
        lock=lock,
        argument=argument,
        package_path=package_path,
        limits=limits,
        velocity=velocity,
        acceleration=acceleration,
        torque=torque,
    )
