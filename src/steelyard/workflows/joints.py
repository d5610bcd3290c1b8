"""Model single joints by open-loop experiments, and design the controller that the models give."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from steelyard.arrays import Array
from steelyard.control import JointModel, LoopDesign, inertia_range, shaped_controller
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import (
    FirstOrderFit,
    LoopDelay,
    common_dead_time,
    excited_joint,
    fit_arx,
    fit_first_order,
    joint_trace,
)
from steelyard.export import require_free
from steelyard.files import FilePath
from steelyard.progress import Progress, say
from steelyard.recording import Recording, read, require_readable_logs
from steelyard.robot import Robot, StatedLimits
from steelyard.simulation import joint_experiments, nominal_posture
from steelyard.workflows.given import given_robot
from steelyard.workflows.joint_models import JointModels, ModelledJoint
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ColumnsGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Numbers,
    Option,
    RobotGiven,
    TopicGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)
from steelyard.workflows.record import GivenObjects, RecordedRequest, request_of, require_seed

BANDWIDTH, MARGIN, TRAVEL = 20.0, 45.0, 0.5
"""Of the feedback, rad/s; phase margin, degrees; how far a joint may go, rad or m."""
COUPLED = 0.05
"""Share of its inertia that a joint may lose where the others give way, to show the dead time well."""
_POSES = 1000
"""Poses at which inertias are looked at."""
_KNOWN = 0.3
"""Largest half width of an inertia's interval, over the inertia, to design with."""


@dataclass(frozen=True)
class JointsRequest(RecordedRequest, StatedLimits):
    """The arguments of `joints` as a record holds them; those of objects are their names."""

    robot: str
    logs: tuple[str, ...] = ()
    sensor: str = "low-cost"
    posture: str | None = None
    backlash: float = 0.0
    travel: float = TRAVEL
    bandwidth: float | None = None
    margin: float = MARGIN
    inertia_range: str | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    columns: str | None = None
    topic: str | None = None

    command = "joints"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        return (self.robot, *self.logs, self.columns, self.limits)


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
    given, objects = dict(locals()), GivenObjects()
    several = [log] if isinstance(log, Recording | str | os.PathLike) else log or ()
    given |= {"arguments": argument, "logs": [objects.named(one) for one in several]}
    return joints_of_request(request_of(JointsRequest, given, objects), out, force=force, objects=objects)


def joints_of_request(
    request: JointsRequest,
    out: FilePath | None,
    *,
    force: bool = False,
    objects: GivenObjects | None = None,
) -> JointModels:
    """Experiment or read logs, fit every joint, design the controller and, where a folder is named, write.

    Args:
        request: what was asked.
        out: folder for the result; None to write nothing.
        force: whether an earlier result may be replaced.
        objects: what the request names that is no file.

    Returns:
        The models.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: no joint can be moved safely, follows its torque and has a margin.
    """
    started = time.perf_counter()
    if out is not None:
        require_free(out, force=force)
    done = _modelled(request, objects or GivenObjects())
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _modelled(request: JointsRequest, objects: GivenObjects) -> JointModels:
    require_seed(request.seed)
    robot = given_robot(
        objects.of(request.robot),
        request.gravity,
        request.lock,
        arguments=request.arguments,
        stated=request,
    )
    robot.require_arm()
    logs = [objects.of(name) for name in request.logs]
    experiments, poses = np.random.default_rng(request.seed).spawn(2)
    failed: dict[str, NoSolutionError] = {}
    recordings = _read(request, robot, logs) if logs else _made(request, robot, experiments, failed)
    say(f"2  {len(robot.joints)} joints are fitted")
    found: dict[str, ModelledJoint] = {}
    for name in recordings:
        try:
            found[name] = _fitted(recordings[name])
        except NoSolutionError as error:
            _fail(failed, name, error)
    _require_some(found, failed)
    posture = np.mean([joint.recordings[0].q[0] for joint in found.values()], axis=0)
    free, held = inertia_range(robot, posture[None]).T
    shaken = dict(zip(robot.joint_names, (free < (1.0 - COUPLED) * held).tolist(), strict=True))
    span = _inertia_factors(request, robot, posture, poses)
    while True:
        # A joint that shakes others is lighter at high frequencies, and seems to answer too soon.
        alone = [joint.fit for name, joint in found.items() if not shaken[name]]
        delay = common_dead_time(alone or [joint.fit for joint in found.values()])
        late = f"torques are {1e3 * delay.seconds:.2f} ms late"
        say(f"3  {late}; gains for a phase margin of {request.margin:g}°")
        moving = _with_held(robot, posture, failed)
        try:
            design = _designed(request, moving, found, delay, span)
            break
        except NoSolutionError as error:
            name = str(error.evidence.get("joint"))
            if name not in found:
                raise
            del found[name]
            _fail(failed, name, error)
            _require_some(found, failed)
    return JointModels(
        robot=moving,
        joints=found,
        coupled={name: shaken[name] for name in found},
        delay=delay,
        design=design,
        recordings=recordings,
        failed=failed,
        margin=request.margin,
        seed=request.seed,
        made=not logs,
        request=request,
    )


def _fitted(recordings: tuple[Recording, ...]) -> ModelledJoint:
    traces = tuple(joint_trace(log) for log in recordings)
    fit, plain = fit_first_order(traces), fit_first_order(traces, terms=())
    _require_known(fit)
    return ModelledJoint(recordings, traces, fit, plain, fit_arx(traces))


