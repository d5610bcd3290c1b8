"""An existing model, of whatever tool, judged by logs it need not come from."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import (
    Check,
    Status,
    TorqueError,
    Verdict,
    check_colour,
    check_friction,
    check_links,
    check_mass_matrix,
    check_torque,
    error_along,
)
from steelyard.errors import NoSolutionError
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.formats import record_document, require_free, versions, write_folder
from steelyard.identifiable import certify_excitation, structural_identifiability
from steelyard.identification import LogOptions, log_made_ready
from steelyard.layout import layout_of
from steelyard.model import Model
from steelyard.recording import (
    Log,
    Recording,
    log_name,
    require_readable_logs,
    same_episodes,
    single_logs,
)
from steelyard.report import History, ReportContent, TorqueTrace, draw_arm, report_page
from steelyard.robot import Robot
from steelyard.signals import in_band
from steelyard.workflows.given import given_model, stated_limits
from steelyard.workflows.logs import absent_joints, listed_logs, log_units, torque_constants
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    CalibrationGiven,
    ColumnsGiven,
    CutoffGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    PackagePathGiven,
    TopicGiven,
    TorqueConstantGiven,
    TorqueGiven,
    UnitsGiven,
    VelocityGiven,
    text_of,
    texts_of,
)
from steelyard.workflows.record import digest_of

POSES = 60
"""Poses of the first log the arm is drawn in."""


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """What is to be thought of a model.

    Attributes:
        model: the model.
        verdict: check by check.
        error: torque unexplained over all logs, percent of its rms.
        logs: the same of each log by name.
        joints: a name per degree of freedom.
        findings: what was noticed on the way.
        recordings: the logs as they were made ready, by name.
        repeat: why the logs are no test, where they are none.
        seconds: what it took.
        files: what was written, by name.
    """

    model: Model
    verdict: Verdict
    error: TorqueError
    logs: Mapping[str, TorqueError]
    joints: tuple[str, ...]
    findings: tuple[Finding, ...]
    recordings: Mapping[str, Recording]
    repeat: str = ""
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def overall(self) -> float:
        """Torque unexplained over all logs and joints, percent of its rms."""
        return self.error.overall

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""

        def percent(error: TorqueError) -> dict[str, Any]:
            return {"overall": error.overall, "joints": dict(zip(self.joints, error.joints, strict=True))}

        checks = self.verdict.checks
        return {
            "verdict": self.verdict.status,
            **percent(self.error),
            "logs": {name: percent(error) for name, error in self.logs.items()},
            "checks": [
                {"name": x.name, "status": x.status, "message": x.message, "evidence": x.evidence}
                for x in checks
            ],
            "untested": [check.message for check in checks if check.name in self.verdict.untested],
            "findings": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in self.findings
            ],
            "seconds": self.seconds,
        }

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write a page with verdict, torques, the arm and the findings, and its record.

        Args:
            folder: for the report.
            force: whether an earlier one may be replaced.

        Returns:
            The paths of the files by name.

        Raises:
            InputError: the folder is not free.
        """
        model, out = self.model, Path(folder)
        name, first = next(iter(self.recordings.items()))
        shown = np.unique(np.linspace(0, first.n - 1, POSES).astype(int))
        content = ReportContent(
            robot=model.robot.name,
            digest=model.robot.digest,
            method="none, the model was given",
            verdict=self.verdict,
            joints=self.joints,
            units=tuple(joint.effort_unit for joint in model.robot.joints for _ in range(joint.nv)),
            traces=tuple(self._trace(Path(name).name, log) for name, log in self.recordings.items()),
            arm=draw_arm(
                model.robot,
                model.layout,
                first.q[shown],
                time=first.time[shown],
                motion=Path(name).name,
                parameters=model.parameters,
            ),
            findings=self.findings,
            histories=tuple(
                History(Path(name).name, log.digest, log.provenance) for name, log in self.recordings.items()
            ),
            versions=versions(),
        )
        files = {"report.html": report_page(content).encode()}
        # By its record a later run knows that the folder may be replaced.
        record = record_document(model.robot, model.layout, files)
        files["record.json"] = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
        write_folder(out, files, force=force)
        return {name: str(out / name) for name in sorted(files)}

    def _trace(self, name: str, log: Recording) -> TorqueTrace:
        channels = log.channels
        predicted = self.model.torque(channels["q"], channels["v"], channels["a"])
        measured, modelled = in_band(log, channels["tau"]), in_band(log, predicted)
        return TorqueTrace(name, not self.repeat, log.time, measured, modelled)

    def __repr__(self) -> str:
        told = f"{self.verdict.status}, {self.overall:.2f} % unexplained"
        return f"<Validation of {self.model.robot.name}: {told}>"

    def __str__(self) -> str:
        lines = [
            f"{self.verdict.status}: {self.overall:.2f} % of the torque is unexplained by "
            f"{self.model.robot.name}",
            "",
        ]
        lines += [f"{check.status.value:>7}  {check.name}: {check.message}" for check in self.verdict.checks]
        width = max(len(name) for name in (*self.joints, "overall"))
        lines += ["", "unexplained torque, percent of its rms"]
        rows = zip(self.joints, self.error.joints, strict=True)
        lines += [f"{name:<{width}}  {error:8.2f}" for name, error in (*rows, ("overall", self.overall))]
        return "\n".join(lines)


