"""Design of a motion that shows the parameters, inside every limit and clear of everything; its proof.

What is asked for (`MotionRequest`) becomes a `DesignSpecification`: which columns to show, within which
limits, clear of what, after which data. A family with coefficients is searched; structured motions are
compared; a motion that is planned anyway gets the least that it lacks. All end in an `Excitation`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import ALL_TERMS
from steelyard.dynamics import torque_gram
from steelyard.errors import InputError, UnknownNameError
from steelyard.excitation import (
    Design,
    DesignProblem,
    SearchBudget,
    SmallestMargins,
    TorqueMeter,
    added_motion,
    design,
    fourier_family,
    home,
    judged_again,
    payload_columns,
    robot_columns,
    spline_family,
    unmodelled_friction,
)
from steelyard.excitation import Progress as SearchState
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.identifiable import BaseParameters, Criterion, Information, score
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.limits import TOOL, Certificate, Clearance, MotionLimits, Scene, clearance_of
from steelyard.motion import (
    ACTION_NAME,
    AnyMotion,
    LinearMotion,
    Recipe,
    extent,
    read_motion,
    sample_times,
    structured_motions,
    structured_recipes,
)
from steelyard.progress import advance, say
from steelyard.recording import Recording, read, require_readable_logs, single_logs
from steelyard.robot import Robot, StatedLimits, read_payload
from steelyard.signals import prepared
from steelyard.workflows.destination import require_files
from steelyard.workflows.excitation import (
    DesignedMotion,
    Excitation,
    SupplementedMotion,
    files_beside,
)
from steelyard.workflows.excite import ACTION, BUDGET, HARMONICS, PERIOD, PIECES, START
from steelyard.workflows.given import given_robot
from steelyard.workflows.logs import log_units
from steelyard.workflows.motion_proof import keep_jerk, looked_again, proof_of, uncovered_by
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
    Numbers,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    ToolGiven,
    TopicGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    folders_of,
    path_of,
    text_of,
    texts_of,
)
from steelyard.workflows.surroundings import (
    floor_findings,
    require_readable_tool,
    stated_floor,
    tool_mesh,
    tool_shapes,
)

FAMILIES = ("fourier", "spline", "primitives")
TARGETS = ("robot", "payload")
LIFTED = {"acceleration": "acceleration", "torque": "effort"}
"""Limits that may be left out, and what a joint calls them."""
LONGEST = 3600.0
"""Longest motion that is searched for, s."""
MOST_COEFFICIENTS = 200
"""Most harmonics or pieces: a search among more chooses nothing."""
ROOM, LEAST_ROOM = 1.3, 1e-3
"""How far apart the search keeps things, by the distance asked for, and beyond that, m."""
JUDGED, FINE = 20.0, 200.0
"""Samples in a second by which a structured motion is judged, as many as a search counts, and those at which
its torque and clearance are looked at, Hz; what is between is for the proof."""
METER_NOISE, METER_RATE = 3e-3, 1000.0
"""By which a planned motion is judged: torque noise as a share of each joint's limit, that of `industrial`
sensors, and samples in a second, Hz."""
UNKNOWN_FRICTION = ("offset", "viscous", "coulomb")
"""Drive terms that may differ with the payload in the hand."""
_SEARCHED = ("period", "start", "budget", "rounds")
"""Options of a search, which a structured motion does not need."""
_OTHERS: dict[str, tuple[str, ...]] = {
    "fourier": ("pieces", "motion_name"),
    "spline": ("harmonics", "motion_name"),
    "primitives": ("harmonics", "pieces", *_SEARCHED),
}
"""Options that say nothing about a family."""


@dataclass(frozen=True)
class MotionRequest(StatedLimits):
    """What was asked for: the parameters of `excite` that a motion depends on, objects or their files."""

    robot: Robot | str
    family: str = FAMILIES[0]
    harmonics: int = HARMONICS
    pieces: int = PIECES
    period: float = PERIOD
    criterion: str = "cond"
    target: str = TARGETS[0]
    start: str = START
    drive: str = "viscous,coulomb"
    tool: Path | None = None
    tool_scale: float = 1.0
    scene: Scene | Path | None = None
    distance: float = 0.01
    after: tuple[Recording | str, ...] = ()
    without: tuple[str, ...] = ()
    parameter_range: float = 0.0
    budget: float = BUDGET
    rounds: int | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    tool_frame: str | None = None
    arguments: tuple[str, ...] = ()
    package_path: tuple[str, ...] = ()
    motion_name: str | None = None
    columns: ColumnsGiven = None
    topic: str | None = None
    units: str | None = None
    calibration: str | None = None
    payload: Body | Path | None = None
    ignore: tuple[str, ...] = ()
    floor: str = "base"

    @property
    def drive_terms(self) -> tuple[str, ...]:
        """Names of the drive terms at every joint."""
        return _words(self.drive)

    @property
    def ignored_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of links, obstacles or the tool that may touch, by the user's word."""
        pairs = []
        for words in self.ignore:
            first, colon, second = (word.strip() for word in words.partition(":"))
            if not (first and colon and second):
                raise InputError(f"expected two names as in link1:link2, got '{words}'.", place="--ignore")
            pairs.append((first, second))
        return tuple(pairs)

    @property
    def facts(self) -> dict[str, str]:
        """What the page says was asked for, by name: all that is stated and concerns the family."""
        unused = _OTHERS[self.family]
        stated = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in unused}
        return {
            "for" if name == "target" else name: str(_called(value))
            for name, value in stated.items()
            if value is not None and not (isinstance(value, str | tuple) and not value)
        }

    def described(self) -> Robot:
        """The robot that is meant, with the limits that are stated."""
        return given_robot(
            self.robot,
            self.gravity,
            self.lock,
            self.tool_frame,
            arguments=self.arguments,
            stated=self,
            package_path=self.package_path,
        )

    def surroundings(self) -> Scene:
        """The obstacles."""
        if self.scene is None:
            return Scene()
        return self.scene if isinstance(self.scene, Scene) else Scene.read(self.scene)

    def require_known(self) -> None:
        """Refuse words that the options do not know.

        Raises:
            UnknownNameError: there is no such family, criterion, limit or drive term; lists those that exist.
        """
        terms = tuple(term.name for term in ALL_TERMS)
        choices = (
            ("family", self.family, FAMILIES, "--family"),
            ("criterion", self.criterion, tuple(Criterion), "--criterion"),
            ("choice", self.target, TARGETS, "--for"),
            *(("limit", word, (*LIFTED, "clearance"), "--without") for word in self.without),
            *(("drive term", word, terms, "--drive") for word in self.drive_terms),
        )
        for kind, given, valid, place in choices:
            if given not in valid:
                raise UnknownNameError(kind, given, valid, place=place)


