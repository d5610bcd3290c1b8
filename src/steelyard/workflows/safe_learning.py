"""What a robot is told before it learns its load while it moves: limits, prior, errors, rotors and tube.

`learning_task` makes it from a description and what is stated beside it. `steelyard online` drives a
simulated robot by it; the loop around a real one begins with the same call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.document import read_json
from steelyard.errors import InputError, NoSolutionError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.limits import TOOL, Scene, bearable, read_scene
from steelyard.payloads import mounted_at
from steelyard.robot import Robot, StatedLimits
from steelyard.safe_learning import LawChoice, LoadModel, SafeLearningConfig, with_sized_tube
from steelyard.simulation import nominal_posture
from steelyard.uncertainty import ErrorBounds, PayloadBox
from steelyard.workflows.given import given_robot, mesh_folder, stated_limits
from steelyard.workflows.options import ByJoint, ByName, Numbers, text_of
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


@dataclass(frozen=True, eq=False)
class LearningTask:
    """What a robot is to learn and how it may move meanwhile.

    Attributes:
        setting: all that the loop is told.
        start: where the robot stands, shape (nv,), rad or m.
        goal: where it should end up, shape (nv,), rad or m; None for nowhere.
        assumed: what nobody stated and was assumed, in sentences.
        uncovered: what could hit and is not part of the proofs, in sentences.
    """

    setting: SafeLearningConfig
    start: Array
    goal: Array | None = None
    assumed: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def robot(self) -> Robot:
        """The robot without its load."""
        return self.setting.arm.robot

    def __repr__(self) -> str:
        return f"<LearningTask {self.robot.name}, {self.setting.law.form} law>"


def learning_task(
    robot: Robot | FilePath,
    *,
    scene: Scene | FilePath | None = None,
    floor: str | float = "base",
    tool: FilePath | None = None,
    law: str = "clamped",
    prior: PayloadBox | FilePath | None = None,
    heaviest: float | None = None,
    extent: float = EXTENT,
    start: Numbers | None = None,
    goal: Numbers | None = None,
    torque_error: Numbers = (0.025, 0.1),
    velocity_error: float = 5e-4,
    torque_delay: float = 0.0,
    model_error: float = 0.05,
    rotor: Numbers | None = None,
    radius: float | None = None,
    reach: float = 1.2,
    cycle: float = 1e-3,
    seed: int = 0,
    gravity: Numbers | None = None,
    lock: ByName | None = None,
    tool_frame: str | None = None,
    argument: Sequence[str] | Mapping[str, str] | None = None,
    limits: FilePath | None = None,
    velocity: ByJoint | None = None,
    acceleration: ByJoint | None = None,
    torque: ByJoint | None = None,
) -> LearningTask:
    """State what a robot may do while it learns its load; the tube is made wide enough to be of use.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        scene: what stands around it, or its file; None for nothing.
        floor: `base`, `none`, or its height above the base, m.
        tool: mesh of tool and load in the tool frame, m; `none` where they add no shape.
        law: one of `FORMS`.
        prior: intervals that hold the load, or their file; None for a ball about the tool frame.
        heaviest: largest mass of a load in that ball, kg; None for what the torque limits bear.
        extent: radius of that ball, m.
        start: where the robot stands, rad or m; None for its nominal posture.
        goal: where it should end up, rad or m; None to learn and nothing else.
        torque_error: relative and absolute error of the torques, dimensionless and N·m.
        velocity_error: largest error of a velocity, rad/s or m/s.
        torque_delay: by how much logged torques may be early or late, s.
        model_error: share by which the robot's parameters may be off, dimensionless.
        rotor: inertia of the joints' rotors at the output, one for all or one each, kg·m²; None for what the
            description states, or more where that bears no tube.
        radius: ε of the tube, rad/s; None for what V_M gives.
        reach: how far each joint may go in one plan, rad or m.
        cycle: length of a control cycle, s.
        seed: of the search for the torque that the tube must leave.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.

    Returns:
        The task; what nobody stated is assumed, and said in `assumed`.

    Raises:
        InputError: something given is not usable.
        NoSolutionError: no robust law follows for the robot; names the joint whose rotor is missing.
    """
    if law not in FORMS:
        raise InputError(f"is none of {', '.join(FORMS)}: '{law}'.", place="--law")
    stated = stated_limits(limits, velocity, acceleration, torque)
    arm = given_robot(robot, gravity, lock or None, tool_frame, arguments=argument, stated=stated)
    arm.require_arm()
    assumed: list[str] = []
    arm = _with_accelerations(arm, assumed)
    if rotor is not None:
        arm = _with_rotors(arm, text_of(rotor, "--rotor") or "")
    stands = nominal_posture(arm) if start is None else _numbers("--start", start, arm.nv)
    box = _prior(prior, heaviest, extent, arm, stands, assumed)
    goes = None if goal is None else _numbers("--goal", goal, arm.nv)
    relative, absolute = _numbers("--torque-error", torque_error, 2)
    word = text_of(floor, "--floor") or ""
    around = scene if isinstance(scene, Scene) else Scene() if scene is None else read_scene(scene)
    mesh = tool_mesh(None if tool is None else Path(tool))
    described = mesh_folder(robot)

    def setting_of(candidate: Robot) -> SafeLearningConfig:
        layout = layout_of(candidate, DRIVE)
        model = LoadModel.stated(candidate, layout, mounted_at(candidate), model_error=model_error)
        errors = ErrorBounds.stated(
            candidate,
            layout,
            model.parameters,
            torque=(relative, absolute),
            model=model_error,
            velocity=velocity_error,
            delay=torque_delay,
        )
        setting = SafeLearningConfig.of(
            model,
            box,
            errors,
            law=LawChoice(FORMS[law]),
            radius=radius,
            scene=around,
            tool=tool_shapes(mesh),
            cycle=cycle,
            reach=reach,
            floor=stated_floor(word, candidate, around),
            meshes=None if described is None else str(described),
            tool_meshes=None if mesh is None else str(mesh.parent),
        )
        return with_sized_tube(setting, stands, np.random.default_rng(seed))

    setting = _bearing(arm, setting_of, assumed, may_lift=rotor is None, cycle=cycle)
    findings = _uncovered(setting, word, tool is None, mesh)
    assumed += [f"{x.place}: {x.message}" for x in findings if x.code == "assumed-floor"]
    uncovered = tuple(f"{x.place}: {x.message}" for x in findings if x.severity is not Severity.INFO)
    return LearningTask(setting, stands, goes, tuple(assumed), uncovered)


def _uncovered(setting: SafeLearningConfig, floor: str, no_shape: bool, mesh: Path | None) -> list[Finding]:
    """What could hit and is not part of the proofs, and where a floor is assumed."""
    require_readable_tool(setting.clearance, mesh)
    findings = [*setting.clearance.findings]
    findings += floor_findings(floor, setting.arm.robot, setting.scene)
    if no_shape:
        message = "the load has no shape here; state it with --tool, or say --tool none."
        findings.append(Finding(Severity.WARNING, "unknown-shape-held", message, TOOL))
    return findings


def _bearing(
    stated: Robot,
    setting_of: Callable[[Robot], SafeLearningConfig],
    assumed: list[str],
    *,
    may_lift: bool,
    cycle: float,
) -> SafeLearningConfig:
    """A setting whose tube is of use; rotors of which nothing is stated are lifted until there is one.

    Descriptions state rotors too light or none at all: simulators take a tenth of a kg·m² to be stable, real
    gears reflect a few.
    """
    robot = stated
    for _ in range(_LIFTS):
        try:
            setting = setting_of(robot)
            break
        except NoSolutionError as error:
            needed = error.evidence.get("rotor_inertia", _LIGHTEST)
            least = float(needed) if isinstance(needed, int | float) else np.inf
            lifted = _with_least_rotors(robot, _ABOVE * least) if np.isfinite(least) else robot
            if not may_lift or lifted is robot:
                raise
            robot = lifted
    else:
        setting = setting_of(robot)
    changed = [
        joint for joint, before in zip(robot.joints, stated.joints, strict=True) if joint is not before
    ]
    if changed:
        least = max(joint.drive.rotor or 0.0 for joint in changed)
        assumed.append(
            f"Rotors of {', '.join(joint.name for joint in changed)} are taken as {least:.3g} kg·m² at the "
            f"output, in the simulated robot too: what the description states bears no tube in cycles of "
            f"{1e3 * cycle:.3g} ms. State the gears' own with --rotor."
        )
    return setting


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


def _prior(
    prior: PayloadBox | FilePath | None,
    heaviest: float | None,
    extent: float,
    robot: Robot,
    start: Array,
    assumed: list[str],
) -> PayloadBox:
    if isinstance(prior, PayloadBox):
        return prior
    if prior is not None:
        return _read_prior(os.fspath(prior))
    if heaviest is not None:
        return PayloadBox.in_ball(heaviest, extent)
    bears, why = _bearable(robot, start, extent)
    if bears < HEAVIEST:
        assumed.append(
            f"The load is taken as at most {bears:g} kg, what {why} with room for a proof. "
            "State more or less with --heaviest."
        )
    return PayloadBox.in_ball(bears, extent)


def _read_prior(place: str) -> PayloadBox:
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


def _numbers(option: str, given: Numbers, count: int) -> Array:
    text = text_of(given, option) or ""
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError as error:
        raise InputError(f"expected numbers with commas between, got '{text}'.", place=option) from error
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(f"expected {count} finite numbers, got '{text}'.", place=option)
    return values
