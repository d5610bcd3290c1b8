"""Weigh what an arm holds: read the runs, choose a way, weigh, judge, and write the asset."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Check, Status, Verdict, check_density
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.export import (
    ObjectMesh,
    controller_files,
    fit_findings,
    object_mesh,
    placement_findings,
)
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.formats import require_free
from steelyard.identification import WINDOWS
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.payloads import (
    METHODS,
    NOTHING,
    POINTS,
    QUANTITIES,
    SIGNS,
    ArmModel,
    ConstantErrors,
    DecidedBy,
    GraspSlip,
    LoadedRuns,
    LoadRows,
    Mount,
    PayloadEstimate,
    PayloadPrior,
    Weighing,
    WristSensor,
    calibrated,
    described,
    errors_of,
    fit_gains,
    grasp_slip,
    massless,
    mounted_at,
    payload_of,
    residual_torque,
    weigh_by_residual,
    weigh_by_wrench,
    weigh_full_arm,
    weigh_several,
    weigh_with_model,
)
from steelyard.progress import say
from steelyard.recording import Reading, Recording, log_name, read, require_readable_logs, single_logs
from steelyard.robot import Robot, read_payload
from steelyard.signals import Preparation, prepared_alike, sampling_of
from steelyard.threads import with_one_blas_thread
from steelyard.workflows.controller_load import flange_findings, flange_of
from steelyard.workflows.given import given_model, given_robot
from steelyard.workflows.guaranteed_payload import guaranteed
from steelyard.workflows.identify import DRIVE
from steelyard.workflows.logs import (
    absent_joints,
    log_units,
    torque_constant_errors,
    torque_constants,
)
from steelyard.workflows.record import GivenObjects, request_of, require_seed
from steelyard.workflows.weighed_payload import Payload, PayloadRequest, Runs, pose_of

WAYS = ("auto", "residual", "model", "arm")
COARSE = 0.1
"""Half the interval of the mass over the mass from which on the answer is coarse."""
SLIPPED = (
    "The answer is a mean of two places: weigh a log that ends before that time, "
    "or grip it tighter and run again"
)
"""What to do about a load that slips."""


def payload_weighed(given: Mapping[str, Any]) -> Payload:
    """Weigh by the arguments of `payload`, by name."""
    objects = GivenObjects()
    request = request_of(PayloadRequest, given, objects)
    return payload_of_request(request, given["out"], objects=objects, force=given["force"])


def payload_of_request(
    request: PayloadRequest, out: FilePath | None, *, objects: GivenObjects | None = None, force: bool = False
) -> Payload:
    """Do what a request asks, as `replay` does with that of a record.

    Args:
        request: what is asked.
        out: folder for the asset; None to write nothing.
        objects: those that the request names.
        force: whether an earlier result may be replaced.

    Returns:
        What the arm holds.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the data does not determine a payload, or contradicts what was assumed.
    """
    started = time.perf_counter()
    objects = objects or GivenObjects()
    if out is not None:
        require_free(Path(out), force=force)
    require_seed(request.seed)
    for place, value, valid in (
        ("--way", request.way, WAYS),
        ("--method", request.method, METHODS),
        ("--point", request.point, POINTS),
        ("--wrench-sign", request.wrench_sign, SIGNS),
    ):
        if value not in valid:
            raise UnknownNameError("choice", value, valid, place=place)
    if request.window is not None and request.method != WINDOWS:
        raise InputError(
            f"'{request.method}' has no windows.",
            place="--window",
            remedy=f"Leave it out, or use --method {WINDOWS}.",
        )
    if request.wrench is not None:
        _require_no_torques(request)
    _ = request.controllers  # a name that no controller has is refused before anything is read
    if request.flange_frame is not None and not request.stated_for_controllers:
        raise InputError(
            "is for the files of controllers and for the safety sheet.",
            place="--flange-frame",
            remedy="Give --controller or --torque-error with it.",
        )
    _require_mesh(request)
    truth = None if request.truth is None else _body(objects.of(request.truth))
    done = replace(_weighed(request, objects), truth=truth)
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _require_mesh(request: PayloadRequest) -> None:
    """Refuse a mesh that is not there, and a place that is said without a mesh or twice."""
    stated = {"--mesh-pose": request.mesh_pose, "--mesh-turn": request.mesh_turn}
    for place, value in stated.items():
        if value is not None and request.mesh is None:
            raise InputError("is for a mesh.", place=place, remedy="Give --mesh with it.")
    if None not in stated.values():
        raise InputError(
            "says how the mesh is turned, and so does --mesh-pose.",
            place="--mesh-turn",
            remedy="Give --mesh-pose where its place is known, and --mesh-turn where it is not.",
        )
    _ = request.mesh_frame  # numbers that are no pose are refused before anything is read
    if request.mesh is not None and not Path(request.mesh).is_file():
        raise InputError("there is no such file.", place=request.mesh)


def _require_no_torques(request: PayloadRequest) -> None:
    """Refuse what is said of joint torques where a sensor at the wrist weighs."""
    said = {
        "--model": request.model,
        "--way": None if request.way == "auto" else request.way,
        "--method": None if request.method == "wls" else request.method,
        "--torque-constant": request.torque_constant,
        "--torque-constant-error": request.torque_constant_error,
        "--known-load": request.known_loads or None,
        "--other-torque-constant": request.other_torque_constants or None,
        "--empty-lock": request.empty_lock or None,
    }
    for place, value in said.items():
        if value is not None:
            raise InputError(
                "is for weighing by joint torques; --wrench asks for a sensor at the wrist.",
                place=place,
                remedy=f"Leave {place} out, or --wrench.",
            )
    if request.torque_error is not None:
        raise InputError(
            "guaranteed bounds are offered for joint torques, not for a sensor at the wrist.",
            place="--torque-error",
            remedy="Leave it out: the intervals of 95 % are given; or leave --wrench out.",
        )


def _body(given: Body | FilePath) -> Body:
    """A body, or the one of a file."""
    return given if isinstance(given, Body) else read_payload(given)


@dataclass(frozen=True, eq=False)
class WeighingTask:
    """What is asked of which arm; what it needs is read when it is first needed, and once.

    Attributes:
        request: what is asked; joints that the logs do not have are locked in it.
        objects: those that it names.
        robot: the robot.
        held: where the payload is held.
    """

    request: PayloadRequest
    objects: GivenObjects
    robot: Robot
    held: Mount

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """All logs as they are: loaded, empty, known."""
        request, joints = self.request, [joint.name for joint in self.robot.joints if joint.nv]
        columns, topic = request.columns, request.topic
        units = log_units(request.units, request.calibration, self.robot)
        return tuple(
            read(
                self.objects.of(name), joints=joints, columns=columns, topic=topic, units=units, lenient=True
            )
            for name in (*request.loaded, *request.empty, *request.known_loads)
        )

    @cached_property
    def layout(self) -> Layout:
        """The parameters of an arm that is estimated as a whole."""
        return layout_of(self.robot, DRIVE.split(","))

    @cached_property
    def known_load(self) -> KnownLoad | None:
        """What the options say of a known load; None where there is none."""
        return _known_load(self.request, self.objects)

    @cached_property
    def model(self) -> ArmModel:
        """The robot without payload, by an identified folder or a description."""
        return _model(self.request, self.objects, self.robot)

    def trusted(self, way: str) -> ArmModel | None:
        """The model that torques were compared with; None where two estimates were subtracted."""
        if way == "model":
            return self.model
        stated = all(link.body is not None for link in self.robot.links)
        return described(self.robot) if way == "residual" and stated else None

    @cached_property
    def sensor(self) -> WristSensor | None:
        """The sensor at the wrist that weighs; None where joint torques do."""
        if self.request.wrench is None:
            return None
        return WristSensor(self.robot, self.request.wrench, self.request.wrench_sign)

    @cached_property
    def gripper(self) -> Array | None:
        """What the carrying link gained between the runs because fingers moved, in its own frame."""
        request, robot = self.request, self.robot
        if not request.empty_lock:
            return None
        before = given_robot(
            self.objects.of(request.robot),
            request.gravity,
            request.empty_lock,
            request.tool_frame,
            arguments=request.arguments,
            package_path=request.package_path,
            snap=True,
        )
        if before.joint_names != robot.joint_names:
            raise InputError("locks other joints than --lock.", place="--empty-lock")
        now, then = (x.links[x.link_names.index(self.held.link)].body for x in (robot, before))
        if now is None or then is None:
            raise InputError(f"'{self.held.link}' states no inertia.", place="--empty-lock")
        return np.asarray(now.parameters - then.parameters)


@with_one_blas_thread
def _weighed(asked: PayloadRequest, objects: GivenObjects) -> Payload:
    """Read the runs, choose a way, weigh, and judge."""
    robot = given_robot(
        objects.of(asked.robot),
        asked.gravity,
        asked.lock,
        asked.tool_frame,
        arguments=asked.arguments,
        package_path=asked.package_path,
        snap=True,
        stated=asked,
    )
    logs = [objects.of(name) for name in (*asked.loaded, *asked.empty, *asked.known_loads)]
    require_readable_logs(log for log in logs if not isinstance(log, Recording))
    asked = replace(
        asked,
        loaded=_episodes(asked.loaded),
        empty=_episodes(asked.empty),
        known_loads=_episodes(asked.known_loads),
    )
    units = log_units(asked.units, asked.calibration, robot)
    absent = absent_joints(
        robot, [objects.of(name) for name in asked.loaded], asked.columns, asked.topic, units
    )
    robot, request = absent.held(robot), replace(asked, lock=(*asked.lock, *absent.locks))
    held = mounted_at(robot, grasp=request.grasp_pose)
    noticed = () if not request.stated_for_controllers else _flange(robot, held, request.flange_frame)
    task = WeighingTask(request, objects, robot, held)
    say(f"1  the payload's frame is {held.frame}, carried by {held.link}")
    runs = _runs(task, request.torque_constant)
    way, why = _way(request, runs)
    say(f"2  {why}")
    estimate = _estimate(task, runs, way)
    weighing = estimate.weighing
    say(f"3  {weighing.way}: {estimate.body.mass:.4g} kg, condition number {weighing.condition:.3g}")
    others = {}
    for constants in request.other_torque_constants:
        again = _runs(task, constants)
        others[constants] = _estimate(task, again, way)
        say(f"   with torque constants {constants}: {others[constants].body.mass:.4g} kg")
    slip = _slip(task, runs, way, estimate)
    bounds, checks = None, [*_checks(estimate), _grasp_check(slip)]
    if request.torque_error is not None:
        bounds, check = guaranteed(request, objects, held, task.model)
        checks.append(check)
    mesh: ObjectMesh | None = None
    seen: tuple[Finding, ...] = ()
    if request.mesh is not None:
        mesh, seen = _mesh(request, estimate)
        checks.append(_density(estimate, mesh))
    findings = (
        *absent.findings,
        *runs.findings,
        *_caution(request, way),
        *_carried(task),
        *_gains(estimate, others),
        *estimate.findings,
        *_grasp_findings(slip, request.loaded),
        *noticed,
        *seen,
    )
    found = Payload(
        robot,
        held,
        runs,
        why,
        estimate,
        others,
        bounds,
        mesh,
        task.trusted(way),
        task.gripper,
        task.sensor,
        slip,
        Verdict(tuple(checks)),
        findings,
        asked,
    )
    if not request.controllers:
        return found
    lost = controller_files(found.controller_load(), request.controllers).findings
    return replace(found, findings=(*findings, *lost))


def _episodes(names: Sequence[str]) -> tuple[str, ...]:
    """Names of logs, those of datasets as those of their episodes."""
    return tuple(log_name(log) for log in single_logs(names))


def _flange(robot: Robot, held: Mount, name: str | None) -> tuple[Finding, ...]:
    """What is to be said of the controller's frame; one that cannot be taken is refused before the logs."""
    return flange_findings(*flange_of(robot, held, name))