def excitation_of(
    robot: RobotGiven,
    *,
    out: FilePath | None,
    family: str,
    motion_name: str | None,
    harmonics: int | None,
    pieces: int | None,
    period: float | None,
    criterion: str,
    target: str,
    start: Numbers | None,
    drive: str | Sequence[str],
    tool: ToolGiven,
    tool_scale: float,
    scene: Scene | FilePath | None,
    payload: Body | FilePath | None,
    floor: FloorGiven,
    ignore: Sequence[str] | Sequence[tuple[str, str]] | None,
    distance: float,
    after: Recording | FilePath | Sequence[Recording | FilePath] | None,
    columns: ColumnsGiven,
    topic: TopicGiven,
    units: UnitsGiven,
    calibration: CalibrationGiven,
    planned: AnyMotion | FilePath | None,
    without: str | Sequence[str],
    allow_no_clearance: bool,
    parameter_range: float,
    budget: float | None,
    rounds: int | None,
    rate: float,
    slower: float,
    action: str,
    seed: int,
    force: ForceGiven,
    gravity: GravityGiven,
    lock: LockGiven,
    tool_frame: ToolFrameGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
    limits: LimitsGiven,
    velocity: VelocityGiven,
    acceleration: AccelerationGiven,
    torque: TorqueGiven,
    jerk: JerkGiven,
) -> Excitation:
    """Design or supplement a motion, by the arguments of `excite`."""
    beside = {} if out is None else files_beside(out)
    _refuse_sampling(PERIOD if period is None else period, rate, slower)
    _refuse_coefficients(family, harmonics, pieces)
    if not ACTION_NAME.fullmatch(action):
        raise InputError(f"'{action[:60]}' is no name of ROS 2.", place="--action", remedy=f"As in {ACTION}.")
    for name, number in {"distance": distance, "parameter-range": parameter_range, "seed": seed}.items():
        if not number >= 0:
            raise InputError(f"must not be negative, got {number:g}.", place=f"--{name}")
    require_files(beside.values(), force=force)
    family_options = {
        "harmonics": harmonics,
        "pieces": pieces,
        "motion_name": motion_name,
        "period": period,
        "start": start,
        "budget": budget,
        "rounds": rounds,
    }
    _refuse_in_vain(family, (name for name, value in family_options.items() if value is not None))
    began = time.perf_counter()
    request = MotionRequest(
        robot=robot if isinstance(robot, Robot) else os.fspath(robot),
        family=family,
        harmonics=HARMONICS if harmonics is None else harmonics,
        pieces=PIECES if pieces is None else pieces,
        period=PERIOD if period is None else period,
        criterion=str(criterion),
        target=target,
        start=text_of(START if start is None else start, "--start") or "",
        drive=drive if isinstance(drive, str) else ",".join(drive),
        tool=None if tool is None else Path(tool),
        tool_scale=tool_scale,
        scene=scene if scene is None or isinstance(scene, Scene) else Path(scene),
        payload=payload if payload is None or isinstance(payload, Body) else Path(payload),
        floor=text_of(floor, "--floor") or "",
        ignore=tuple(words if isinstance(words, str) else ":".join(words) for words in ignore or ()),
        distance=distance,
        after=_logs(after),
        without=_words(without),
        parameter_range=parameter_range,
        budget=BUDGET if budget is None else budget,
        rounds=rounds,
        seed=seed,
        gravity=text_of(gravity, "--gravity"),
        lock=texts_of(lock, "--lock"),
        tool_frame=tool_frame,
        arguments=texts_of(argument, "--arg"),
        package_path=folders_of(package_path),
        motion_name=motion_name,
        columns=columns,
        topic=topic,
        units=units,
        calibration=path_of(calibration),
        limits=path_of(limits),
        velocity=text_of(velocity, "--velocity"),
        acceleration=text_of(acceleration, "--acceleration"),
        torque=text_of(torque, "--torque"),
        jerk=text_of(jerk, "--jerk"),
    )
    found: Excitation
    if planned is not None:
        if target != "payload":
            raise InputError("goes with --for payload.", place="--planned")
        found = supplemented(request, planned)
    else:
        found = designed(request)
    found = replace(found, rate=rate, slower=slower, action=action, allow_no_clearance=allow_no_clearance)
    files = {} if out is None else found.save(out, force=True)
    return replace(found, files=files, seconds=time.perf_counter() - began)


