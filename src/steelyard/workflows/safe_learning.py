"""A robot that learns its load while it moves: what it is told beforehand, and what it has learnt.

`learning_task` makes the task, limits, prior, errors, rotors and tube, from a description and what is stated
beside it. `drive_and_learn` drives a simulated robot by it, for `steelyard online`; the loop around a real
one begins with the same task.
"""

from __future__ import annotations

import os
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import __version__
from steelyard.arrays import Array, checked
from steelyard.document import read_json
from steelyard.errors import InputError, NoSolutionError
from steelyard.files import FilePath, require_writable
from steelyard.finding import Finding, Severity
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, Body
from steelyard.layout import layout_of
from steelyard.limits import TOOL, Scene, bearable
from steelyard.payloads import mounted_at
from steelyard.progress import say
from steelyard.report.online import LiveObserver, LiveView, online_content_of, online_head_of, online_page
from steelyard.robot import Robot, StatedLimits, read_payload
from steelyard.safe_learning import (
    BROKEN,
    CHECK,
    DONE,
    GoalCost,
    LawChoice,
    LoadModel,
    MuJoCoDriver,
    OnlineRun,
    ProcessWorker,
    Replanner,
    SafeLearningConfig,
    SensorErrors,
    SyncWorker,
    WeightedCosts,
    run_online,
    violations_of,
    with_sized_tube,
)
from steelyard.simulation import nominal_posture
from steelyard.uncertainty import ErrorBounds, PayloadBox
from steelyard.workflows.given import given_robot, stated_limits
from steelyard.workflows.online import EXTENT
from steelyard.workflows.options import (
    ByJoint,
    ByName,
    Numbers,
    text_of,
)
from steelyard.workflows.surroundings import (
    SHAPELESS,
    UNSHAPED_LOAD,
    floor_findings,
    require_readable_tool,
    stated_floor,
    tool_mesh,
    tool_shapes,
)

FORMS = {"robust": "armour", "clamped": "clamped", "componentwise": "componentwise"}
"""Names of the laws, and of their forms."""
DRIVE = ("viscous", "coulomb", "rotor")
HEAVIEST, SHARE = 3.0, 0.21
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
        shapeless: those of them that are shapes of the robot, which are missing or doubtful.
        allow_no_clearance: whether whoever asked accepts that they are.
    """

    setting: SafeLearningConfig
    start: Array
    goal: Array | None = None
    assumed: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    shapeless: tuple[str, ...] = ()
    allow_no_clearance: bool = False

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
    package_path: FilePath | Sequence[FilePath] | None = None,
    limits: FilePath | None = None,
    velocity: ByJoint | None = None,
    acceleration: ByJoint | None = None,
    torque: ByJoint | None = None,
    allow_no_clearance: bool = False,
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
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        allow_no_clearance: whether it is accepted that shapes of the robot are missing.

    Returns:
        The task; what nobody stated is assumed, and said in `assumed`.

    Raises:
        InputError: something given is not usable.
        NoSolutionError: no robust law follows for the robot; names the joint whose rotor is missing.
    """
    if law not in FORMS:
        raise InputError(f"is none of {', '.join(FORMS)}: '{law}'.", place="--law")
    stated = stated_limits(limits, velocity, acceleration, torque)
    arm = given_robot(
        robot,
        gravity,
        lock or None,
        tool_frame,
        arguments=argument,
        stated=stated,
        package_path=package_path,
    )
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
    around = scene if isinstance(scene, Scene) else Scene() if scene is None else Scene.read(scene)
    mesh = tool_mesh(None if tool is None else Path(tool))
    described = arm.meshes

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
            meshes=None if described is None else described.folder,
            package_path=() if described is None else described.package_path,
            tool_meshes=None if mesh is None else str(mesh.parent),
        )
        return with_sized_tube(setting, stands, np.random.default_rng(seed))

    setting = _bearing(arm, setting_of, assumed, may_lift=rotor is None, cycle=cycle)
    findings = _uncovered(setting, word, tool is None, mesh)
    assumed += [f"{x.place}: {x.message}" for x in findings if x.code == "assumed-floor"]
    uncovered = [x for x in findings if x.severity is not Severity.INFO]
    words, missing = (
        tuple(f"{x.place}: {x.message}" for x in some)
        for some in (uncovered, [x for x in uncovered if x.code in SHAPELESS])
    )
    return LearningTask(setting, stands, goes, tuple(assumed), words, missing, allow_no_clearance)


