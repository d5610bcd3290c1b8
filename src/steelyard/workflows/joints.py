"""Model single joints by open-loop experiments, and design the controller that the models give."""

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
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Numbers,
    Option,
    PackagePathGiven,
    RobotGiven,
    TopicGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.recording import Recording
    from steelyard.workflows.joint_models import JointModels

BANDWIDTH, MARGIN, TRAVEL = 20.0, 45.0, 0.5
"""Of the feedback, rad/s; phase margin, degrees; how far a joint may go, rad or m."""


@workflow
def joints(
    robot: RobotGiven,
    *,
    out: Annotated[
        FilePath | None,
        Option("Folder for models, controller and page.", metavar="PATH", required=True),
    ] = None,
    log: Annotated[
        Recording | FilePath | Sequence[Recording | FilePath] | None,
        Option(
            "Log of an open-loop experiment, with a column command_JOINT; may be repeated.",
            metavar="PATH",
            default="experiments on the simulated robot",
            repeated=True,
        ),
    ] = None,
    columns: ColumnsGiven = None,
    topic: TopicGiven = None,
    units: UnitsGiven = None,
    calibration: CalibrationGiven = None,
    sensor: Annotated[str, Option("Sensor preset of the simulated robot.", default=True)] = "low-cost",
    posture: Annotated[
        Numbers | None,
        Option(
            "Where the joints are held, rad or m.",
            metavar="Q,…",
            default="the right angles nearest to the middle of the limits",
        ),
    ] = None,
    backlash: Annotated[
        float, Option("Play between each joint and its encoder, rad or m.", default=True, least=0.0)
    ] = 0.0,
    travel: Annotated[
        float, Option("How far a joint may go to either side, rad or m.", default=True)
    ] = TRAVEL,
    bandwidth: Annotated[
        float | None,
        Option(
            "Bandwidth of the feedback; refused where a joint has too little margin for it.",
            metavar="RAD/S",
            default=f"{BANDWIDTH:g}, or the largest that a joint allows",
        ),
    ] = None,
    margin: Annotated[float, Option("Least phase margin.", metavar="DEG", default=True)] = MARGIN,
    inertia_range: Annotated[
        Numbers | None,
        Option(
            "Inertias that the margin holds for, over that of the experiments.",
            metavar="LEAST,MOST",
            default="by the description, over all poses",
        ),
    ] = None,
    seed: Annotated[int, Option("Seed of sequences and sensors' noise.", default=True, least=0)] = 0,
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
) -> JointModels:
    """Drive one joint at a time in open loop, fit its model, and design feedforward and PD control.

    A joint that cannot be modelled is left out, held where it stood, and the exit code is 3.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        out: folder for models, controller, page, experiments and record; None to write nothing.
        log: open-loop experiments, or their files, with a column `command_JOINT`; None for experiments on the
            simulated robot.
        columns: names of the logs' columns.
        topic: of joint states in a ROS 2 bag.
        units: in which unit the logs' positions are where no column states one: `rad`, `degrees`,
            `normalised` or `counts:SERVO`, for joints by name as in `degrees,gripper=normalised`.
        calibration: calibration file of LeRobot, or `limits` where the robot's limits are the calibrated
            range.
        sensor: preset of the simulated robot's sensors.
        posture: where the joints are held, rad or m; None for the right angles nearest to the middle of the
            limits.
        backlash: play between each joint and its encoder, rad or m.
        travel: how far a joint may go to either side, rad or m.
        bandwidth: of the feedback, rad/s; None for 20, or the largest that a joint allows.
        margin: least phase margin, degrees.
        inertia_range: least and most inertia that the margin holds for, over that of the experiments,
            dimensionless; None for those of the description over all poses.
        seed: of sequences and sensors' noise.
        force: whether an earlier result may be replaced.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        The models and their controller; `failed` says why a joint has none.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: no joint can be moved safely, follows its torque and has a margin.
    """
    given = dict(locals())
    from steelyard.workflows.joint_models import joint_models_of

    return joint_models_of(given)
