"""Identify a robot from its logs: an estimate that is judged on data it has not seen, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ByJoint,
    ByName,
    CalibrationGiven,
    ColumnsGiven,
    CutoffGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    PackagePathGiven,
    RobotGiven,
    TopicGiven,
    TorqueConstantErrorGiven,
    TorqueConstantGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.control import LoopSettings
    from steelyard.motion import Motion
    from steelyard.recording import Log
    from steelyard.robot import Robot
    from steelyard.workflows.identification import Identification
    from steelyard.workflows.servo_identification import ServoIdentification

DRIVE = "viscous,coulomb,offset,rotor"
"""The linear drive: what is asked about where left-out blocks do not decide."""


@workflow
def identify(
    robot: RobotGiven,
    logs: Annotated[
        Log | Sequence[Log], Option("Logs to identify from.", argument=True, metavar="LOG…", repeated=True)
    ],
    *,
    out: Annotated[FilePath | None, Option("Folder for the result.", metavar="PATH", required=True)] = None,
    holdout: Annotated[
        Log | None,
        Option(
            "A log of another motion, to judge by.",
            metavar="LOG",
            default="a stretch of the last log that repeats nothing",
        ),
    ] = None,
    method: Annotated[
        str,
        Option(
            "Estimator: auto, ols, wls, huber, ridge, bounded, lmi, entropic, cholesky, momentum, iv or "
            "clie (closed-loop input error).",
            default=True,
        ),
    ] = "auto",
    drive: Annotated[
        str | Sequence[str] | None,
        Option(
            "Drive terms at every joint.",
            metavar="LIST",
            default=f"{DRIVE}; with --method auto also what left-out blocks ask for",
        ),
    ] = None,
    torque_constant: TorqueConstantGiven = None,
    torque_constant_error: TorqueConstantErrorGiven = None,
    known_moment: Annotated[
        Sequence[str] | None,
        Option(
            "Torque that holds a joint against gravity at a pose (rad, m), by a scale and a lever, with "
            "its standard deviation (2 % if not given): it calibrates the torque constants; may be repeated.",
            metavar="JOINT=NM[~SD]@Q,…",
            repeated=True,
        ),
    ] = None,
    torque_sign: Annotated[
        ByJoint | None,
        Option(
            "Sign of the logged torques: of joints by name, one for each joint, or - to turn all.",
            metavar="J=-1,…|-",
            default="as logged",
        ),
    ] = None,
    columns: ColumnsGiven = None,
    topic: TopicGiven = None,
    units: UnitsGiven = None,
    calibration: CalibrationGiven = None,
    signals: Annotated[
        str,
        Option(
            "What is learnt from: torque; or position, where logs hold commands and no torque.",
            metavar="torque|position",
            default="torque where the first log has it or currents, else position",
        ),
    ] = "auto",
    cutoff: CutoffGiven = None,
    prior: Annotated[
        Robot | FilePath | None,
        Option(
            "Numbers believed beforehand; they decide what the data does not.",
            metavar="ROBOT|none",
            default="the description's",
        ),
    ] = None,
    motion: Annotated[
        Motion | FilePath | None,
        Option(
            "The planned motion: instruments of --method iv, references of clie.",
            metavar="MOTION",
            default="the references in the logs",
        ),
    ] = None,
    controller: Annotated[
        LoopSettings | FilePath | None,
        Option(
            "The controller that followed it (TOML): --method iv and clie simulate the closed loop.",
            metavar="FILE",
        ),
    ] = None,
    window: Annotated[
        float | None,
        Option(
            "Time over which --method momentum integrates, on the log at its own rate.",
            metavar="SECONDS",
            default="0.1",
        ),
    ] = None,
    static: Annotated[
        bool, Option("The logs hold poses: identify what statics can.", flag="--static")
    ] = False,
    draws: Annotated[
        int, Option("Models to draw from the posterior, for domain randomisation.", default=True, least=0)
    ] = 0,
    seed: Annotated[int, Option("Seed of the drawn models.", default=True, least=0)] = 0,
    strength: Annotated[
        float | None,
        Option(
            "How strongly links are drawn to the prior: 1 weighs a link that is off by its own size "
            "like one sample that is off by its noise.",
            default="the strongest that predicts left-out blocks as well as the best",
        ),
    ] = None,
    prior_error: Annotated[
        float | None,
        Option(
            "Relative accuracy of the prior's links, for the intervals of full parameters.", default="0.3"
        ),
    ] = None,
    total_mass: Annotated[
        float | None, Option("What the robot weighs on a scale, base included.", metavar="KG")
    ] = None,
    mass: Annotated[
        ByName | None,
        Option("A link that was weighed; may be repeated.", metavar="LINK=KG", repeated=True),
    ] = None,
    rotor: Annotated[
        ByName | None,
        Option(
            "Rotor inertia at the joint's output, from a data sheet, kg·m²; may be repeated.",
            metavar="JOINT=KGM2",
            repeated=True,
        ),
    ] = None,
    equal: Annotated[
        Sequence[str] | Mapping[str, str] | None,
        Option(
            "Two links built alike, such as those of two legs; may be repeated.",
            metavar="LINK=LINK",
            repeated=True,
        ),
    ] = None,
    shapes: Annotated[
        bool,
        Option(
            "Keep centres of mass inside the shapes of their links, where the description has some.",
            flag="--shapes/--no-shapes",
            default=True,
        ),
    ] = True,
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
) -> Identification | ServoIdentification:
    """Identify a robot from its logs, judge the model and write it; exit code 1 if the verdict is fail.

    Logs of commands and positions alone tell of servos: gains, friction, armature and delay.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        logs: what to identify from, one log or several: paths, recordings, columns by name, or data frames.
        out: folder for the result; None to write nothing, which `Identification.save` may do later.
        holdout: a log of another motion, to judge by; None to keep a stretch of the last one apart.
        method: estimator.
        drive: drive terms at every joint; None for the linear ones, and with `auto` what left-out blocks ask
            for.
        torque_constant: torque per current at each joint, N·m/A or N/A; None for logged torques.
        torque_constant_error: relative standard deviation of those, dimensionless, one for all or one each.
        known_moment: torques that hold a joint against gravity at a pose, as `elbow=12.5~0.2@0,1.57,0`, N·m
            and rad; they calibrate the torque constants.
        torque_sign: signs of the logged torques, by joint or in order; `-` turns all.
        columns: what the columns of the logs are.
        topic: of joint states, in bags with several.
        units: in which unit the logs' positions are where no column states one: `rad`, `degrees`,
            `normalised` or `counts:SERVO`, for joints by name as in `degrees,gripper=normalised`.
        calibration: calibration file of LeRobot, or `limits` where the robot's limits are the calibrated
            range.
        signals: `torque` or `position`, what is learnt from; `auto` takes torques where there are some.
        cutoff: of the low-pass filter, Hz; None to choose it.
        prior: numbers believed beforehand: another description of the robot, or `none`; None for its own.
        motion: the planned motion, or its file.
        controller: the controller with its timing, or its file.
        window: time over which `momentum` integrates, s.
        static: whether the logs hold poses.
        draws: how many models are drawn from the posterior and written.
        seed: of those.
        strength: how strongly links are drawn to the prior, dimensionless; None to choose it.
        prior_error: relative accuracy of the prior's links, dimensionless.
        total_mass: what the robot weighs, base included, kg.
        mass: masses of links that were weighed, kg, by name.
        rotor: rotor inertias at the joints' outputs, kg·m² or kg, by joint.
        equal: pairs of links built alike.
        shapes: whether centres of mass stay inside the shapes of their links.
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
        The model with its verdict; of logs without torque, the servos with theirs.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: the data does not determine what was asked for.
    """
    given = dict(locals())
    from steelyard.workflows.judged_estimate import identification_of

    return identification_of(given)