def _uncovered(setting: SafeLearningConfig, floor: str, no_shape: bool, mesh: Path | None) -> list[Finding]:
    """What could hit and is not part of the proofs, and where a floor is assumed."""
    require_readable_tool(setting.clearance, mesh)
    findings = [*setting.clearance.findings]
    findings += floor_findings(floor, setting.arm.robot, setting.scene)
    if no_shape:
        message = "the load has no shape here; state it with --tool, or say --tool none."
        findings.append(Finding(Severity.WARNING, UNSHAPED_LOAD, message, TOOL))
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


PAGE = "report.html"


@dataclass(frozen=True, eq=False, repr=False)
class SafeLearning:
    """A run in which a robot learned its load, and what it broke.

    Attributes:
        task: what the loop was told.
        run: every cycle, every plan with its proof, and what was known when.
        truth: the load's ten numbers in the frame it is held in, of which the loop was told nothing, shape
            (10,), SI.
        violations: promises that were broken, in sentences.
        seconds: what preparing the run and the run itself took, how long the robot moved, and the slowest
            answer and check of a proof on the way, s.
        files: what was written, by kind.
    """

    task: LearningTask
    run: OnlineRun
    truth: Array
    violations: tuple[str, ...]
    seconds: Mapping[str, float]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether all that was promised was kept: `pass`, `warn` or `fail`.

        It fails where a promise or an assumption was broken or a proof was refused, and warns where something
        that could hit is not part of the proofs.
        """
        plans, checked = self.run.record.proofs
        outcome = self.run.record.outcome
        if self.violations or outcome == BROKEN or not self.contains_truth or checked < plans:
            return "fail"
        return "warn" if self.task.uncovered else "pass"

    @property
    def settled(self) -> bool:
        """Whether no shape of the robot is missing from the proofs, or that is accepted."""
        return not self.task.shapeless or self.task.allow_no_clearance

    @property
    def sentence(self) -> str:
        """How the run ended."""
        record, alarm = self.run.record, self.run.record.alarm
        if alarm is not None and alarm.kind == CHECK:
            return f"At {alarm.time:.3f} s: {alarm.sentence}"
        if alarm is not None:
            return f"At {alarm.time:.3f} s something assumed was found not to be so: {alarm.sentence}"
        if record.outcome == DONE:
            return "Every plan was driven as it was proven, and the robot is at rest."
        return record.events[-1].sentence if record.events else "The robot stopped."

    @property
    def box(self) -> PayloadBox:
        """What the load can be in the end."""
        return self.run.record.box

    @property
    def bounds(self) -> dict[str, dict[str, Any]]:
        """Lower and upper end and unit of each of the load's ten numbers, by name, SI."""
        ends = zip(
            PARAMETER_NAMES, self.box.lower.tolist(), self.box.upper.tolist(), PARAMETER_UNITS, strict=True
        )
        return {name: {"lower": low, "upper": high, "unit": unit} for name, low, high, unit in ends}

    @property
    def contains_truth(self) -> bool:
        """Whether the last bounds hold the load."""
        return bool(((self.box.lower <= self.truth) & (self.truth <= self.box.upper)).all())

    @property
    def certified(self) -> bool:
        """Whether every move was proven, with all that could hit as part of the proofs."""
        proven = all(driven.move.certificate is not None for driven in self.run.record.moves)
        return proven and not self.task.uncovered

    @property
    def segments(self) -> list[dict[str, Any]]:
        """What was driven, in order.

        Start and length in s, whether it was a plan or a brake, the condition number of the load's regressor
        along it, and how many candidates could not be proven before it.
        """
        cycle = self.task.setting.cycle
        return [
            {
                "start": driven.first * cycle,
                "seconds": driven.cycles * cycle,
                "kind": driven.kind,
                "cond": driven.move.condition,
                "refused": len(driven.move.refused),
            }
            for driven in self.run.record.moves
        ]

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        record = self.run.record
        plans, checked = record.proofs
        known = [k for k in record.knowledge if k.rows > 0]
        return {
            "verdict": self.verdict,
            "outcome": record.outcome,
            "sentence": self.sentence,
            "assumed": list(self.task.assumed),
            "uncovered": list(self.task.uncovered),
            "accepted": list(self.task.shapeless) if self.task.allow_no_clearance else [],
            "segments": self.segments,
            "certified": self.certified,
            "plans": plans,
            "plans_checked": checked,
            "violations": list(self.violations),
            "bounds": self.bounds,
            "frame": self.task.setting.arm.held.frame,
            "contains_truth": self.contains_truth,
            "rows": known[-1].rows if known else 0,
            "events": [f"{event.time:.3f} s: {event.sentence}" for event in record.events],
            "seconds": dict(self.seconds),
            "files": dict(self.files),
        }

    @property
    def _uncovered(self) -> tuple[str, ...]:
        """What the proofs leave out, and what of that was accepted."""
        if not self.task.allow_no_clearance:
            return self.task.uncovered
        accepted = " Whoever asked for the run accepted this (--allow-no-clearance)."
        missing = self.task.shapeless
        return tuple(words + accepted if words in missing else words for words in self.task.uncovered)

    @cached_property
    def page(self) -> str:
        """The run as one self-contained HTML document."""
        return online_page(
            online_content_of(
                self.run,
                online_head_of(self.task.setting, self.task.start, self.truth),
                sentence=self.sentence,
                violations=self.violations,
                uncovered=self._uncovered,
            )
        )

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the run, which `replay` repeats, and its page.

        Args:
            folder: where; made where it does not exist.
            force: whether a folder that holds something may be written into.

        Returns:
            What was written, by kind.

        Raises:
            InputError: the folder holds something, or cannot be written to.
        """
        out = Path(folder)
        require_empty(out, force=force)
        record, cycles = self.run.write(out, page=(PAGE, self.page))
        return {"record": str(record), "cycles": str(cycles), "report": str(out / PAGE)}

    @property
    def _warning(self) -> list[str]:
        """That the run is not called safe, where shapes of the robot are missing."""
        if not self.task.shapeless:
            return []
        accepted = ", which was accepted (--allow-no-clearance)" if self.task.allow_no_clearance else ""
        return [
            f"Warning: nothing is known of the clearance of {len(self.task.shapeless)} shapes of the robot"
            f"{accepted}; this run is not called safe."
        ]

    def __repr__(self) -> str:
        ends = self.bounds["m"]
        mass = f"{ends['lower']:.4g} to {ends['upper']:.4g} kg"
        return f"<SafeLearning {self.task.robot.name}: {self.verdict}, {mass}>"

    def __str__(self) -> str:
        return "\n".join((f"{self.task.robot.name}: {self.verdict}.", *self.lines))

    @property
    def lines(self) -> list[str]:
        """The run in words: how it ended, bounds beside the truth, proofs, and what they leave out."""
        lines = [*self._warning, self.sentence]
        for (name, ends), true in zip(self.bounds.items(), self.truth.tolist(), strict=True):
            bounds = f"[{ends['lower']:.4g}, {ends['upper']:.4g}] {ends['unit']}"
            lines.append(f"  {name:>4} in {bounds}, true {true:.4g}")
        plans, checked = self.run.record.proofs
        lines.append(
            f"{plans} plans, {len(self.run.record.moves)} segments over {self.seconds['robot']:.2f} s, all "
            f"proven; the proofs of {checked} were checked by other means; "
            f"slowest answer {self.seconds['slowest_answer']:.2f} s; {len(self.violations)} violations."
        )
        return lines + [f"Not part of the proofs: {words}" for words in self._uncovered]


def drive_and_learn(
    task: LearningTask,
    payload: Body | FilePath,
    *,
    plans: int,
    budget: float,
    excite: float,
    seed: int,
    real_time: bool,
    live: bool,
    begin: float,
) -> SafeLearning:
    """Drive a simulated robot by a task, by the arguments of `online`.

    `begin` is when preparation began, s of the wall's clock.
    """
    body = payload if isinstance(payload, Body) else read_payload(payload)
    for sentence in task.assumed:
        say(sentence)
    viewer = _Viewer(task, body.parameters, wanted=live)
    try:
        learned = _driven(
            task,
            body,
            viewer,
            plans=plans,
            budget=budget,
            excite=excite,
            seed=seed,
            real_time=real_time,
            begin=begin,
        )
        if live:
            viewer.finish(learned.page)
    finally:
        viewer.finish("")
    return learned


def _driven(
    task: LearningTask,
    body: Body,
    viewer: _Viewer,
    *,
    plans: int,
    budget: float,
    excite: float,
    seed: int,
    real_time: bool,
    begin: float,
) -> SafeLearning:
    """Prepare, drive and judge; `begin` is when preparation began, s of the wall's clock."""
    setting = task.setting
    mind = Replanner.exciting(setting, budget=budget)
    if task.goal is not None:
        costs = ((1.0, GoalCost(task.goal)), (excite, Replanner.exciting(setting).cost))
        mind = Replanner(setting, WeightedCosts(costs), budget)
    say("Preparing: everything is compiled and tried once before the robot moves.")
    mind.warm_up(task.start)
    errors = setting.errors
    sensors = SensorErrors(
        float(errors.torque_relative[0]), errors.torque_absolute, errors.velocity, errors.position, "even"
    )
    link = MuJoCoDriver(
        task.robot.with_body("payload", body),
        task.start,
        cycle=setting.cycle,
        errors=sensors,
        rng=np.random.default_rng(seed),
        wall_clock=real_time,
    )
    thinker = ProcessWorker(mind)
    guard = ProcessWorker(mind) if real_time else SyncWorker(mind)
    try:
        # After the processes have been made: a live view has threads, and a fork copies only one.
        observer = viewer.opened()
        moving = time.perf_counter()
        run = run_online(
            setting,
            link,
            thinker,
            task.start,
            guard=guard,
            most_plans=plans,
            patience=0.0 if real_time else None,
            until_settled=task.goal is None,
            seed=seed,
            observer=observer,
        )
    finally:
        thinker.close()
        guard.close()
    done = time.perf_counter()
    broken = violations_of(run, link, body.parameters)
    knowledge = run.record.knowledge
    seconds = {
        "preparation": moving - begin,
        "run": done - moving,
        "robot": len(run.cycles.commands) * setting.cycle,
        # The last answer is of a robot at rest, and takes its time.
        "slowest_answer": max((known.seconds for known in knowledge[1:-1]), default=0.0),
        "slowest_check": max((known.check_seconds for known in knowledge), default=0.0),
    }
    return SafeLearning(task, run, body.parameters, broken, seconds)


class _Viewer:
    """The browser that shows a run while it goes on, or nobody."""

    def __init__(self, task: LearningTask, truth: Array, *, wanted: bool) -> None:
        self._task, self._truth, self._wanted = task, truth, wanted
        self._observer: LiveObserver | None = None

    def opened(self) -> LiveObserver | None:
        """Serve the page and open it; returns who is told what happens."""
        if self._wanted:
            head = online_head_of(self._task.setting, self._task.start, self._truth)
            view = LiveView(head, version=__version__)
            url = view.start()
            say(f"Live view: {url}")
            webbrowser.open(url)
            self._observer = LiveObserver(view, self._task.start, self._task.setting.tube.kr)
        return self._observer

    def finish(self, page: str) -> None:
        """Leave the page of the finished run to open browsers, and stop serving."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.finish(page)


def require_empty(out: Path, *, force: bool) -> None:
    """Refuse a folder that holds something, unless it may be replaced, or that cannot be written to."""
    if out.exists() and not out.is_dir():
        raise InputError("is not a folder.", place="--out")
    if not force and out.is_dir() and any(out.iterdir()):
        raise InputError(f"'{out}' is not empty.", place="--out", remedy="Name another, or say --force.")
    require_writable(out)