def _mesh(request: PayloadRequest, estimate: PayloadEstimate) -> tuple[ObjectMesh, tuple[Finding, ...]]:
    """The mesh where it was said to lie, or by the centre of mass; and what the estimate says to it."""
    placed = request.mesh_turn is not None
    centre = estimate.body.com if placed else None
    mesh = object_mesh(str(request.mesh), scale=request.scale, pose=request.mesh_frame, centre=centre)
    pairs = zip(estimate.lower.tolist(), estimate.upper.tolist(), strict=True)
    ends = dict(zip(QUANTITIES, pairs, strict=True))
    judged = placement_findings(estimate.body, mesh, ends, placed=placed)
    return mesh, (*mesh.findings, *fit_findings(estimate.body, mesh), *judged)


def _density(estimate: PayloadEstimate, mesh: ObjectMesh) -> Check:
    """Whether the shape, filled evenly, would weigh as it does."""
    weighing = estimate.weighing
    values = weighing.values if weighing.values[0] > 0.0 else estimate.ten
    return check_density(values, weighing.covariance, mesh.surface)


def _estimate(task: WeighingTask, runs: Runs, way: str) -> PayloadEstimate:
    request, weighing = task.request, _weigh(task, runs, way)
    prior = PayloadPrior(request.heaviest, request.extent)
    return payload_of(weighing, np.random.default_rng(request.seed), prior=prior, point=request.point)