def _refuse_sampling(period: float, rate: float, slower: float) -> None:
    """Refuse what the files could not be written with, before the search."""
    if not (math.isfinite(slower) and slower > 0.0):
        raise InputError(f"must be a positive number, got {slower:g}.", place="--slower")
    if not (math.isfinite(period) and 0.0 < period <= LONGEST):
        raise InputError(f"must be positive and at most {LONGEST:g} s, got {period:g} s.", place="--period")
    try:
        sample_times(period, rate)
    except InputError as error:
        raise InputError(error.message, place="--rate") from error


def _refuse_coefficients(family: str, harmonics: int | None, pieces: int | None) -> None:
    """Refuse more coefficients than a search could choose."""
    for option, wanted, number in (("harmonics", "fourier", harmonics), ("pieces", "spline", pieces)):
        if family == wanted and number is not None and not 1 <= number <= MOST_COEFFICIENTS:
            raise InputError(
                f"must be 1 to {MOST_COEFFICIENTS}, got {float(number):.4g}.", place=f"--{option}"
            )


def _refuse_in_vain(family: str, given: Iterable[str]) -> None:
    """Refuse options that were given, by their names, but say nothing about the family."""
    for name in given:
        if name in _OTHERS.get(family, ()):
            suits = [other for other in FAMILIES if name not in _OTHERS[other]]
            raise InputError(
                f"says nothing about --family {family}.",
                place=f"--{name.replace('_', '-')}",
                remedy=f"It goes with {' and '.join(suits)}.",
            )


def _words(given: str | Sequence[str]) -> tuple[str, ...]:
    """Words between commas, or in a list."""
    words = given.split(",") if isinstance(given, str) else given
    return tuple(word.strip() for word in words if word.strip())


def _logs(given: Recording | FilePath | Sequence[Recording | FilePath] | None) -> tuple[Recording | str, ...]:
    if given is None:
        return ()
    several = [given] if isinstance(given, Recording | str | os.PathLike) else given
    return tuple(log if isinstance(log, Recording) else os.fspath(log) for log in several)


