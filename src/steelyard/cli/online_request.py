"""What `steelyard online` was asked for, and the setting that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.cli.robot_argument import given_robot
from steelyard.document import read_json
from steelyard.errors import InputError, NoSolutionError
from steelyard.finding import Finding, Severity
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.limits import TOOL, Scene, bearable, read_scene
from steelyard.online import LawChoice, LoadModel, Setting, with_useful_tube
from steelyard.payload import held_at
from steelyard.robot import Robot, StatedLimits, read_payload
from steelyard.simulate import nominal_posture
from steelyard.uncertainty import ErrorBounds, PayloadBox
from steelyard.workflows.surroundings import (
    floor_findings,
    require_readable_tool,
    stated_floor,
    tool_mesh,
    tool_shapes,
)

FORMS = {"robust": "armour", "clamped": "clamped", "componentwise": "componentwise"}
"""Names of the laws, and of their forms."""
DRIVE = ("viscous", "coulomb", "rotor")
HEAVIEST, SHARE, EXTENT = 3.0, 0.21, 0.1
"""Largest mass of a load of which nothing is stated, kg, and the share of the weakest joint's torque limit
that it may take on a lever of twice the ball's usual radius, m."""
STANDING_SHARE = 0.4
"""Share of the torque that a joint has left, where the arm stands, that such a load may take."""
ACCELERATION = 10.0
"""Largest acceleration of a joint of which nothing is stated, rad/s² or m/s²."""
_LIGHTEST, _LIFTS, _ABOVE = 0.1, 6, 2.0
"""Where the search for rotors that bear a tube begins, kg·m²; how often they are lifted, and how far."""


@dataclass(frozen=True)
class OnlineRequest(StatedLimits):
    """The arguments and options of the command, as they were given.

    Attributes:
        robot: a zoo name or a path.
        payload: file of the load that the simulated robot really holds.
        scene: file of what stands around it.
        floor: base, none, or its height above the base, m.
        tool: mesh of tool and load in the tool frame, m; none where they add no shape; None for nothing said.
        law: one of `FORMS`.
        prior: file with the intervals of the load; None for a ball.
        heaviest: largest mass of a load in the ball, kg; None for what the torque limits bear.
        extent: radius of the ball about the tool frame, m.
        start: where the robot stands, numbers with commas between; None for its nominal posture.
        goal: where it should end up; None to learn and nothing else.
        excite: what a unit of log cond counts beside a squared radian of distance to the goal, dimensionless.
        torque_error: relative and absolute error of the torque, `R,A`.
        velocity_error: largest error of a velocity, rad/s or m/s.
        torque_delay: by how much logged torques may be early or late, s.
        model_error: share by which the robot's parameters may be off, dimensionless.
        rotor: inertia of each joint's rotor at its output, one number or one each, kg·m²; None for what the
            description states, or more where that bears no tube.
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
        limits: as for every command, and so velocity, acceleration and torque.
    """

    robot: str
    payload: str
    scene: str | None
    law: str
    prior: str | None
    heaviest: float | None
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
    floor: str = "base"
    tool: str | None = None


@dataclass(frozen=True, eq=False)
class OnlineTask:
    """What was asked, read and checked.

    Attributes:
        setting: all that the loop is told.
        true: the robot that is simulated, with its load, of which the loop is told nothing.
        truth: the load's ten numbers in the frame it is held in, shape (10,), SI.
        start: where the robot stands, shape (nv,), rad or m.
        goal: where it should end up, shape (nv,), rad or m; None for nowhere.
        assumed: what nobody stated and was assumed, in sentences.
        uncovered: what could hit and is not part of the proofs, in sentences.
    """

    setting: Setting
    true: Robot
    truth: Array
    start: Array
    goal: Array | None
    assumed: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


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
    robot = given_robot(request.robot, *options, arguments=request.argument, stated=request)
    robot.require_arm()
    assumed: list[str] = []
    robot = _with_accelerations(robot, assumed)
    if request.rotor is not None:
        robot = _with_rotors(robot, request.rotor)
    body = read_payload(Path(request.payload))
    start = nominal_posture(robot)
    if request.start is not None:
        start = _numbers("--start", request.start, robot.nv)
    prior = _prior(request, robot, start, assumed)
    robot, setting = _bearing(request, robot, prior, start, assumed)
    goal = None if request.goal is None else _numbers("--goal", request.goal, robot.nv)
    true = robot.with_body("payload", body)
    uncovered = _uncovered(request, setting, assumed)
    return OnlineTask(setting, true, body.parameters, start, goal, tuple(assumed), uncovered)