def _runs(task: WeighingTask, torque_constant: str | None) -> Runs:
    """All logs in one band, so that one can be taken off another, torques calibrated by a known load."""
    request, robot, known = task.request, task.robot, task.known_load
    names = (*request.loaded, *request.empty, *request.known_loads)
    readings = task.readings
    logs = [reading.recording for reading in readings]
    interval = max(sampling_of(log).interval for log in logs)
    # Windows are integrated over every sample that there is.
    kept = interval if request.method == WINDOWS else None
    constants = torque_constants(torque_constant, robot.nv)
    limits: Array | None = robot.limit_array("effort")
    # With a load of which everything is known, currents alone tell how much torque they are.
    bare = constants is None and known is not None and known.body is not None
    bare = bare and all(log.tau is None and log.current is not None for log in logs)
    if bare:
        constants, limits = np.ones(robot.nv), None
    how = Preparation(constants, request.cutoff, kept, torque_limit=limits, torques=task.sensor is None)
    ready = prepared_alike(logs, how)
    findings: list[Finding] = []
    for name, reading, found in zip(names, readings, ready, strict=True):
        for remark in found.remarks:
            say(f"   {Path(log_name(task.objects.of(name))).name}: {remark}")
        findings += [x for x in (*reading.findings, *found.findings) if x not in findings]
    done, full, all_but = (
        [x.recording for x in ready],
        len(request.loaded),
        len(names) - len(request.known_loads),
    )
    errors = torque_constant_errors(
        request.torque_constant_error, robot.nv, from_current=constants is not None
    )
    runs = Runs(
        tuple(done[:full]),
        tuple(done[full:all_but]),
        tuple(done[all_but:]),
        interval,
        ConstantErrors.of(errors),
        tuple(findings),
    )
    if known is None:
        return runs
    if bare:
        assert known.body is not None
        gains = fit_gains(robot, task.layout, task.held, known.body, runs.known, runs.empty)
        say(f"   the known load gives {', '.join(f'{g:.4g}' for g in gains.values)} N·m/A")
        runs = runs.scaled(gains.values)
    return _calibrated(task, runs, known)


