"""From runs to a judged payload: what `steelyard payload` does, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Check, Verdict, check_density
from steelyard.cli.output import say
from steelyard.cli.payload_bounds import guaranteed
from steelyard.cli.payload_checks import checks_of
from steelyard.cli.payload_request import KnownLoad, PayloadRequest, known_load_of, pose_of
from steelyard.cli.robot_argument import given_robot
from steelyard.errors import InputError, RecordingError
from steelyard.export import ObjectMesh, object_mesh
from steelyard.finding import Finding, Severity
from steelyard.layout import layout_of
from steelyard.payload import (
    NOTHING,
    ArmModel,
    ConstantErrors,
    Held,
    LoadedRuns,
    PayloadEstimate,
    PayloadPrior,
    Weighing,
    calibrated,
    described,
    errors_of,
    fit_gains,
    held_at,
    payload_of,
    residual_torque,
    weigh_by_residual,
    weigh_full_arm,
    weigh_several,
    weigh_with_model,
)
from steelyard.recording import Recording, read, require_readable_logs
from steelyard.robot import Robot
from steelyard.signals import Preparation, prepared_alike, sampling_of
from steelyard.threads import with_one_blas_thread
from steelyard.uncertainty import GuaranteedBounds
from steelyard.workflows.given import given_model
from steelyard.workflows.identify_request import DRIVE, WINDOWS
from steelyard.workflows.logs import absent_joints, torque_constant_errors, torque_constants


@dataclass(frozen=True, eq=False)
class Runs:
    """The logs made ready.

    Attributes:
        loaded: with the payload.
        empty: without it.
        known: with a load that is known.
        interval: longest at which one was recorded, s.
        errors: how far the torque constants may be off.
        findings: what was noticed.
    """

    loaded: tuple[Recording, ...]
    empty: tuple[Recording, ...]
    known: tuple[Recording, ...]
    interval: float
    errors: ConstantErrors
    findings: tuple[Finding, ...]

    def scaled(self, factors: Array) -> Runs:
        """The same with torques times a factor at each joint, shape (nv,)."""

        def louder(logs: tuple[Recording, ...]) -> tuple[Recording, ...]:
            detail = {"factors": factors.tolist()}
            return tuple(log.revised("calibrated", detail, tau=log.channels["tau"] * factors) for log in logs)

        return replace(self, loaded=louder(self.loaded), empty=louder(self.empty), known=louder(self.known))


@dataclass(frozen=True, eq=False)
class Weighed:
    """Everything that was found out.

    Attributes:
        robot: the robot.
        held: where the payload is held.
        runs: the logs.
        why: this way.
        estimate: what the arm holds.
        others: the same by other torque constants.
        bounds: guaranteed, where they were asked for and nothing contradicts them.
        mesh: its shape in its frame, where one was given.
        model: the arm without payload that was trusted, or that corrected where two runs differ.
        gripper: what the carrying link itself gained between the runs, in its own frame, shape (10,), SI.
        verdict: of the estimate.
        findings: what was noticed.
    """

    robot: Robot
    held: Held
    runs: Runs
    why: str
    estimate: PayloadEstimate
    others: dict[str, PayloadEstimate]
    bounds: GuaranteedBounds | None
    mesh: ObjectMesh | None
    model: ArmModel | None
    gripper: Array | None
    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def weighing(self) -> Weighing:
        """What the data says."""
        return self.estimate.weighing


@with_one_blas_thread
def weighed(request: PayloadRequest) -> Weighed:
    """Read the runs, choose a way, weigh, and judge."""
    robot = given_robot(
        request.robot,
        request.gravity,
        request.lock,
        request.tool_frame,
        arguments=request.arguments,
        snap=True,
        stated=request,
    )
    require_readable_logs([*request.loaded, *request.empty, *request.known_loads])
    absent = absent_joints(robot, request.loaded, request.columns, request.topic)
    robot, request = absent.held(robot), replace(request, lock=(*request.lock, *absent.locks))
    held = held_at(robot, grasp=pose_of(request.grasp, "--grasp"))
    say(f"1  the payload's frame is {held.frame}, carried by {held.link}")
    runs = _read(request, robot, held, request.torque_constant)
    way, why = _way(request, runs)
    say(f"2  {why}")
    estimate = _estimate(request, robot, held, runs, way)
    weighing = estimate.weighing
    say(f"3  {weighing.way}: {estimate.body.mass:.4g} kg, condition number {weighing.condition:.3g}")
    others = {}
    for constants in request.other_torque_constants:
        again = _read(request, robot, held, constants)
        others[constants] = _estimate(request, robot, held, again, way)
        say(f"   with torque constants {constants}: {others[constants].body.mass:.4g} kg")
    bounds, checks = None, list(checks_of(estimate))
    if request.torque_error is not None:
        bounds, check = guaranteed(request, held, _model(request, robot))
        checks.append(check)
    mesh = None if request.mesh is None else object_mesh(request.mesh, scale=request.scale)
    if mesh is not None:
        checks.append(_density(estimate, mesh))
    findings = (
        *absent.findings,
        *runs.findings,
        *_caution(request, way),
        *_gains(estimate, others),
        *estimate.findings,
    )
    return Weighed(
        robot,
        held,
        runs,
        why,
        estimate,
        others,
        bounds,
        mesh,
        _trusted(request, robot, way),
        _gripper(request, robot, held),
        Verdict(tuple(checks)),
        findings,
    )


def _density(estimate: PayloadEstimate, mesh: ObjectMesh) -> Check:
    """Whether the shape, filled evenly, would weigh as it does."""
    weighing = estimate.weighing
    values = weighing.values if weighing.values[0] > 0.0 else estimate.ten
    return check_density(values, weighing.covariance, mesh.surface)


def _estimate(request: PayloadRequest, robot: Robot, held: Held, runs: Runs, way: str) -> PayloadEstimate:
    weighing = _weigh(request, robot, held, runs, way)
    prior = PayloadPrior(request.heaviest, request.extent)
    return payload_of(weighing, np.random.default_rng(request.seed), prior=prior, point=request.point)


def _read(request: PayloadRequest, robot: Robot, held: Held, torque_constant: str | None) -> Runs:
    """All logs in one band, so that one can be taken off another, torques calibrated by a known load."""
    known = known_load_of(request)
    joints = [joint.name for joint in robot.joints if joint.nv]
    paths = [Path(name) for name in (*request.loaded, *request.empty, *request.known_loads)]
    readings = [
        read(path, joints=joints, columns=request.columns, topic=request.topic, lenient=True)
        for path in paths
    ]
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
    ready = prepared_alike(logs, Preparation(constants, request.cutoff, kept, torque_limit=limits))
    findings: list[Finding] = []
    for path, reading, found in zip(paths, readings, ready, strict=True):
        for remark in found.remarks:
            say(f"   {path.name}: {remark}")
        findings += [x for x in (*reading.findings, *found.findings) if x not in findings]
    done, full, all_but = (
        [x.recording for x in ready],
        len(request.loaded),
        len(paths) - len(request.known_loads),
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
        layout = layout_of(robot, DRIVE.split(","))
        gains = fit_gains(robot, layout, held, known.body, runs.known, runs.empty)
        say(f"   the known load gives {', '.join(f'{g:.4g}' for g in gains.values)} N·m/A")
        runs = runs.scaled(gains.values)
    return _calibrated(request, robot, held, runs, known)


def _calibrated(request: PayloadRequest, robot: Robot, held: Held, runs: Runs, known: KnownLoad) -> Runs:
    """Torques by constants that are corrected by a known load; measured torques stay as they are."""
    if not runs.errors.root.any():
        return runs
    known_runs = replace(runs, loaded=runs.known)
    way, _ = _way(replace(request, way="auto"), known_runs)
    factors, errors = calibrated(
        lambda factors: _weigh(request, robot, held, known_runs.scaled(factors), way),
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


def _way(request: PayloadRequest, runs: Runs) -> tuple[str, str]:
    """The way, and why."""
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


def _weigh(request: PayloadRequest, robot: Robot, held: Held, runs: Runs, way: str) -> Weighing:
    gripper = _gripper(request, robot, held)
    constants = runs.errors
    if runs.known and not constants.root.any():
        known = known_load_of(request)
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
        return weigh_several(robot, layout_of(robot, DRIVE.split(",")), groups)["payload"]
    if way == "model":
        model = _model(request, robot)
        return weigh_with_model(
            model,
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
        layout = layout_of(robot, DRIVE.split(","))
        return weigh_full_arm(
            robot,
            layout,
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
        description=_trusted(request, robot, way),
        gripper=gripper,
        method=request.method,
        interval=runs.interval,
        constants=constants,
    )


def _model(request: PayloadRequest, robot: Robot) -> ArmModel:
    """The robot without payload, by an identified folder or a description."""
    if request.model is None:
        return described(robot)
    found = given_model(request.model, request.gravity, request.lock)
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


def _trusted(request: PayloadRequest, robot: Robot, way: str) -> ArmModel | None:
    """The model that torques were compared with; None where two estimates were subtracted."""
    if way == "model":
        return _model(request, robot)
    stated = all(link.body is not None for link in robot.links)
    return described(robot) if way == "residual" and stated else None


def _gripper(request: PayloadRequest, robot: Robot, held: Held) -> Array | None:
    """What the carrying link gained between the runs because fingers moved, in its own frame."""
    if not request.empty_lock:
        return None
    before = given_robot(
        request.robot,
        request.gravity,
        request.empty_lock,
        request.tool_frame,
        arguments=request.arguments,
        snap=True,
    )
    if before.joint_names != robot.joint_names:
        raise InputError("locks other joints than --lock.", place="--empty-lock")
    now, then = (x.links[x.link_names.index(held.link)].body for x in (robot, before))
    if now is None or then is None:
        raise InputError(f"'{held.link}' states no inertia.", place="--empty-lock")
    return np.asarray(now.parameters - then.parameters)


def _caution(request: PayloadRequest, way: str) -> list[Finding]:
    if way != "model" or request.model is not None:
        return []
    message = (
        "the description's numbers were trusted without a test; their errors go into the payload. An empty "
        "run of the same motion, or an identified model, needs no such trust."
    )
    return [Finding(Severity.WARNING, "trusted-description", message, request.robot)]


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