def _uncovered(request: OnlineRequest, setting: Setting, assumed: list[str]) -> tuple[str, ...]:
    """What could hit and is not part of the proofs; what is only assumed joins the other assumptions."""
    tool = None if request.tool is None else Path(request.tool)
    require_readable_tool(setting.clearance, tool_mesh(tool))
    findings = [*setting.clearance.findings]
    findings += floor_findings(request.floor, setting.arm.robot, setting.scene)
    if tool is None:
        message = "the load has no shape here; state it with --tool, or say --tool none."
        findings.append(Finding(Severity.WARNING, "unknown-shape-held", message, TOOL))
    assumed += [f"{x.place}: {x.message}" for x in findings if x.code == "assumed-floor"]
    return tuple(f"{x.place}: {x.message}" for x in findings if x.severity is not Severity.INFO)


def _bearing(
    request: OnlineRequest, robot: Robot, prior: PayloadBox, start: Array, assumed: list[str]
) -> tuple[Robot, Setting]:
    """The robot and a setting whose tube is of use; rotors of which no option speaks are lifted until one is.

    Descriptions state rotors too light or none at all: simulators take a tenth of a kg·m² to be stable, real
    gears reflect a few.
    """
    stated = robot
    for _ in range(_LIFTS):
        try:
            setting = _setting(request, robot, prior)
            setting = with_useful_tube(setting, start, np.random.default_rng(request.seed))
            break
        except NoSolutionError as error:
            needed = error.evidence.get("rotor_inertia", _LIGHTEST)
            least = float(needed) if isinstance(needed, int | float) else np.inf
            lifted = _with_least_rotors(robot, _ABOVE * least) if np.isfinite(least) else robot
            if request.rotor is not None or lifted is robot:
                raise
            robot = lifted
    else:
        setting = with_useful_tube(
            _setting(request, robot, prior), start, np.random.default_rng(request.seed)
        )
    changed = [
        joint for joint, before in zip(robot.joints, stated.joints, strict=True) if joint is not before
    ]
    if changed:
        least = max(joint.drive.rotor or 0.0 for joint in changed)
        assumed.append(
            f"Rotors of {', '.join(joint.name for joint in changed)} are taken as {least:.3g} kg·m² at the "
            f"output, in the simulated robot too: what the description states bears no tube in cycles of "
            f"{1e3 * request.cycle:.3g} ms. State the gears' own with --rotor."
        )
    return robot, setting


def _setting(request: OnlineRequest, robot: Robot, prior: PayloadBox) -> Setting:
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
    scene = Scene() if request.scene is None else read_scene(request.scene)
    mesh = tool_mesh(None if request.tool is None else Path(request.tool))
    described = Path(request.robot)
    return Setting.of(
        arm,
        prior,
        errors,
        law=LawChoice(FORMS[request.law]),
        radius=request.radius,
        scene=scene,
        tool=tool_shapes(mesh),
        cycle=request.cycle,
        reach=request.reach,
        floor=stated_floor(request.floor, robot, scene),
        meshes=str(described.parent) if described.is_file() else None,
        tool_meshes=None if mesh is None else str(mesh.parent),
    )