def _calibrated(task: WeighingTask, runs: Runs, known: KnownLoad) -> Runs:
    """Torques by constants that are corrected by a known load; measured torques stay as they are."""
    if not runs.errors.root.any():
        return runs
    known_runs = replace(runs, loaded=runs.known)
    way, _ = _way(replace(task.request, way="auto"), known_runs)
    factors, errors = calibrated(
        lambda factors: _weigh(task, known_runs.scaled(factors), way),
        runs.errors,
        known.numbers,
        known.values,
    )
    listed = ", ".join(
        f"{factor:.3f} ± {off:.3f}" for factor, off in zip(factors, errors.deviations, strict=True)
    )
    say(f"   the known load corrects the torque constants by the factors {listed}")
    message = f"corrected by a known load, by the factors {listed}."
    finding = Finding(Severity.INFO, "calibrated-constants", message, "torque constants")
    return replace(runs.scaled(factors), errors=errors, findings=(*runs.findings, finding))


@dataclass(frozen=True, eq=False)
class KnownLoad:
    """What is known of the load in the runs of `--known-load`.

    Attributes:
        numbers: which combinations of its ten numbers in the payload's frame, shape (k, 10), SI.
        values: what they are, shape (k,), SI.
        body: the whole load in the payload's frame, where all of it is known.
    """

    numbers: Array
    values: Array
    body: Body | None


