"""Weigh what an arm holds, and write it as an asset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ByName,
    CalibrationGiven,
    ColumnsGiven,
    CutoffGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Numbers,
    Option,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    TopicGiven,
    TorqueConstantErrorGiven,
    TorqueConstantGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.inertia import Body
    from steelyard.model import Model
    from steelyard.recording import Recording
    from steelyard.workflows.weighed_payload import Payload

    Logs = Recording | FilePath | Sequence[Recording | FilePath]
    """One run or several: paths, or recordings."""


@workflow
def payload(
    robot: RobotGiven,
    *,
    loaded: Annotated[Logs, Option("A run with the payload; may be repeated.", metavar="LOG", repeated=True)],
    out: Annotated[FilePath | None, Option("Folder for the asset.", metavar="PATH", required=True)] = None,
    empty: Annotated[
        Logs | None,
        Option("A run without it, best of the same motion; may be repeated.", metavar="LOG", repeated=True),
    ] = None,
    model: Annotated[
        Model | FilePath | None,
        Option("The robot without payload: a result folder, or a description.", metavar="DIR|ROBOT"),
    ] = None,
    wrench: Annotated[
        str | None,
        Option(
            "Weigh by the force-torque sensor in this link's frame (columns wrench_LINK_fx … _mz).",
            metavar="LINK",
            default="weigh by joint torques",
        ),
    ] = None,
    wrench_sign: Annotated[
        str,
        Option(
            "What the sensor shows: load (what the load exerts on it) or reaction (the opposite).",
            default=True,
        ),
    ] = "load",
    way: Annotated[
        str,
        Option(
            "How to weigh: auto, residual (loaded minus empty), model (known robot), arm (estimated twice).",
            default=True,
        ),
    ] = "auto",
    method: Annotated[str, Option("Estimator: wls, ols, huber or momentum.", default=True)] = "wls",
    window: Annotated[
        float | None,
        Option(
            "Time over which --method momentum integrates, on the log at its own rate.",
            metavar="SECONDS",
            default="0.1",
        ),
    ] = None,
    point: Annotated[
        str, Option("Which body that agrees with the data: mean, lmi or cholesky.", default=True)
    ] = "mean",
    mesh: Annotated[
        FilePath | None,
        Option("Its shape: STL or OBJ; PLY, GLB and DAE with the extra 'meshes'.", metavar="PATH"),
    ] = None,
    scale: Annotated[float, Option("Metres in a unit of the mesh.", default=True)] = 1.0,
    mesh_pose: Annotated[
        Numbers | None,
        Option(
            "The mesh's frame in the payload's frame, m and rad.",
            metavar="X,Y,Z[,R,P,Y]",
            default="the payload's frame itself",
        ),
    ] = None,
    mesh_turn: Annotated[
        Numbers | None,
        Option(
            "Turn of the mesh's frame, rad, where its place is not known: found by the centre of mass.",
            metavar="R,P,Y",
        ),
    ] = None,
    grasp: Annotated[
        Numbers | None,
        Option(
            "The payload's frame in the tool frame, m and rad.",
            metavar="X,Y,Z[,R,P,Y]",
            default="the tool frame itself",
        ),
    ] = None,
    truth: Annotated[
        Body | FilePath | None,
        Option(
            "The true payload (JSON, in the tool frame): drop, push and swing the asset beside it.",
            metavar="PATH",
        ),
    ] = None,
    heaviest: Annotated[float, Option("Mass that it cannot exceed, kg.", default=True)] = 100.0,
    extent: Annotated[float, Option("Radius about its frame that it cannot leave, m.", default=True)] = 0.5,
    torque_error: Annotated[
        Numbers | None,
        Option("Bound of the torque error, a share and N·m: asks for guaranteed bounds.", metavar="R,A"),
    ] = None,
    model_error: Annotated[
        float, Option("Bound of the error of the robot's own numbers, as a share.", default=True, least=0.0)
    ] = 0.05,
    velocity_error: Annotated[
        float,
        Option("Bound of the velocity error, rad/s or m/s, for guaranteed bounds.", default=True, least=0.0),
    ] = 1e-3,
    position_error: Annotated[
        float | None,
        Option(
            "Bound of the position error, rad or m, for guaranteed bounds.",
            default="the least step in the log",
            least=0.0,
        ),
    ] = None,
    torque_delay: Annotated[
        float,
        Option(
            "Most that a torque can be late or early, s, for guaranteed bounds.",
            default=True,
            least=0.0,
            most=0.1,
        ),
    ] = 2e-3,
    torque_constant: TorqueConstantGiven = None,
    torque_constant_error: TorqueConstantErrorGiven = None,
    known_load: Annotated[
        Logs | None,
        Option(
            "A run with a load that is known: it calibrates the torque constants; may be repeated.",
            metavar="LOG",
            repeated=True,
        ),
    ] = None,
    known_mass: Annotated[float | None, Option("Mass of the known load.", metavar="KG")] = None,
    known_com: Annotated[
        Numbers | None,
        Option(
            "Centre of mass of the known load in the payload's frame, m.", metavar="X,Y,Z", default="unknown"
        ),
    ] = None,
    known_body: Annotated[
        Body | FilePath | None,
        Option("The known load with all its numbers (JSON, in the tool frame), as --truth.", metavar="PATH"),
    ] = None,
    other_torque_constant: Annotated[
        Sequence[Numbers] | None,
        Option(
            "Torque per current by another source: what would the answer be; may be repeated.",
            metavar="K,…",
            repeated=True,
        ),
    ] = None,
    columns: ColumnsGiven = None,
    topic: TopicGiven = None,
    units: UnitsGiven = None,
    calibration: CalibrationGiven = None,
    cutoff: CutoffGiven = None,
    seed: Annotated[int, Option("Seed of the draws behind the intervals.", default=True, least=0)] = 0,
    force: ForceGiven = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    empty_lock: Annotated[
        ByName | None,
        Option(
            "Where a locked joint was in the empty run, as fingers that were open.",
            metavar="JOINT=Q",
            default="as in the loaded run",
            repeated=True,
        ),
    ] = None,
    tool_frame: ToolFrameGiven = None,
    controller: Annotated[
        str | Sequence[str] | None,
        Option(
            "Write the load for controllers too: ur, franka, kuka, abb, fanuc, ros2, or all.",
            metavar="NAME,…|all",
        ),
    ] = None,
    flange_frame: Annotated[
        str | None,
        Option(
            "Link whose frame the controller takes the load in.",
            metavar="LINK",
            default="tool0 where there is one, else the tool frame",
        ),
    ] = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> Payload:
    """Weigh what the arm holds and write it as an asset; exit code 1 if the verdict is fail.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        loaded: runs with the payload: one or several, paths or recordings.
        out: folder for the asset; None to write nothing.
        empty: runs without it, best of the same motion.
        model: the robot without payload: a result folder, a zoo name, or the path of a description.
        wrench: link in whose frame a force-torque sensor sits between arm and load, by whose columns
            `wrench_<link>_fx` to `_mz` is weighed; None to weigh by joint torques.
        wrench_sign: what the sensor shows: `load`, what the load exerts on it, or `reaction`, the opposite.
        way: `auto`, `residual` (loaded minus empty), `model` (known robot) or `arm` (estimated twice).
        method: estimator: `wls`, `ols`, `huber` or `momentum`.
        window: time over which the method `momentum` integrates, s; None for 0.1 s.
        point: which body that agrees with the data: `mean`, `lmi` or `cholesky`.
        mesh: file of its shape: STL or OBJ; PLY, GLB and DAE with the extra `meshes`.
        scale: metres in a unit of the mesh.
        mesh_pose: the mesh's frame in the payload's: x, y, z, m, and perhaps roll, pitch, yaw, rad; None
            where they are one.
        mesh_turn: roll, pitch, yaw of the mesh's frame in the payload's, rad, where only these are known:
            its centroid at uniform density is put at the centre of mass. None for what `mesh_pose` says.
        grasp: the payload's frame in the tool frame: x, y, z, m, and perhaps roll, pitch, yaw, rad; None for
            the tool frame itself.
        truth: the true payload in the tool frame, or its file, beside which the asset is dropped, pushed and
            swung.
        heaviest: mass that it cannot exceed, kg.
        extent: radius about its frame that it cannot leave, m.
        torque_error: bound of the torque error, a share and N·m; asks for guaranteed bounds.
        model_error: bound of the error of the robot's own numbers, as a share, dimensionless.
        velocity_error: bound of the velocity error, rad/s or m/s, for guaranteed bounds.
        position_error: bound of the position error, rad or m; None for the least step in the log.
        torque_delay: most that a torque can be late or early, s, for guaranteed bounds.
        torque_constant: torque per current at each joint, N·m/A.
        torque_constant_error: relative standard deviation of the torque constants, dimensionless; None for
            0.1 with torque constants and 0 without.
        known_load: runs with a load that is known, which calibrates the torque constants.
        known_mass: mass of the known load, kg.
        known_com: its centre of mass in the payload's frame, m; None where it is unknown.
        known_body: the known load with all its numbers in the tool frame, or its file.
        other_torque_constant: torque constants by other sources, each as `torque_constant`, N·m/A.
        columns: names of the logs' columns, as `recording.read` takes them.
        topic: topic of joint states in logs that are bags; None for the only one.
        units: in which unit the logs' positions are where no column states one: `rad`, `degrees`,
            `normalised` or `counts:SERVO`, for joints by name as in `degrees,gripper=normalised`.
        calibration: calibration file of LeRobot, or `limits` where the robot's limits are the calibrated
            range.
        cutoff: cut-off of the low-pass filter, Hz; None to choose it by the spectrum.
        seed: seed of the draws behind the intervals.
        force: whether an earlier result may be replaced.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        empty_lock: where they were in the empty run, as fingers that were open; None for the same.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        controller: controllers that files are written for: `ur`, `franka`, `kuka`, `abb`, `fanuc`, `ros2`, or
            `all`; None for none.
        flange_frame: link whose frame a controller takes the load in; None for `tool0` where the description
            has it at the load, else the tool frame.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        What the arm holds, with intervals, bounds and a verdict.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: the data does not determine a payload, or contradicts what was assumed.
    """
    given = dict(locals())
    from steelyard.workflows.weighing import payload_weighed

    return payload_weighed(given)