def _with_accelerations(robot: Robot, assumed: list[str]) -> Robot:
    """The robot with an acceleration that is assumed where neither description nor option states one."""
    stated = robot.limit_array("acceleration")
    unknown = [name for name, a in zip(robot.joint_names, stated, strict=True) if not np.isfinite(a)]
    if not unknown:
        return robot
    assumed.append(
        f"Accelerations of {', '.join(unknown)} are taken as at most {ACCELERATION:g} rad/s² or m/s²: "
        "the description states none. State them with --acceleration or --limits."
    )
    return StatedLimits(acceleration=",".join(f"{name}={ACCELERATION}" for name in unknown)).limited(robot)


def _with_least_rotors(robot: Robot, least: float) -> Robot:
    """The robot with no rotor below a least inertia; itself where none is."""
    light = [(joint.drive.rotor or 0.0) < least for joint in robot.joints]
    if not any(light):
        return robot
    joints = [
        replace(joint, drive=replace(joint.drive, rotor=least)) if lighter else joint
        for joint, lighter in zip(robot.joints, light, strict=True)
    ]
    return replace(robot, joints=tuple(joints))


def _with_rotors(robot: Robot, text: str) -> Robot:
    count = robot.nv if "," in text else 1
    inertias = np.broadcast_to(_numbers("--rotor", text, count), (robot.nv,))
    if (inertias < 0.0).any():
        raise InputError(f"must not be negative, got '{text}'.", place="--rotor")
    driven = zip(robot.joints, inertias.tolist(), strict=True)
    joints = [replace(joint, drive=replace(joint.drive, rotor=x)) for joint, x in driven]
    return replace(robot, joints=tuple(joints))


def _prior(request: OnlineRequest, robot: Robot, start: Array, assumed: list[str]) -> PayloadBox:
    if request.prior is None and request.heaviest is not None:
        return PayloadBox.in_ball(request.heaviest, request.extent)
    if request.prior is None:
        heaviest, why = _bearable(robot, start, request.extent)
        if heaviest < HEAVIEST:
            assumed.append(
                f"The load is taken as at most {heaviest:g} kg, what {why} with room for a proof. "
                "State more or less with --heaviest."
            )
        return PayloadBox.in_ball(heaviest, request.extent)
    place = request.prior
    document = read_json(place)
    try:
        ends = [checked(f"{place}, {name}", document[name], (10,)) for name in ("lower", "upper")]
    except (KeyError, TypeError) as error:
        names = ", ".join(PARAMETER_NAMES)
        remedy = f'Write {{"lower": [ten numbers], "upper": [ten numbers]}}, in the order {names}.'
        raise InputError("does not state the ends of ten intervals.", place=place, remedy=remedy) from error
    return PayloadBox.between(*ends)


def _bearable(robot: Robot, start: Array, extent: float) -> tuple[float, str]:
    """Largest mass of a load of which nothing is stated, kg, and which joint decides."""
    limit = robot.limit_array("effort")
    weakest = float(limit.min())
    bears = SHARE * weakest / (9.81 * 2.0 * EXTENT)
    why = f"the weakest joint's {weakest:g} N·m bear"
    standing = bearable(robot, start, extent)
    # An arm that cannot hold itself is found out by the search for a plan, with a reason.
    if 0.0 < STANDING_SHARE * standing.mass < bears:
        bears = STANDING_SHARE * standing.mass
        spare = f"{standing.left:.2g} of {limit[standing.joint]:g} N·m"
        why = f"{robot.joint_names[standing.joint]}, with {spare} left where the arm stands, bears"
    return (HEAVIEST if bears >= HEAVIEST else float(f"{bears:.2g}")), why


def _numbers(option: str, text: str, count: int) -> Array:
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError as error:
        raise InputError(f"expected numbers with commas between, got '{text}'.", place=option) from error
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(f"expected {count} finite numbers, got '{text}'.", place=option)
    return values