def _known_load(request: PayloadRequest, objects: GivenObjects) -> KnownLoad | None:
    """What the options say of a known load; None where there is none.

    Raises:
        InputError: they do not go together.
    """
    stated = (request.known_mass, request.known_com, request.known_body)
    if not request.known_loads:
        if any(x is not None for x in stated):
            raise InputError(
                "says what a load is, but no run holds it.",
                place="--known-mass, --known-com or --known-body",
                remedy="Give its log by --known-load.",
            )
        return None
    if (request.known_mass is None) == (request.known_body is None):
        raise InputError(
            "needs its mass (--known-mass) or all of its numbers (--known-body), one of the two.",
            place="--known-load",
        )
    if not request.empty or request.model is not None:
        raise InputError(
            "needs runs without a load, and no model, whose torques would have to be calibrated as well.",
            place="--known-load",
            remedy="Give --empty, and leave --model out.",
        )
    if request.known_body is not None:
        if request.known_com is not None:
            raise InputError("is part of --known-body already.", place="--known-com")
        grasp, body = request.grasp_pose, _body(objects.of(request.known_body))
        body = body if grasp is None else body.moved(grasp.inverse())
        return KnownLoad(np.eye(10), body.parameters, body)
    mass = request.known_mass
    assert mass is not None
    if not (np.isfinite(mass) and mass > 0.0):
        raise InputError(f"must be positive, got {mass:g} kg.", place="--known-mass")
    if request.known_com is None:
        return KnownLoad(np.eye(10)[:1], np.array([mass]), None)
    com = pose_of(request.known_com, "--known-com")
    assert com is not None
    return KnownLoad(np.eye(10)[:4], mass * np.array([1.0, *com.translation]), None)


def _way(request: PayloadRequest, runs: Runs) -> tuple[str, str]:
    """The way, and why."""
    if request.wrench is not None:
        holds = "the description" if not runs.empty else "the empty run"
        return "wrench", (
            f"a sensor at {request.wrench} was asked for; what holds the payload is known from {holds}"
        )
    if request.way in ("residual", "arm") and not runs.empty:
        raise InputError(
            f"'{request.way}' needs a run without the payload.", place="--way", remedy="Give --empty."
        )
    if request.way != "auto":
        return request.way, f"'{request.way}' was asked for"
    if request.model is not None:
        return "model", f"the robot is known from {request.model}, so only the payload is asked about"
    if not runs.empty:
        return "model", "no empty run and no model are given, so the description's own numbers are trusted"
    if len(runs.empty) == len(runs.loaded):
        try:
            for full, bare in zip(runs.loaded, runs.empty, strict=True):
                residual_torque(full, bare, None)
        except RecordingError:
            return "arm", "the empty run is of another motion, so the whole arm is estimated twice"
        return "residual", "the empty run repeats the loaded one, so no model of the robot is needed"
    return "arm", "empty and loaded runs do not pair up, so the whole arm is estimated twice"


