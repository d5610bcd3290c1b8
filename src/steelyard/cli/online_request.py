"""What `steelyard online` was asked for, and the setting that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.cli.robot_argument import given_robot
from steelyard.errors import InputError
from steelyard.files import read_json
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.limits import Scene, read_scene
from steelyard.online import LawChoice, LoadModel, Setting, with_useful_tube
from steelyard.payload import held_at
from steelyard.robot import Robot, read_payload
from steelyard.simulate import nominal_posture
from steelyard.uncertainty import ErrorBounds, PayloadBox

FORMS = {"robust": "armour", "clamped": "clamped", "componentwise": "componentwise"}
"""Names of the laws, and of their forms."""
DRIVE = ("viscous", "coulomb", "rotor")


@dataclass(frozen=True)
class OnlineRequest:
    """The arguments and options of the command, as they were given.

    Attributes:
        robot: a zoo name or a path.
        payload: file of the load that the simulated robot really holds.
        scene: file of what stands around it.
        law: one of `FORMS`.
        prior: file with the intervals of the load; None for a ball.
        heaviest: largest mass of a load in the ball, kg.
        extent: radius of the ball about the tool frame, m.
        start: where the robot stands, numbers with commas between; None for its nominal posture.
        goal: where it should end up; None to learn and nothing else.
        excite: what a unit of log cond counts beside a squared radian of distance to the goal, dimensionless.
        torque_error: relative and absolute error of the torque, `R,A`.
        velocity_error: largest error of a velocity, rad/s or m/s.
        torque_delay: by how much logged torques may be early or late, s.
        model_error: share by which the robot's parameters may be off, dimensionless.
        rotor: inertia of each joint's rotor at its output, one number or one each, kg·m²; None for what the
            description states.
        radius: ε of the tube, rad/s; None for what V_M gives.
        reach: how far each joint may go in one plan, rad or m.
        cycle: of the control, s.
        plans: most plans to drive.
        budget: time for a plan and its proof, s.
        seed: of searches and sensors.
        gravity: as for every command.
        lock: as for every command.
        tool_frame: as for every command.
        argument: as for every command.
    """

    robot: str
    payload: str
    scene: str | None
    law: str
    prior: str | None
    heaviest: float
    extent: float
    start: str | None
    goal: str | None
    excite: float
    torque_error: str
    velocity_error: float
    torque_delay: float
    model_error: float
    rotor: str | None
    radius: float | None
    reach: float
    cycle: float
    plans: int
    budget: float
    seed: int
    gravity: str | None
    lock: tuple[str, ...]
    tool_frame: str | None
    argument: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class OnlineTask:
    """What was asked, read and checked.

    Attributes:
        setting: all that the loop is told.
        true: the robot that is simulated, with its load, of which the loop is told nothing.
        truth: the load's ten numbers in the frame it is held in, shape (10,), SI.
        start: where the robot stands, shape (nv,), rad or m.
        goal: where it should end up, shape (nv,), rad or m; None for nowhere.
    """

    setting: Setting
    true: Robot
    truth: Array
    start: Array
    goal: Array | None


def task_of(request: OnlineRequest) -> OnlineTask:
    """Read what a request names.

    Args:
        request: the request.

    Returns:
        The task.

    Raises:
        InputError: an option or a file is wrong.
        NoSolutionError: no robust law follows for the robot; names the joint whose rotor is missing.
    """
    if request.law not in FORMS:
        raise InputError(f"is none of {', '.join(FORMS)}: '{request.law}'.", place="--law")
    options = (request.gravity, request.lock or None, request.tool_frame)
    robot = given_robot(request.robot, *options, arguments=request.argument)
    robot.require_arm()
    if request.rotor is not None:
        robot = _with_rotors(robot, request.rotor)
    body = read_payload(Path(request.payload))
    layout = layout_of(robot, DRIVE)
    arm = LoadModel.stated(robot, layout, held_at(robot), model_error=request.model_error)
    relative, absolute = _numbers("--torque-error", request.torque_error, 2)
    errors = ErrorBounds.stated(
        robot,
        layout,
        arm.parameters,
        torque=(relative, absolute),
        model=request.model_error,
        velocity=request.velocity_error,
        delay=request.torque_delay,
    )
    setting = Setting.of(
        arm,
        _prior(request),
        errors,
        law=LawChoice(FORMS[request.law]),
        radius=request.radius,
        scene=Scene() if request.scene is None else read_scene(request.scene),
        cycle=request.cycle,
        reach=request.reach,
    )
    start = nominal_posture(robot)
    if request.start is not None:
        start = _numbers("--start", request.start, robot.nv)
    setting = with_useful_tube(setting, start, np.random.default_rng(request.seed))
    goal = None if request.goal is None else _numbers("--goal", request.goal, robot.nv)
    return OnlineTask(setting, robot.with_body("payload", body), body.parameters, start, goal)


def _with_rotors(robot: Robot, text: str) -> Robot:
    count = robot.nv if "," in text else 1
    inertias = np.broadcast_to(_numbers("--rotor", text, count), (robot.nv,))
    if (inertias < 0.0).any():
        raise InputError(f"must not be negative, got '{text}'.", place="--rotor")
    driven = zip(robot.joints, inertias.tolist(), strict=True)
    joints = [replace(joint, drive=replace(joint.drive, rotor=x)) for joint, x in driven]
    return replace(robot, joints=tuple(joints))


def _prior(request: OnlineRequest) -> PayloadBox:
    if request.prior is None:
        return PayloadBox.in_ball(request.heaviest, request.extent)
    place = request.prior
    document = read_json(place)
    try:
        ends = [checked(f"{place}, {name}", document[name], (10,)) for name in ("lower", "upper")]
    except (KeyError, TypeError) as error:
        names = ", ".join(PARAMETER_NAMES)
        remedy = f'Write {{"lower": [ten numbers], "upper": [ten numbers]}}, in the order {names}.'
        raise InputError("does not state the ends of ten intervals.", place=place, remedy=remedy) from error
    return PayloadBox.between(*ends)


def _numbers(option: str, text: str, count: int) -> Array:
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError as error:
        raise InputError(f"expected numbers with commas between, got '{text}'.", place=option) from error
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(f"expected {count} finite numbers, got '{text}'.", place=option)
    return values
