"""From experiments to a controller: what `steelyard joints` does, step by step."""

from __future__ import annotations

import math
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
from steelyard.recording import Recording, read
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
    """What was asked and found out."""

    request: JointsRequest
    robot: Robot
    joints: tuple[ModelledJoint, ...]
    coupled: tuple[bool, ...]
    delay: LoopDelay
    design: LoopDesign


def modelled(request: JointsRequest) -> Modelled:
    """Experiment or read logs, fit every joint, and design the controller."""
    robot = given_robot(request.robot, request.gravity, request.lock, arguments=request.arguments)
    robot.require_arm()
    experiments, poses = np.random.default_rng(request.seed).spawn(2)
    recordings = _read(request, robot) if request.logs else _made(request, robot, experiments)
    say(f"2  {len(robot.joints)} joints are fitted")
    joints = []
    for name in robot.joint_names:
        own = tuple(log for log in recordings if excited_joint(log) == name)
        traces = tuple(joint_trace(log) for log in own)
        joints.append(
            ModelledJoint(
                own, traces, fit_first_order(traces), fit_first_order(traces, terms=()), fit_arx(traces)
            )
        )
    _require_known(joints)
    posture = np.mean([joint.recordings[0].q[0] for joint in joints], axis=0)
    free, held = inertia_range(robot, posture[None]).T
    coupled = tuple(bool(x) for x in free < (1.0 - COUPLED) * held)
    # A joint that shakes others is lighter at high frequencies, and seems to answer too soon.
    alone = [joint.fit for joint, shakes in zip(joints, coupled, strict=True) if not shakes]
    delay = common_dead_time(alone or [joint.fit for joint in joints])
    say(f"3  torques are {1e3 * delay.seconds:.2f} ms late; gains for a phase margin of {request.margin:g}°")
    design = _designed(request, robot, joints, delay, posture, poses)
    return Modelled(request, robot, tuple(joints), coupled, delay, design)


def _made(request: JointsRequest, robot: Robot, rng: np.random.Generator) -> list[Recording]:
    if request.posture is None:
        posture = nominal_posture(robot)
    else:
        posture = np.array(numbers_of(request.posture, "--posture", robot.nv))
    say(f"1  open-loop experiments on {len(robot.joints)} joints of {robot.name}")
    return list(
        joint_experiments(
            robot,
            posture=posture,
            rng=rng,
            sensor=request.sensor,
            backlash=request.backlash,
            travel=request.travel,
        )
    )


def _read(request: JointsRequest, robot: Robot) -> list[Recording]:
    say(f"1  {len(request.logs)} logs are read")
    recordings = [read(path, joints=robot.joint_names) for path in request.logs]
    shown = {excited_joint(log) for log in recordings}
    if missing := [name for name in robot.joint_names if name not in shown]:
        raise InputError(
            f"no log has commands of {', '.join(missing)}.",
            place="--log",
            remedy="Give an experiment for every joint, or hold some of them still with --lock.",
        )
    return recordings


def _require_known(joints: list[ModelledJoint]) -> None:
    """Refuse to design for a joint whose inertia the experiments leave open."""
    for joint in joints:
        M, half = joint.fit.model.inertia, joint.fit.inertia_half_width
        if not half <= _KNOWN * M:
            raise NoSolutionError(
                f"the experiments leave the inertia of joint '{joint.fit.joint}' open: {M:.3g} ± {half:.3g}.",
                place="experiments",
                remedy="Choose a posture where other joints do not give way, or lock them with --lock.",
            )


def _designed(
    request: JointsRequest,
    robot: Robot,
    joints: list[ModelledJoint],
    delay: LoopDelay,
    posture: Array,
    rng: np.random.Generator,
) -> LoopDesign:
    # One bus serves all joints: a joint that shows its own dead time badly has that of the others.
    models = [
        JointModel(joint.fit.model.gain, joint.fit.model.time_constant, delay.seconds) for joint in joints
    ]
    own = np.array([model.inertia for model in models])
    if request.inertia_range is not None:
        factors = np.tile(numbers_of(request.inertia_range, "--inertia-range", 2), (robot.nv, 1))
    else:
        there = inertia_range(robot, posture[None])[:, 1]
        factors = inertia_range(robot, np.vstack([posture, _poses(robot, posture, rng)])) / there[:, None]
    return shaped_controller(
        robot,
        models,
        bandwidth=BANDWIDTH if request.bandwidth is None else request.bandwidth,
        cycle=joints[0].fit.interval,
        inertia_range=own[:, None] * factors,
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