def _called(value: object) -> object:
    """What a page calls a value that was given: objects by their kind, name and digest."""
    if isinstance(value, tuple):
        return tuple(_called(item) for item in value)
    if isinstance(value, Robot):
        return f"<Robot {value.name}, sha256 {value.digest[:12]}>"
    if isinstance(value, Recording):
        return f"<Recording, sha256 {value.digest[:12]}>"
    if isinstance(value, Scene):
        return f"<Scene of {len(value.obstacles)} obstacles>"
    return f"<Body of {value.mass:g} kg>" if isinstance(value, Body) else value


@dataclass(frozen=True, eq=False)
class DesignSpecification:
    """A motion is asked for; nothing is made yet.

    Attributes:
        layout: the parameters.
        base: the columns the motion is judged by.
        limits: what it must respect; the robot there lacks the limits that are not to be kept.
        start: where it starts, shape (nv,), rad or m; None for anywhere.
        recorded: Gram matrix of the data that is there already, shape (p, p), SI; None for none.
        findings: limits that nobody states, and what torques lack.
    """

    layout: Layout
    base: BaseParameters
    limits: MotionLimits
    start: Array | None
    recorded: Array | None
    findings: tuple[Finding, ...] = ()


def design_specification(robot: Robot, request: MotionRequest) -> DesignSpecification:
    """Pose what is asked of a motion of a robot.

    Args:
        robot: as described.
        request: what was asked for.

    Returns:
        The question.
    """
    loaded = _loaded(_lifted(robot, request.without), request)
    layout, base = _columns(request, loaded)
    limits = _limits(request, loaded, layout)
    pairs = 0 if limits.clearance is None else len(limits.clearance.pairs)
    say(f"1  {base.count} columns to show; {pairs} pairs to keep apart")
    findings = _beyond_limits(robot, request)
    for finding in findings:
        say(f"   {finding}")
    return DesignSpecification(
        layout, base, limits, _start(request, loaded), _recorded(request, loaded, layout), findings
    )


def _beyond_limits(robot: Robot, request: MotionRequest) -> tuple[Finding, ...]:
    """What no limit speaks of: limits nobody states, what torques do not count, a floor, a shape."""
    return (
        *_unlimited(robot, request.without),
        *_uncounted(robot, request),
        *_around(robot, request),
        *_unshaped(request),
    )


def _around(robot: Robot, request: MotionRequest) -> tuple[Finding, ...]:
    if "clearance" in request.without:
        return ()
    return floor_findings(request.floor, robot, request.surroundings())


def _unshaped(request: MotionRequest) -> tuple[Finding, ...]:
    """What is mounted or held beyond the description, and has no shape that could be kept clear."""
    if request.tool is not None or "clearance" in request.without:
        return ()
    if request.payload is not None or request.target == "payload":
        message = "what it will hold has no shape here; state it with --tool, or say --tool none."
        return (Finding(Severity.WARNING, "unknown-shape-held", message, TOOL),)
    message = "nothing is mounted beyond the description, cables neither; --tool states a shape."
    return (Finding(Severity.INFO, "assumed-bare", message, TOOL),)


def _unlimited(robot: Robot, without: tuple[str, ...]) -> tuple[Finding, ...]:
    """Kinds of limits that a motion does not keep because nobody states them, though nobody lifted them."""
    findings = []
    for word, name in {"velocity": "velocity", **LIFTED}.items():
        free = [joint.name for joint in robot.joints if joint.nv and np.isinf(getattr(joint.limits, name))]
        if free and word not in without:
            message = f"no {word} limit is stated, so none is kept; state it with --{word} or --limits."
            # An acceleration strikes nothing and overloads nothing but by its torque, which has a limit.
            severity = Severity.INFO if word == "acceleration" else Severity.WARNING
            findings.append(Finding(severity, "unstated-limit", message, ", ".join(free)))
    return tuple(findings)


def _uncounted(robot: Robot, request: MotionRequest) -> tuple[Finding, ...]:
    """What the robot's torques will come from, beyond the model whose torques are bounded."""
    if "torque" in request.without:
        return ()
    findings = []
    if request.target == "payload" and request.payload is None:
        message = "the torques are those of the empty robot; state what it will hold with --payload."
        findings.append(Finding(Severity.WARNING, "unknown-load", message, "payload"))
    if joints := unmodelled_friction(robot):
        message = "states friction that grows with the load or falls with speed; torques do not count it."
        findings.append(Finding(Severity.WARNING, "uncounted-friction", message, ", ".join(joints)))
    return tuple(findings)