def validation(
    model: Model | Robot | FilePath,
    logs: Log | Sequence[Log],
    *,
    torque_constant: TorqueConstantGiven,
    columns: ColumnsGiven,
    topic: TopicGiven,
    units: UnitsGiven,
    calibration: CalibrationGiven,
    cutoff: CutoffGiven,
    out: FilePath | None,
    force: ForceGiven,
    gravity: GravityGiven,
    lock: LockGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
    limits: LimitsGiven,
    velocity: VelocityGiven,
    acceleration: AccelerationGiven,
    torque: TorqueGiven,
) -> Validation:
    """Judge a model, by the arguments of `validate`."""
    if out is not None:
        require_free(Path(out), force=force)
    started = time.perf_counter()
    stated = stated_limits(limits, velocity, acceleration, torque)
    found = given_model(model, gravity, lock, argument, stated, package_path)
    require_readable_logs(listed_logs(logs))
    given = single_logs(listed_logs(logs))
    said = log_units(units, calibration, found.robot)
    absent = absent_joints(found.robot, given, columns, topic, said)
    if absent.locks:
        held = [*texts_of(lock, "--lock"), *absent.locks]
        found = given_model(model, gravity, held, argument, stated, package_path)
    constants = torque_constants(text_of(torque_constant, "--torque-constant"), found.robot.nv)
    how = LogOptions(constants, columns, topic, cutoff, units=said)
    ready, findings = {}, [*found.findings, *absent.findings]
    for log in given:
        name = str(Path(log)) if isinstance(log, str | os.PathLike) else log_name(log)
        ready[name], noticed, _ = log_made_ready(log, found.robot, how)
        findings += [finding for finding in noticed if finding not in findings]
    done = _judged(found, ready, tuple(findings), _repeat(found, given))
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _repeat(model: Model, logs: Sequence[Log]) -> str:
    """Why the logs are no test of a result: it was identified from one of them."""
    asked = {} if model.stored is None else model.stored.record.get("request", {})
    digests = asked.get("inputs", {})
    trained = [(digests[name], name) for name in asked.get("logs", ()) if name in digests]
    paths = [Path(log) for log in logs if isinstance(log, str | os.PathLike)]
    # Episodes of a dataset have its digest, which is worked out once.
    digest = cache(lambda name: digest_of(Path(name)))

    def learnt(path: Path) -> bool:
        whole = str(path) if path.exists() else str(path).rpartition("#")[0]
        return any(digest(whole) == known and same_episodes(path, name) for known, name in trained)

    seen = [path.name for path in paths if trained and learnt(path)]
    return f"it was identified from {', '.join(seen)}" if seen else ""