def _weigh(task: WeighingTask, runs: Runs, way: str) -> Weighing:
    request, robot, held = task.request, task.robot, task.held
    if task.sensor is not None:
        return weigh_by_wrench(task.sensor, held, runs.loaded, runs.empty)
    gripper, constants = task.gripper, runs.errors
    if runs.known and not constants.root.any():
        known = task.known_load
        assert known is not None
        if known.body is None:
            raise InputError(
                "measured torques have no constants that a mass could calibrate.",
                place="--known-mass",
                remedy="State the whole load by --known-body, which weighs together with the others.",
            )
        groups = (
            LoadedRuns("nothing", runs.empty, held, NOTHING),
            LoadedRuns("known", runs.known, held, known.body),
            LoadedRuns("payload", runs.loaded, held, None),
        )
        return weigh_several(robot, task.layout, groups)["payload"]
    if way == "model":
        return weigh_with_model(
            task.model,
            held,
            runs.loaded,
            method=request.method,
            interval=runs.interval,
            window=request.window,
            constants=constants,
        )
    if request.method != "wls" and way == "arm":
        raise InputError(f"'arm' knows only wls, got '{request.method}'.", place="--method")
    if way == "arm":
        return weigh_full_arm(
            robot,
            task.layout,
            held,
            runs.loaded,
            runs.empty,
            gripper=gripper,
            interval=runs.interval,
            constants=constants,
        )
    if request.method == "momentum":
        raise InputError("residual torques belong to samples, not to windows.", place="--method")
    return weigh_by_residual(
        robot,
        held,
        runs.loaded,
        runs.empty,
        description=task.trusted(way),
        gripper=gripper,
        method=request.method,
        interval=runs.interval,
        constants=constants,
    )


def _slip(task: WeighingTask, runs: Runs, way: str, estimate: PayloadEstimate) -> GraspSlip | None:
    """Whether the payload stayed where it was held; None where that cannot be told."""
    held, mass = task.held, estimate.body.mass
    if task.sensor is not None:
        rows = [LoadRows.of_wrench(task.sensor, held, run) for run in runs.loaded]
    elif way == "model":
        rows = [LoadRows.of_torques(task.model, held, run) for run in runs.loaded]
    elif way == "residual":
        own, trusted = massless(task.robot), task.trusted(way)
        pairs = zip(runs.loaded, runs.empty, strict=True)
        rows = [LoadRows.of_torques(own, held, residual_torque(full, bare, trusted)) for full, bare in pairs]
    else:
        return None
    return grasp_slip(rows, mass)


def _grasp_check(slip: GraspSlip | None) -> Check:
    """Judge what was seen of a grasp."""
    if slip is None:
        message = "the runs are too short or the motion too poor, or the arm was estimated with the load."
        return Check("grasp", Status.NOT_RUN, message)
    evidence = {"chance": slip.chance, "time": slip.time, "distance": slip.distance}
    if not slip.noticed:
        seen = f"chance of what was seen {slip.chance:.2g}"
        return Check("grasp", Status.PASS, f"the load stayed where it was held ({seen}).", evidence)
    return Check("grasp", Status.WARN, f"the load slips: {_moved(slip)}.", evidence)


def _grasp_findings(slip: GraspSlip | None, loaded: Sequence[str]) -> list[Finding]:
    """Say when and how far a load slipped, and what to do; nothing where it did not."""
    if slip is None or not slip.noticed:
        return []
    message = f"the load slips in its grasp: {_moved(slip)}. {SLIPPED}."
    return [Finding(Severity.WARNING, "grasp-slips", message, Path(loaded[slip.run]).name)]


def _moved(slip: GraspSlip) -> str:
    return f"its centre of mass moved by about {1e3 * slip.distance:.2g} mm at {slip.time:.3g} s"


def _model(request: PayloadRequest, objects: GivenObjects, robot: Robot) -> ArmModel:
    """The robot without payload, by an identified folder or a description."""
    if request.model is None:
        return described(robot)
    found = given_model(objects.of(request.model), request.gravity, request.lock)
    if found.robot.joint_names != robot.joint_names or found.robot.link_names != robot.link_names:
        raise InputError(
            "has other joints or links than the robot.",
            place=f"--model {request.model}",
            remedy="Identify the same description, with the same joints locked.",
        )
    stored = found.stored
    errors, same = None, False
    if stored is not None and stored.layout.names == found.layout.names:
        base = stored.base
        errors = errors_of(base.matrix, base.values, base.covariance) if base.names else None
        asked = stored.record.get("request") or {}
        used = torque_constants(asked.get("torque_constant"), robot.nv)
        now = torque_constants(request.torque_constant, robot.nv)
        same = used is not None and now is not None and np.array_equal(used, now)
    return ArmModel(robot, found.layout, found.parameters, request.model, errors, same)