def _loaded(robot: Robot, request: MotionRequest) -> Robot:
    """The robot with what it will hold."""
    if request.payload is None:
        return robot
    held = request.payload if isinstance(request.payload, Body) else read_payload(request.payload)
    return robot.with_body("payload", held)


def _limits(request: MotionRequest, robot: Robot, layout: Layout) -> MotionLimits:
    """Torques count where every link states its inertia."""
    clearance = _clearance(request, robot)
    if "torque" in request.without or any(link.body is None for link in robot.links):
        return MotionLimits(robot, clearance, distance=request.distance)
    return MotionLimits(robot, clearance, layout, layout.complete_nominal(), request.distance)


def _lifted(robot: Robot, without: tuple[str, ...]) -> Robot:
    """The robot without the limits that are not to be kept."""
    names = {LIFTED[word]: np.inf for word in without if word in LIFTED}
    if not names:
        return robot
    joints = tuple(replace(joint, limits=replace(joint.limits, **names)) for joint in robot.joints)
    return replace(robot, joints=joints)


def _columns(request: MotionRequest, robot: Robot) -> tuple[Layout, BaseParameters]:
    return (
        payload_columns(robot) if request.target == "payload" else robot_columns(robot, request.drive_terms)
    )


def _start(request: MotionRequest, robot: Robot) -> Array | None:
    if request.start == "free":
        return None
    if request.start == "home":
        return home(robot)
    try:
        pose = np.array([float(word) for word in request.start.split(",")])
    except ValueError:
        pose = np.zeros(0)
    if pose.size != robot.nv or not np.isfinite(pose).all():
        raise InputError(
            f"expected home, free or {robot.nv} positions between commas, got '{request.start}'.",
            place="--start",
        )
    return pose


def _clearance(request: MotionRequest, robot: Robot) -> Clearance | None:
    if "clearance" in request.without:
        return None
    mesh = tool_mesh(request.tool)
    scene = request.surroundings()
    found = clearance_of(
        robot,
        scene,
        tool=tool_shapes(mesh, request.tool_scale),
        tool_meshes=None if mesh is None else mesh.parent,
        ignore=request.ignored_pairs,
        rest=_start(request, robot),
        distance=request.distance,
        floor=stated_floor(request.floor, robot, scene),
    )
    require_readable_tool(found, mesh)
    for finding in found.findings:
        say(f"   {finding}")
    return found


def _recorded(request: MotionRequest, robot: Robot, layout: Layout) -> Array | None:
    """The Gram matrix of the logs that are already there."""
    if not request.after:
        return None
    blocks = []
    units = log_units(request.units, request.calibration, robot)
    for given in single_logs(request.after):
        if isinstance(given, Recording):
            names = robot.joint_names
            recording = given if given.joints == names else given.joint_subset(names)
        else:
            joints, columns = list(robot.joint_names), request.columns
            recording = read(
                given, joints=joints, columns=columns, topic=request.topic, units=units, lenient=True
            ).recording
        log = prepared(recording).recording.channels
        blocks.append((log["q"], log["v"], log["a"], log["tau"]))
    return torque_gram(robot, layout, blocks)[:-1, :-1]


def designed(request: MotionRequest) -> DesignedMotion:
    """Pose the question, search or choose, and prove.

    Args:
        request: what was asked for.
    """
    request.require_known()
    require_readable_logs(log for log in request.after if not isinstance(log, Recording))
    robot = request.described()
    return _chosen(robot, request) if request.family == "primitives" else _searched(robot, request)