def _judged(
    model: Model, logs: Mapping[str, Recording], findings: tuple[Finding, ...], repeat: str
) -> Validation:
    """Judge a model by logs that are made ready."""
    joints = tuple(joint.name for joint in model.robot.joints for _ in range(joint.nv))
    q, v, a, tau = (
        np.vstack([log.channels[name] for log in logs.values()]) for name in ("q", "v", "a", "tau")
    )
    predicted = model.torque(q, v, a)
    error = _error(model, logs.values())
    nominal = None
    if model.nominal is not None:
        nominal = _error(replace(model, parameters=model.nominal), logs.values())
    links = _link_check(model)
    possible = links.status is Status.PASS
    rng = np.random.default_rng(0)
    checks = [
        check_torque("held-out torque", error, joints, nominal=nominal, repeat=repeat),
        links,
        check_mass_matrix(model.robot, model.layout, model.parameters, possible, rng),
        check_colour(tau - predicted, joints, tau),
        check_friction(tau - predicted, v, joints, tau),
        _coverage(model, q, v, a, rng),
        *_untested(model),
    ]
    by_log = {name: _error(model, [log]) for name, log in logs.items()}
    return Validation(model, Verdict(tuple(checks)), error, by_log, joints, findings, logs, repeat)


def _error(model: Model, logs: Collection[Recording]) -> TorqueError:
    predicted = [model.torque(*(log.channels[name] for name in ("q", "v", "a"))) for log in logs]
    return error_along(list(logs), predicted)


def _link_check(model: Model) -> Check:
    """Whether every body that moves can exist, and every part of it that the description states."""
    check = check_links(model.layout, model.parameters)
    parts = [finding for finding in model.findings if finding.code == "impossible-inertia"]
    if check.status is not Status.PASS or not parts:
        return check
    message = "every moving body can exist as a whole, but not all of its parts: "
    message += " ".join(finding.message for finding in parts)
    return Check(check.name, Status.FAIL, message)


def _coverage(model: Model, q: Array, v: Array, a: Array, rng: np.random.Generator) -> Check:
    """Which combinations of parameters the logs show: a mistake in the others would not be seen in them."""
    name = "log coverage"
    shapes = dict(zip(model.layout.joints, model.layout.stribeck, strict=False))
    # Friction that grows with the load is no combination of parameters; the others are asked about.
    linear = [term for term in model.layout.drive if term != "load"]
    try:
        structure = structural_identifiability(model.robot, layout_of(model.robot, linear, stribeck=shapes))
    except NoSolutionError as error:
        return Check(name, Status.NOT_RUN, error.message)
    certificate = certify_excitation(structure, model.robot, q, v, a, rng=rng)
    count, shown = certificate.base.count, certificate.determined
    evidence = {"determined": shown, "identifiable": count}
    if certificate.complete:
        message = f"the logs show all {count} combinations of parameters that torques depend on."
        return Check(name, Status.PASS, message, evidence)
    missing = "; ".join(str(direction) for direction in certificate.missing[:3])
    message = (
        f"the logs show {shown} of {count} combinations of parameters; a mistake in the others would not be "
        f"seen: {missing}."
    )
    return Check(name, Status.WARN, message, evidence)


def _untested(model: Model) -> list[Check]:
    """What a log alone cannot test, in plain words."""
    if model.stored is None:
        excitation = "what the model was identified from is not known, nor whether it has seen these logs."
        intervals = "a description does not say how sure its numbers are."
    else:
        deviations = model.stored.base.deviations
        known = int(np.isfinite(deviations).sum())
        excitation = "the motion the model was identified from is judged in its own report, not here."
        intervals = (
            f"{known} of {deviations.size} combinations have one; a log cannot tell if they are right."
        )
    return [
        Check("excitation", Status.NOT_RUN, excitation),
        Check("intervals", Status.NOT_RUN, intervals),
    ]