def _fail(failed: dict[str, NoSolutionError], name: str, error: NoSolutionError) -> None:
    """Go on without a joint: what is known of the others stays known."""
    say(f"   {error}")
    failed[name] = error


def _require_some(joints: Mapping[str, ModelledJoint], failed: Mapping[str, NoSolutionError]) -> None:
    if not joints:
        raise next(iter(failed.values()))


def _with_held(robot: Robot, posture: Array, failed: Mapping[str, NoSolutionError]) -> Robot:
    """The robot with the joints held, where they stood, that have no model."""
    if not failed:
        return robot
    places = {}
    for joint, q in zip(robot.joints, posture, strict=True):
        if joint.name in failed:
            places[joint.name] = float(np.clip(q, joint.limits.lower, joint.limits.upper))
    return robot.locked(places)


def _made(
    request: JointsRequest, robot: Robot, rng: np.random.Generator, failed: dict[str, NoSolutionError]
) -> dict[str, tuple[Recording, ...]]:
    """Experiments by joint; one that cannot be moved safely has none."""
    if request.posture is None:
        posture = nominal_posture(robot)
    else:
        posture = np.array(_numbers(request.posture, "--posture", robot.nv))
    say(f"1  open-loop experiments on {len(robot.joints)} joints of {robot.name}")
    made = {}
    for name in robot.joint_names:
        try:
            made[name] = tuple(
                joint_experiments(
                    robot,
                    posture=posture,
                    rng=rng,
                    sensor=request.sensor,
                    backlash=request.backlash,
                    travel=request.travel,
                    joints=(name,),
                )
            )
        except NoSolutionError as error:
            _fail(failed, name, error)
    return made


def _read(
    request: JointsRequest, robot: Robot, logs: Sequence[Recording | str]
) -> dict[str, tuple[Recording, ...]]:
    say(f"1  {len(logs)} logs are read")
    require_readable_logs(log for log in logs if not isinstance(log, Recording))
    names = robot.joint_names
    recordings = [
        (log if log.joints == names else log.joint_subset(names))
        if isinstance(log, Recording)
        else read(log, joints=names, columns=request.columns, topic=request.topic)
        for log in logs
    ]
    shown = {excited_joint(log) for log in recordings}
    if missing := [name for name in robot.joint_names if name not in shown]:
        raise InputError(
            f"no log has commands of {', '.join(missing)}.",
            place="--log",
            remedy="Give an experiment for every joint, or hold some of them still with --lock.",
        )
    return {
        name: tuple(log for log in recordings if excited_joint(log) == name) for name in robot.joint_names
    }


def _require_known(fit: FirstOrderFit) -> None:
    """Refuse to design for a joint whose inertia the experiments leave open."""
    M, half = fit.model.inertia, fit.inertia_half_width
    if not half <= _KNOWN * M:
        raise NoSolutionError(
            f"the experiments leave the inertia of joint '{fit.joint}' open: {M:.3g} ± {half:.3g}.",
            place="experiments",
            remedy="Choose a --posture where other joints do not give way, or hold them with --lock.",
        )


def _inertia_factors(
    request: JointsRequest, robot: Robot, posture: Array, rng: np.random.Generator
) -> dict[str, Array]:
    """Least and most inertia over that of the experiments by joint, each of shape (2,), dimensionless."""
    if request.inertia_range is not None:
        factors = np.tile(_numbers(request.inertia_range, "--inertia-range", 2), (robot.nv, 1))
    else:
        there = inertia_range(robot, posture[None])[:, 1]
        factors = inertia_range(robot, np.vstack([posture, _poses(robot, posture, rng)])) / there[:, None]
    return dict(zip(robot.joint_names, factors, strict=True))


def _designed(
    request: JointsRequest,
    robot: Robot,
    joints: Mapping[str, ModelledJoint],
    delay: LoopDelay,
    factors: Mapping[str, Array],
) -> LoopDesign:
    # One bus serves all joints: a joint that shows its own dead time badly has that of the others.
    fits = [joint.fit for joint in joints.values()]
    models = [JointModel(fit.model.gain, fit.model.time_constant, delay.seconds) for fit in fits]
    span = np.array([model.inertia * factors[name] for name, model in zip(joints, models, strict=True)])
    return shaped_controller(
        robot,
        models,
        bandwidth=BANDWIDTH if request.bandwidth is None else request.bandwidth,
        cycle=fits[0].interval,
        inertia_range=span,
        phase_margin=math.radians(request.margin),
        at_most=request.bandwidth is None,
    )


def _poses(robot: Robot, posture: Array, rng: np.random.Generator) -> Array:
    """Poses within the limits, a whole turn where a joint has none, shape (N, nv), rad or m."""
    low, high = np.array(posture), np.array(posture)
    for j, joint in enumerate(robot.joints):
        if math.isfinite(joint.limits.lower) and math.isfinite(joint.limits.upper):
            low[j], high[j] = joint.limits.lower, joint.limits.upper
        elif joint.kind.rotates:
            low[j], high[j] = -math.pi, math.pi
    return rng.uniform(low, high, (_POSES, robot.nv))


def _numbers(text: str, place: str, count: int) -> list[float]:
    """Numbers between commas, as many as are wanted."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise InputError(f"expected {count} numbers between commas, got '{text}'.", place=place)
    return values