def _searched(robot: Robot, request: MotionRequest) -> DesignedMotion:
    """Search a family with coefficients."""
    jerk = request.largest_jerk(robot)
    asked = design_specification(robot, request)
    limits = asked.limits
    problem = DesignProblem(
        robot=limits.robot,
        family=_family(request, limits.robot),
        layout=asked.layout,
        base=asked.base,
        start=asked.start,
        criterion=Criterion(request.criterion),
        recorded=asked.recorded,
        clearance=limits.clearance,
        distance=_sought_distance(limits, asked.start),
        acceleration="acceleration" not in request.without,
        parameters=limits.parameters,
    )
    budget = SearchBudget(None if request.rounds is not None else request.budget, request.rounds)

    def tell(state: SearchState) -> None:
        best = "no motion within the limits yet" if math.isnan(state.best) else f"{state.best:.4g}"
        done = state.seconds / request.budget if request.rounds is None else state.rounds / request.rounds
        words = f"searching: {request.criterion} {best} after {state.rounds} rounds"
        advance(words, min(done, 1.0))

    advance("searching", 0.0)
    found = design(problem, budget, np.random.default_rng(request.seed), progress=tell)
    say(f"2  {found.rounds} local searches; {request.criterion} {found.value:.4g}, cond {found.cond:.4g}")
    kept = keep_jerk(found.motion, robot, jerk)
    if kept.slower > 1.0:
        found = judged_again(problem, found, kept.motion)
        say(f"   {kept.findings[0]}")
        say(f"   {request.criterion} {found.value:.4g}, cond {found.cond:.4g} of the slower motion")
    proof = proof_of(limits, kept.motion, request.parameter_range)
    findings = (*asked.findings, *kept.findings)
    return DesignedMotion(
        robot=robot,
        limits=limits,
        proof=proof,
        look=looked_again(limits, kept.motion, proof),
        uncovered=_uncovered(proof, findings, request),
        findings=findings,
        design=found,
        jerk=kept,
        facts=request.facts,
    )


def _uncovered(
    proof: Certificate | Exception, findings: Sequence[Finding], request: MotionRequest
) -> tuple[Finding, ...]:
    """What could hit or overload beyond a proof; nothing without one."""
    return uncovered_by(proof, findings, request.without) if isinstance(proof, Certificate) else ()


def _sought_distance(limits: MotionLimits, start: Array | None) -> float:
    """A little more than is asked for, so that the proof has room between the samples of the search."""
    more = ROOM * limits.distance + LEAST_ROOM
    if limits.clearance is None or start is None or not limits.clearance.pairs:
        return more
    at_start = float(limits.clearance.distances(start[None]).min())
    return max(limits.distance, min(more, 0.95 * at_start))


def _family(request: MotionRequest, robot: Robot) -> LinearMotion:
    if request.family == "fourier":
        return fourier_family(robot, request.harmonics, request.period)
    return spline_family(robot, request.pieces, request.period)


def _chosen(robot: Robot, request: MotionRequest) -> DesignedMotion:
    """Make the structured motions, order them by the criterion, and take the best that can be proven."""
    recipes, jerk = _recipes(request.motion_name), request.largest_jerk(robot)
    asked = design_specification(robot, request)
    made = structured_motions(asked.limits, recipes=recipes)
    for finding in made.findings:
        say(f"   {finding}")
    began = time.perf_counter()
    criterion = Criterion(request.criterion)
    kept = {item.name: keep_jerk(item.motion, robot, jerk) for item in made}
    shown = {name: _information(asked, item.motion) for name, item in kept.items()}
    worth = {name: _worth(criterion, asked, what) for name, what in shown.items()}
    best_first = sorted(worth, key=lambda name: -worth[name] if criterion.maximised else worth[name])
    seconds = time.perf_counter() - began
    say(f"2  {len(made)} structured motions; {best_first[0]}: {criterion} {worth[best_first[0]]:.4g}")
    ended = []
    for name in best_first:
        item = kept[name]
        found = _judged(asked, criterion, item.motion, shown[name], seconds)
        for finding in item.findings:
            say(f"   {name}: {finding}")
        proof = proof_of(asked.limits, item.motion, request.parameter_range)
        findings = (*asked.findings, *made.findings, *item.findings)
        ended.append(
            DesignedMotion(
                robot=robot,
                limits=asked.limits,
                proof=proof,
                look=looked_again(asked.limits, item.motion, proof),
                uncovered=_uncovered(proof, findings, request),
                findings=findings,
                design=found,
                jerk=item,
                name=name,
                compared=worth,
                facts=request.facts,
            )
        )
        if isinstance(proof, Certificate):
            return ended[-1]
        if name != best_first[-1]:
            say(f"   {name} is left out; the next best is tried")
    return ended[0]


def _recipes(name: str | None) -> tuple[Recipe, ...]:
    """The one of a name, or all that parameters may be fitted to."""
    every = {recipe.name: recipe for recipe in structured_recipes()}
    if name is None:
        return tuple(recipe for recipe in every.values() if not recipe.held_out)
    if name not in every:
        raise UnknownNameError("structured motion", name, every, place="--motion-name")
    return (every[name],)


