"""Design a motion that shows the parameters, inside every limit and clear of everything, and prove it."""

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
    FloorGiven,
    ForceGiven,
    GravityGiven,
    JerkGiven,
    LimitsGiven,
    LockGiven,
    NoClearanceGiven,
    Numbers,
    Option,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    ToolGiven,
    TopicGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.inertia import Body
    from steelyard.limits import Scene
    from steelyard.motion import AnyMotion
    from steelyard.recording import Recording
    from steelyard.workflows.excitation import Excitation

HARMONICS, PIECES, PERIOD, START, BUDGET = 5, 12, 10.0, "home", 10.0
"""Of a search where nothing is said: harmonics, pieces, s, where it starts, s."""
RATE, SLOWER = 100.0, 4.0
"""Rate of the sampled files, Hz; how many times slower the rehearsal is."""
ACTION = "/joint_trajectory_controller/follow_joint_trajectory"
"""Action of ROS 2 that runs a motion, as ros2_controllers name it by default."""


@workflow
def excite(
    robot: RobotGiven,
    *,
    out: Annotated[
        FilePath | None,
        Option("Motion file (.json); more is written beside it.", metavar="MOTION", required=True),
    ] = None,
    family: Annotated[
        str, Option("Family of motions: fourier, spline or primitives.", default=True)
    ] = "fourier",
    motion_name: Annotated[
        str | None,
        Option(
            "Structured motion to take, such as AG02.", metavar="NAME", default="the best by the criterion"
        ),
    ] = None,
    harmonics: Annotated[
        int | None, Option("Harmonics of a Fourier series.", default=str(HARMONICS), least=2)
    ] = None,
    pieces: Annotated[int | None, Option("Pieces of a spline.", default=str(PIECES), least=2)] = None,
    period: Annotated[
        float | None,
        Option(
            "How long the motion lasts; primitives last as long as they need.",
            metavar="SECONDS",
            default=f"{PERIOD:g}",
        ),
    ] = None,
    criterion: Annotated[
        str,
        Option(
            "What makes it good: cond, cond-normalised, cond-orthonormal, rc, rc-free, a, d or e.",
            default=True,
        ),
    ] = "cond",
    target: Annotated[
        str, Option("Whose parameters to show: robot or payload.", flag="--for", default=True)
    ] = "robot",
    start: Annotated[
        Numbers | None,
        Option(
            "Where it starts and ends, at rest; primitives have postures.",
            metavar="home|free|Q,…",
            default=START,
        ),
    ] = None,
    drive: Annotated[
        str | Sequence[str], Option("Drive terms at every joint.", metavar="LIST", default=True)
    ] = "viscous,coulomb",
    tool: ToolGiven = None,
    tool_scale: Annotated[float, Option("Metres per unit of the tool's mesh.", default=True)] = 1.0,
    scene: Annotated[Scene | FilePath | None, Option("Obstacles (TOML or JSON).", metavar="PATH")] = None,
    payload: Annotated[
        Body | FilePath | None,
        Option("What it will hold along the motion (JSON); torques count it.", metavar="FILE"),
    ] = None,
    floor: FloorGiven = "base",
    ignore: Annotated[
        Sequence[str] | Sequence[tuple[str, str]] | None,
        Option(
            "Links, obstacles or `tool` that may touch each other; may be repeated.",
            metavar="NAME:NAME",
            repeated=True,
        ),
    ] = None,
    distance: Annotated[float, Option("How far everything stays apart, m.", default=True, least=0.0)] = 0.01,
    after: Annotated[
        Recording | FilePath | Sequence[Recording | FilePath] | None,
        Option("Data already recorded; may be repeated.", metavar="LOG", repeated=True),
    ] = None,
    columns: ColumnsGiven = None,
    topic: TopicGiven = None,
    units: UnitsGiven = None,
    calibration: CalibrationGiven = None,
    planned: Annotated[
        AnyMotion | FilePath | None,
        Option(
            "With --for payload: a motion that is planned anyway; says what it cannot show and adds the "
            "least that does.",
            metavar="MOTION",
        ),
    ] = None,
    without: Annotated[
        str | Sequence[str], Option("Limits not to keep: acceleration, torque, clearance.", metavar="LIST")
    ] = "",
    allow_no_clearance: NoClearanceGiven = False,
    parameter_range: Annotated[
        float,
        Option("By how much the nominal parameters may be wrong.", metavar="SHARE", default=True, least=0.0),
    ] = 0.0,
    budget: Annotated[
        float | None,
        Option("Time for the search; primitives need none.", metavar="SECONDS", default=f"{BUDGET:g}"),
    ] = None,
    rounds: Annotated[
        int | None, Option("Stop after so many local searches instead; the same bits come again.")
    ] = None,
    rate: Annotated[float, Option("Rate of the sampled files.", metavar="HZ", default=True)] = RATE,
    slower: Annotated[float, Option("How many times slower the rehearsal is.", default=True)] = SLOWER,
    action: Annotated[
        str, Option("Action of ROS 2 that is told to run the motion.", metavar="NAME", default=True)
    ] = ACTION,
    seed: Annotated[int, Option("Seed of the search.", default=True, least=0)] = 0,
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
    jerk: JerkGiven = None,
    progress: Progress | None = None,
) -> Excitation:
    """Design a motion, prove that it keeps every limit, and write it.

    Exit code 3 if it cannot be proven, or if something that could hit or overload is not part of the proof,
    as a link whose mesh was not found; the motion is written all the same, and both are said.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        out: the motion file, `.json`, with samples, trajectory, goal, rehearsal, proof and page beside it;
            None to write nothing.
        family: `fourier`, `spline`, or `primitives` for the best structured motion.
        motion_name: the structured motion to take, such as `AG02`; None for the best.
        harmonics: of a Fourier series; None for 5.
        pieces: of a spline; None for 12.
        period: how long a motion that is searched for lasts, s; None for 10.
        criterion: what makes it good, a `Criterion` or its word.
        target: whose parameters to show, `robot` or `payload`.
        start: where a motion that is searched for starts and ends, at rest: `home`, `free` or positions,
            rad or m; None for home.
        drive: names of the drive terms at every joint.
        tool: file of the shape of tool and load, in the tool frame; `none` where they add none.
        tool_scale: metres per unit of that mesh, m.
        scene: obstacles, or their file.
        payload: what it will hold along the motion, or its file; torques count it.
        floor: `base`, `none`, or a height above the base frame, m.
        ignore: pairs of links, obstacles or `tool` that may touch each other.
        distance: how far everything stays apart, m.
        after: data already recorded, or its files: what it shows counts.
        columns: names of the logs' columns.
        topic: of joint states in a ROS 2 bag.
        units: in which unit the logs' positions are where no column states one: `rad`, `degrees`,
            `normalised` or `counts:SERVO`, for joints by name as in `degrees,gripper=normalised`.
        calibration: calibration file of LeRobot, or `limits` where the robot's limits are the calibrated
            range.
        planned: a motion that is planned anyway, or its file; with `target="payload"`, what it cannot show is
            added to it and nothing is searched for.
        without: kinds of limits not to keep: `acceleration`, `torque`, `clearance`.
        allow_no_clearance: whether it is accepted that shapes are missing, of robot, tool or load; the answer
            still says so.
        parameter_range: by which share the nominal parameters may be wrong, dimensionless.
        budget: time for the search, s; None for 10.
        rounds: local searches after which it stops, instead of the time; None for the time.
        rate: of the sampled files, Hz.
        slower: how many times slower the rehearsal is, dimensionless.
        action: of ROS 2, of type `control_msgs/action/FollowJointTrajectory`, to which the goal is sent.
        seed: of the search.
        force: whether earlier files may be replaced.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        jerk: largest jerks, rad/s³ or m/s³; the motion is slowed until it keeps them.
        progress: told what is done, and how far the search is.

    Returns:
        The motion, what it shows, and what is proven of it: a `DesignedMotion`, or with `planned` a
        `SupplementedMotion`. One that is not certified is returned all the same.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: no motion was found within the limits.
        SolverError: the proof and what other code saw disagree.
    """
    from steelyard.workflows.motion_design import excitation_of

    return excitation_of(
        robot,
        out=out,
        family=family,
        motion_name=motion_name,
        harmonics=harmonics,
        pieces=pieces,
        period=period,
        criterion=criterion,
        target=target,
        start=start,
        drive=drive,
        tool=tool,
        tool_scale=tool_scale,
        scene=scene,
        payload=payload,
        floor=floor,
        ignore=ignore,
        distance=distance,
        after=after,
        columns=columns,
        topic=topic,
        units=units,
        calibration=calibration,
        planned=planned,
        without=without,
        allow_no_clearance=allow_no_clearance,
        parameter_range=parameter_range,
        budget=budget,
        rounds=rounds,
        rate=rate,
        slower=slower,
        action=action,
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
        jerk=jerk,
    )