def _caution(request: PayloadRequest, way: str) -> list[Finding]:
    if way != "model" or request.model is not None:
        return []
    message = (
        "the description's numbers were trusted without a test; their errors go into the payload. An empty "
        "run of the same motion, or an identified model, needs no such trust."
    )
    return [Finding(Severity.WARNING, "trusted-description", message, request.robot)]


def _carried(task: WeighingTask) -> list[Finding]:
    """Say what the description holds the load with, where a sensor weighs and no empty run tells it."""
    sensor = task.sensor
    if sensor is None or task.request.empty:
        return []
    named, known = [*task.robot.parted(sensor.frame).names, *sensor.moving], sensor.gripper
    layout = layout_of(task.robot)
    mass = sum(float(known[layout.of_link(name)][0]) for name in (sensor.link, *sensor.moving))
    what = f"{', '.join(named)}: {mass:.4g} kg, which are taken off" if mass > 0.0 else "nothing that weighs"
    message = f"by the description the sensor carries, beside the payload, {what}. An empty run would tell."
    return [Finding(Severity.INFO, "wrench-carries", message, sensor.frame)]


def _gains(estimate: PayloadEstimate, others: dict[str, PayloadEstimate]) -> list[Finding]:
    """Say where another torque constant moves the mass further than noise can."""
    masses = [other.body.mass for other in others.values()]
    low, high = float(estimate.lower[0]), float(estimate.upper[0])
    beyond = [m for m in masses if not low <= m <= high]
    if not beyond:
        return []
    furthest = max(beyond, key=lambda m: abs(m - estimate.body.mass))
    message = (
        f"these torque constants give {estimate.body.mass:.4g} kg, 95 % between {low:.4g} and {high:.4g} kg, "
        f"others {furthest:.4g} kg: what limits the answer is not noise but how much torque an ampere is. A "
        "load of known mass would settle it."
    )
    return [Finding(Severity.WARNING, "gain-limited", message, "torque constants")]


def _checks(estimate: PayloadEstimate) -> Iterator[Check]:
    """Judge mass, motion and physical possibility of an estimate."""
    yield _mass(estimate)
    yield _motion(estimate)
    yield _possible(estimate)
    yield _inertia(estimate)


def _mass(estimate: PayloadEstimate) -> Check:
    m, low, high = (float(x[0]) for x in (estimate.values, estimate.lower, estimate.upper))
    words = f"{m:.4g} kg, 95 % between {low:.4g} and {high:.4g} kg"
    parts = {source: float(each[0]) for source, each in estimate.deviations.items()}
    if len(parts) > 1:
        listed = ", ".join(f"{deviation:.2g} kg by {source}" for source, deviation in parts.items())
        words = f"{words} (standard deviations: {listed})"
    alone = float(estimate.weighing.deviations[0])
    for finding in estimate.findings:
        if finding.code == "wrench-sign":
            return Check("mass", Status.FAIL, finding.message)
    if not estimate.weighing.values[0] > 2.0 * alone:
        return Check("mass", Status.FAIL, f"{words}: the data does not show that anything is held.")
    if 0.5 * (high - low) > COARSE * m:
        return Check("mass", Status.WARN, f"{words}: coarse.")
    return Check("mass", Status.PASS, f"{words}.")


def _motion(estimate: PayloadEstimate) -> Check:
    shown, condition = estimate.weighing.shown, estimate.weighing.condition
    if shown == 10:
        return Check("motion", Status.PASS, f"shows all ten numbers, condition number {condition:.3g}.")
    return Check("motion", Status.WARN, f"shows {shown} combinations of the ten numbers.")


def _possible(estimate: PayloadEstimate) -> Check:
    name = "physical possibility"
    for finding in estimate.findings:
        if finding.code == "impossible-payload":
            return Check(name, Status.WARN, finding.message)
    return Check(name, Status.PASS, "a body that can exist fits the data.")


def _inertia(estimate: PayloadEstimate) -> Check:
    guessed = [
        name
        for name in QUANTITIES
        if estimate.decided[name] is DecidedBy.PRIOR and name.startswith(("com", "moment"))
    ]
    if not guessed:
        return Check("inertia", Status.PASS, "decided by the data.")
    return Check("inertia", Status.WARN, f"decided by what can exist, not by the data: {', '.join(guessed)}.")