def _information(asked: DesignSpecification, motion: LinearMotion) -> Information:
    """What the motion will have shown of the columns, together with the data that is there already."""
    at = motion.sample(np.linspace(0.0, motion.duration, max(2, round(JUDGED * motion.duration))))
    unknown = np.zeros_like(at.v)
    gram = torque_gram(asked.limits.robot, asked.layout, [(at.q, at.v, at.a, unknown)])[:-1, :-1]
    if asked.recorded is not None:
        gram = gram + asked.recorded
    columns = asked.base.columns
    return Information(gram[np.ix_(columns, columns)], squared=True)


def _worth(criterion: Criterion, asked: DesignSpecification, shown: Information) -> float:
    return score(criterion, shown, groupings=asked.base.matrix).value


def _judged(
    asked: DesignSpecification, criterion: Criterion, motion: LinearMotion, shown: Information, seconds: float
) -> Design:
    return Design(
        motion=motion,
        criterion=criterion,
        value=_worth(criterion, asked, shown),
        cond=_worth(Criterion.COND, asked, shown),
        cond_normalised=_worth(Criterion.COND_NORMALISED, asked, shown),
        rms_deviation=float(np.sqrt(_worth(Criterion.A, asked, shown) / asked.base.count)),
        columns=asked.base.names,
        margins=_margins(asked.limits, motion),
        never_apart=(),
        seconds=seconds,
        rounds=0,
        evaluations=0,
        history=(),
    )


def _margins(limits: MotionLimits, motion: LinearMotion) -> SmallestMargins:
    """Of the joints' own limits for all time, of torque and clearance at samples."""
    goes = extent(motion)
    joints = MotionLimits(limits.robot).margins(
        np.stack([goes.lower, goes.upper]),
        np.stack([goes.velocity, -goes.velocity]),
        np.stack([goes.acceleration, -goes.acceleration]),
    )
    at = motion.sample(np.linspace(0.0, motion.duration, round(FINE * motion.duration) + 1))
    sampled = limits.margins(at.q, at.v, at.a)
    every = (joints.position, joints.velocity, joints.acceleration, sampled.torque, sampled.clearance)
    return SmallestMargins(*(float(margins.min(initial=np.inf)) for margins in every))


def supplemented(request: MotionRequest, planned: AnyMotion | FilePath) -> SupplementedMotion:
    """Judge a motion that is planned anyway, and add what it lacks to show a payload.

    Args:
        request: what was asked for.
        planned: the motion, or its file.

    Returns:
        All of the motion, and what could overload beyond its proof.

    Raises:
        InputError: a jerk limit is stated, the motion is another robot's, or a joint has no torque limit.
    """
    robot = request.described()
    if np.isfinite(request.largest_jerk(robot)).any():
        raise InputError(
            "keeps no jerk limit: what is planned is not slowed.",
            place="--planned",
            remedy="Leave out --jerk, and jerk in the file of limits.",
        )
    given = isinstance(planned, str | os.PathLike)
    motion = read_motion(planned) if isinstance(planned, str | os.PathLike) else planned
    if motion.joints != robot.joint_names:
        raise InputError(
            f"moves {list(motion.joints)}, the robot has {list(robot.joint_names)}.",
            place=str(planned) if given else "--planned",
        )
    effort = robot.limit_array("effort")
    if not np.isfinite(effort).all():
        raise InputError(
            "states no torque limit at some joint, by which its noise would be judged.",
            place=request.robot if isinstance(request.robot, str) else robot.name,
            remedy="State it with --torque or --limits, or in the description.",
        )
    loaded = _loaded(_lifted(robot, request.without), request)
    limits = _limits(request, loaded, _columns(request, loaded)[0])
    meter = TorqueMeter(METER_NOISE * effort, METER_RATE, UNKNOWN_FRICTION)
    found = added_motion(limits, motion, meter, np.random.default_rng(request.seed))
    say(f"   {found.before}")
    return SupplementedMotion(
        robot=robot,
        limits=limits,
        proof=found.certificate,
        look=looked_again(limits, found.motion, found.certificate),
        uncovered=uncovered_by(found.certificate, _beyond_limits(robot, request), request.without),
        added=found,
    )
