"""Identify a robot from its logs: an estimate that is judged on data it has not seen, and its files."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from steelyard.consistency import GeometricPrior, link_shapes, sane_prior
from steelyard.control import LoopSettings
from steelyard.errors import InputError
from steelyard.export import require_free
from steelyard.files import FilePath
from steelyard.layout import Layout, layout_of
from steelyard.motion import Motion
from steelyard.progress import Progress, say
from steelyard.recording import Log, require_readable_logs
from steelyard.robot import Robot
from steelyard.workflows.given import given_robot, mesh_folder
from steelyard.workflows.identification import Identification
from steelyard.workflows.identification_data import identification_data
from steelyard.workflows.identify_request import (
    CLOSED_LOOP,
    DRIVE,
    IdentifyRequest,
    drive_terms,
    known_moments,
    require_sound,
)
from steelyard.workflows.judged_estimate import identify_from
from steelyard.workflows.logs import (
    absent_joints,
    listed_logs,
    torque_constant_errors,
    torque_constants,
    torque_signs,
)
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ByJoint,
    ByName,
    ColumnsGiven,
    CutoffGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    RobotGiven,
    TopicGiven,
    TorqueConstantErrorGiven,
    TorqueConstantGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)
from steelyard.workflows.record import GivenObjects, request_of


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
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> Identification:
    """Identify a robot from its logs, judge the model and write it; exit code 1 if the verdict is fail.

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
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        The model with its verdict.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: the data does not determine what was asked for.
    """
    given = dict(locals())
    objects = GivenObjects()
    given |= {
        "arguments": argument,
        "logs": [objects.named(log) for log in listed_logs(logs)],
        "holdout": None if holdout is None else objects.named(holdout),
    }
    return identification_of_request(
        request_of(IdentifyRequest, given, objects), out, force=force, objects=objects
    )


def identification_of_request(
    request: IdentifyRequest,
    out: FilePath | None,
    *,
    force: bool = False,
    objects: GivenObjects | None = None,
) -> Identification:
    """Identify, judge and, where a folder is named, write.

    Args:
        request: what was asked.
        out: folder for the result; None to write nothing.
        force: whether an earlier result may be replaced.
        objects: what the request names that is no file.

    Returns:
        What was found out.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the data does not determine what was asked for.
    """
    started, objects = time.perf_counter(), objects or GivenObjects()
    if out is not None:
        require_free(Path(out), force=force)
    require_sound(request)
    recorded = request.document()
    robot = given_robot(
        objects.of(request.robot), request.gravity, request.lock, arguments=request.arguments, stated=request
    )
    logs = [objects.of(name) for name in request.logs]
    require_readable_logs([*logs, *([] if request.holdout is None else [objects.of(request.holdout)])])
    absent = absent_joints(robot, logs, request.columns, request.topic)
    asked_first = request
    robot, request = absent.held(robot), replace(request, lock=(*request.lock, *absent.locks))
    layout = layout_of(robot, drive_terms(request))
    prior = _prior(request, robot, layout, objects)
    constants = torque_constants(request.torque_constant, robot.nv)
    names = [joint.name for joint in robot.joints if joint.nv]
    torque_signs(request.torque_sign, names)
    moments = known_moments(request.known_moment, names)
    if request.known_moment and request.method == CLOSED_LOOP:
        raise InputError(
            f"calibrates torques that are learnt from, which '{CLOSED_LOOP}' simulates.",
            place="--known-moment",
            remedy="Use another --method, then give its constants by --torque-constant.",
        )
    say(f"1  read {len(request.logs)} log{'s' if len(request.logs) > 1 else ''} of {robot.name}")
    asked = identification_data(
        request, robot, layout, None if prior is None else prior.parameters, constants, objects
    )
    if prior is not None:
        meshes = mesh_folder(objects.of(request.robot))
        shapes = link_shapes(robot, meshes) if request.shapes else {}
        known = {**asked.knowledge, "guessed": prior.replaced, "shapes": shapes}
        asked = replace(asked, knowledge=known, findings=(*prior.findings, *asked.findings))
    errors = torque_constant_errors(
        request.torque_constant_error, robot.nv, from_current=constants is not None
    )
    asked = replace(
        asked,
        constant_errors=errors,
        constants=constants,
        moments=moments,
        findings=(*absent.findings, *asked.findings),
    )
    done = identify_from(asked, request.method)
    done = replace(done, request=asked_first, recorded=recorded, constants=constants)
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _prior(
    request: IdentifyRequest, robot: Robot, layout: Layout, objects: GivenObjects
) -> GeometricPrior | None:
    """What is believed beforehand: the description's numbers, those of another one, or nothing.

    Links that nobody stated, or that cannot be believed, get bodies from their shapes.
    """
    if request.prior == "none":
        return None
    given = None
    if request.prior is not None:
        other = given_robot(
            objects.of(request.prior), request.gravity, request.lock, arguments=request.arguments
        )
        believed = layout_of(other, layout.drive)
        if believed.names != layout.names:
            raise InputError(
                "has other links or joints than the robot.",
                place=f"--prior {request.prior}",
                remedy="Give a description of the same robot with other numbers, or none.",
            )
        given = believed.nominal
    return sane_prior(robot, layout, given, meshes=mesh_folder(objects.of(request.robot)))
