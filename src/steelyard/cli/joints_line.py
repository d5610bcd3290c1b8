"""From experiments to a controller: what `steelyard joints` does, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.cli.joints_request import BANDWIDTH, JointsRequest, numbers_of
from steelyard.cli.output import say
from steelyard.cli.robot_argument import given_robot
from steelyard.control import JointModel, LoopDesign, inertia_range, shaped_controller
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import (
    ArxModel,
    FirstOrderFit,
    JointTrace,
    LoopDelay,
    common_dead_time,
    excited_joint,
    fit_arx,
    fit_first_order,
    joint_trace,
)
from steelyard.recording import Recording, read, require_readable_logs
from steelyard.robot import Robot
from steelyard.simulate import joint_experiments, nominal_posture

_POSES = 1000
"""Poses at which inertias are looked at."""
_KNOWN = 0.3
"""Largest half width of an inertia's interval, over the inertia, to design with."""
COUPLED = 0.05
"""Share of its inertia that a joint may lose where the others give way, to show the dead time well."""


@dataclass(frozen=True, eq=False)
class ModelledJoint:
    """One joint: its experiments and what was made of them."""

    recordings: tuple[Recording, ...]
    traces: tuple[JointTrace, ...]
    fit: FirstOrderFit
    plain: FirstOrderFit
    arx: ArxModel


@dataclass(frozen=True, eq=False)
class Modelled:
    """What was asked and found out.

    Attributes:
        request: what was asked.
        robot: the robot; joints without a model are held where they stood.
        joints: the others, in its order.
        coupled: whether others give way where each of them is driven.
        delay: from a reading to the arrival of its torque.
        design: their controller.
        recordings: the experiments of every joint by its name, of those without a model too.
        failed: why a joint has no model, by its name.
    """

    request: JointsRequest
    robot: Robot
    joints: tuple[ModelledJoint, ...]
    coupled: tuple[bool, ...]
    delay: LoopDelay
    design: LoopDesign
    recordings: Mapping[str, tuple[Recording, ...]]
    failed: Mapping[str, NoSolutionError]


def modelled(request: JointsRequest) -> Modelled:
    """Experiment or read logs, fit every joint, and design the controller."""
    robot = given_robot(
        request.robot, request.gravity, request.lock, arguments=request.arguments, stated=request
    )
    robot.require_arm()
    experiments, poses = np.random.default_rng(request.seed).spawn(2)
    failed: dict[str, NoSolutionError] = {}
    recordings = _read(request, robot) if request.logs else _made(request, robot, experiments, failed)
    say(f"2  {len(robot.joints)} joints are fitted")
    joints: dict[str, ModelledJoint] = {}
    for name in recordings:
        try:
            joints[name] = _fitted(recordings[name])
        except NoSolutionError as error:
            _fail(failed, name, error)
    _require_some(joints, failed)
    posture = np.mean([joint.recordings[0].q[0] for joint in joints.values()], axis=0)
    free, held = inertia_range(robot, posture[None]).T
    shaken = dict(zip(robot.joint_names, (free < (1.0 - COUPLED) * held).tolist(), strict=True))
    span = _inertia_factors(request, robot, posture, poses)
    while True:
        # A joint that shakes others is lighter at high frequencies, and seems to answer too soon.
        alone = [joint.fit for name, joint in joints.items() if not shaken[name]]
        delay = common_dead_time(alone or [joint.fit for joint in joints.values()])
        late = f"torques are {1e3 * delay.seconds:.2f} ms late"
        say(f"3  {late}; gains for a phase margin of {request.margin:g}°")
        moving = _with_held(robot, posture, failed)
        try:
            design = _designed(request, moving, joints, delay, span)
            break
        except NoSolutionError as error:
            name = str(error.evidence.get("joint"))
            if name not in joints:
                raise
            del joints[name]
            _fail(failed, name, error)
            _require_some(joints, failed)
    coupled = tuple(shaken[name] for name in joints)
    return Modelled(request, moving, tuple(joints.values()), coupled, delay, design, recordings, failed)


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
        posture = np.array(numbers_of(request.posture, "--posture", robot.nv))
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


def _read(request: JointsRequest, robot: Robot) -> dict[str, tuple[Recording, ...]]:
    say(f"1  {len(request.logs)} logs are read")
    require_readable_logs(request.logs)
    recordings = [
        read(path, joints=robot.joint_names, columns=request.columns, topic=request.topic)
        for path in request.logs
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
        factors = np.tile(numbers_of(request.inertia_range, "--inertia-range", 2), (robot.nv, 1))
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
