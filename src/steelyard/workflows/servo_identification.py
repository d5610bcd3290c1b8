"""`ServoIdentification`: what logs of commands and positions say of an arm's servos, without any torque."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.audit import Check, Status, Verdict
from steelyard.drive import SERVO_TERMS, Servo
from steelyard.errors import InputError, NoSolutionError, RecordingError, UnknownNameError
from steelyard.estimation.servo import ServoEstimate, ServoLog, fit_servos
from steelyard.export import CARDS, actuator_cards
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.formats import robot_with_parameters
from steelyard.identifiable import ServoStructure, servo_structure
from steelyard.layout import Class, Layout, layout_of
from steelyard.model import Model, write_model
from steelyard.progress import say
from steelyard.recording import Log, Recording, log_name, read
from steelyard.robot import Robot
from steelyard.rollout import ServoArm, ServoCommand, servo_rollout
from steelyard.simulation import mujoco_servo_rollout
from steelyard.workflows.identify_request import POSITION, IdentifyRequest
from steelyard.workflows.logs import AbsentJoints, log_units

TERMS = ("stiffness", "armature", "viscous", "coulomb", "delay")
"""What is sought of every joint, whatever the data says."""
TRIED = (("limit",), ("stribeck", "stribeck_velocity"))
"""Terms that are added where they predict commands that were left out better."""
WORTH = 0.05
"""Share of the error on commands left out that a further term must take away."""
SEEN = 0.25
"""Share of an encoder's step that a further term must take away: less is no friction but its rounding."""
SHARE = 0.25
"""Share of the last log that is kept apart."""
SHORTEST = 2.0
"""Shortest log that is split, s."""
MODEL_DRIVE = ("viscous", "coulomb", "rotor")
"""Terms of a drive that a servo states."""
GOOD, POOR = 0.25, 1.0
"""Shares of the lag behind commands that may stay unexplained before it is told, and before nothing is."""
LATE = 0.25
"""Delay that no servo loop has, s: rather, clocks differ."""
_NOT_ASKED = {
    "method": "auto",
    "torque_constant": None,
    "torque_constant_error": None,
    "known_moment": (),
    "torque_sign": None,
    "cutoff": None,
    "prior": None,
    "motion": None,
    "controller": None,
    "window": None,
    "static": False,
    "draws": 0,
    "strength": None,
    "prior_error": None,
    "total_mass": None,
    "mass": (),
    "rotor": (),
    "equal": (),
}


@dataclass(frozen=True, eq=False)
class ServoRollout:
    """Commands that were not learnt from, given to the written model in MuJoCo.

    Attributes:
        time: of the samples, shape (N,), s.
        measured: positions of the robot, shape (N, n), rad or m.
        simulated: positions of the model, shape (N, n), rad or m.
        command: what was commanded, shape (N, n), rad or m.
    """

    time: Array
    measured: Array
    simulated: Array
    command: Array

    @property
    def error(self) -> Array:
        """Root mean square of measured less simulated positions, shape (n,), rad or m."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.simulated) ** 2, axis=0)))

    @property
    def lag(self) -> Array:
        """Root mean square of measured positions less commands, shape (n,), rad or m."""
        return np.asarray(np.sqrt(np.mean((self.measured - self.command) ** 2, axis=0)))

    @property
    def share(self) -> Array:
        """Share of the lag that is unexplained, shape (n,), dimensionless."""
        return np.asarray(self.error / np.maximum(self.lag, 1e-12))

    @property
    def overall(self) -> float:
        """The same over all joints."""
        return float(np.linalg.norm(self.error) / max(float(np.linalg.norm(self.lag)), 1e-12))


@dataclass(frozen=True, eq=False, repr=False)
class ServoIdentification:
    """The servos of an arm, identified from commands and positions, and what is to be thought of them.

    Attributes:
        robot: the robot; the numbers of its links, which are taken as they are, fix the scale of torques.
        estimate: the servos with their intervals.
        structure: what such logs can show at all.
        verdict: what is to be thought of it, check by check.
        rollout: commands held out, simulated in MuJoCo.
        held_out: which they are, for people.
        findings: what was noticed on the way.
        recordings: digests of the logs that were learnt from.
        request: what was asked, as a record holds it.
        recorded: the request with the digests of its inputs.
        seconds: what it took.
        files: what was written, by name.
    """

    robot: Robot
    estimate: ServoEstimate
    structure: ServoStructure
    verdict: Verdict
    rollout: ServoRollout
    held_out: str
    findings: tuple[Finding, ...]
    recordings: tuple[str, ...]
    request: IdentifyRequest
    recorded: Mapping[str, Any]
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def servos(self) -> dict[str, Servo]:
        """The servos by joint."""
        return dict(zip(self.robot.joint_names, self.estimate.servos, strict=True))

    @cached_property
    def model(self) -> Model:
        """The robot with the friction and armature that were found; links are the description's."""
        layout = servo_layout(self.robot)
        phi = servo_parameters(self.robot, layout, self.servos)
        ends = np.tile([-np.inf, np.inf], (layout.size, 1))
        decided = ["prior"] * layout.size
        spread = dict(zip(self.estimate.names, self.estimate.intervals.tolist(), strict=True))
        for k, parameter in enumerate(layout.parameters):
            term = {"rotor": "armature"}.get(parameter.term, parameter.term)
            if (name := f"{parameter.owner}.{term}") in spread:
                ends[k] = spread[name]
                decided[k] = "prior" if name in self.estimate.hidden else "data"
        return Model(
            self.robot,
            layout,
            phi,
            ends,
            tuple(decided),
            nominal=layout.complete_nominal(),
            recordings=self.recordings,
            findings=self.findings,
        )

    @property
    def numbers(self) -> list[dict[str, Any]]:
        """Every number that was asked about; its value is None where the log does not show it."""
        estimate = self.estimate
        units = {term.name: term for term in SERVO_TERMS}
        rows = []
        for k, name in enumerate(estimate.names):
            joint, _, term = name.rpartition(".")
            turns = not joint or self.robot.joints[self.robot.joint_names.index(joint)].kind.rotates
            unit = units[term].unit_revolute if turns else units[term].unit_prismatic
            hidden = name in estimate.hidden
            rows.append(
                {
                    "name": name,
                    "value": None if hidden else float(estimate.values[k]),
                    "interval95": None if hidden else estimate.intervals[k].tolist(),
                    "unit": unit,
                    "written": float(estimate.values[k]),
                }
            )
        return rows

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        told = self.rollout
        joints = self.robot.joint_names
        return {
            "robot": self.robot.name,
            "signals": POSITION,
            "verdict": self.verdict.status,
            "checks": [
                {"name": check.name, "status": check.status, "message": check.message}
                for check in self.verdict.checks
            ],
            "numbers": self.numbers,
            "known": self.structure.sentences(),
            "holdout": {
                "log": self.held_out,
                "overall": told.overall,
                "joints": {
                    name: {"error": float(e), "lag": float(lag), "share": float(share)}
                    for name, e, lag, share in zip(joints, told.error, told.lag, told.share, strict=True)
                },
            },
            "findings": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in self.findings
            ],
            "seconds": self.seconds,
            "files": dict(self.files),
        }

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A heading, then a row for each joint: its numbers with their intervals, and its rollout."""
        terms = [
            term.name
            for term in SERVO_TERMS
            if any(name.rpartition(".")[2] == term.name and "." in name for name in self.estimate.names)
        ]
        known = {row["name"]: row for row in self.numbers}
        table = [("joint", *(term.replace("_", " ") for term in terms), "lag", "unexplained")]
        told = self.rollout
        for k, joint in enumerate(self.robot.joint_names):
            cells = [_interval(known.get(f"{joint}.{term}")) for term in terms]
            table.append((joint, *cells, f"{told.lag[k]:.3g}", f"{100.0 * told.share[k]:.0f} %"))
        return table

    @property
    def lateness(self) -> str:
        """The delay that all joints share, for people; empty where each has its own."""
        row = next((row for row in self.numbers if row["name"] == "delay"), None)
        if row is None:
            return ""
        if row["value"] is None:
            return "The delay of commands is not shown by this log."
        low, high = row["interval95"]
        return (
            f"Commands act {1e3 * row['value']:.1f} ms late, 95 % between {1e3 * max(low, 0.0):.1f} and "
            f"{1e3 * high:.1f} ms."
        )

    def summary(self) -> str:
        """Verdict, servos and checks as plain text.

        Returns:
            Text for people.
        """
        table = self.rows
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = [f"{self.verdict.status}: {self.headline}", ""]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        lines += ["", self.lateness, ""]
        lines += [f"{check.status.value:>7}  {check.name}: {check.message}" for check in self.verdict.checks]
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """The outcome in a sentence."""
        return (
            f"servos of {self.robot.name} from commands and positions; in MuJoCo they leave "
            f"{100.0 * self.rollout.overall:.0f} % of the lag behind commands unexplained ({self.held_out})"
        )

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the model with its servos, cards for training frameworks, and the record.

        Args:
            folder: for the result.
            force: whether an earlier result may be replaced.

        Returns:
            The paths of the files by name.

        Raises:
            InputError: the folder is not free.
        """
        out = Path(folder)
        described = Path(self.request.robot)
        urdf = described.suffix.lower() == ".urdf" and described.is_file()
        hidden = self.estimate.hidden
        remarks = (
            f"Identified from positions; {100.0 * self.rollout.overall:.0f} % of the lag held out is left.",
            "Torques are to the scale of the description's masses.",
            *([f"Not shown by the log, and chosen: {', '.join(hidden)}."] if hidden else []),
        )
        cards = actuator_cards(self.robot.name, self.servos, remarks)
        numbers = {"servos": self.numbers, "known": self.structure.sentences()}
        beside = {f"{CARDS}/{name}": text.encode() for name, text in cards.items()}
        written = write_model(
            out,
            self.model,
            description=described.read_bytes() if urdf else None,
            estimate={
                "method": "servos",
                "samples": int(self.estimate.segments),
                "recordings": self.recordings,
                "detail": numbers,
            },
            request=self.recorded,
            verdict={key: self.document[key] for key in ("verdict", "checks", "holdout")},
            servos=self.servos,
            beside=beside,
            force=force,
        )
        return {name: str(out / name) for name in written.files}

    def __repr__(self) -> str:
        told = f"{self.verdict.status}, {100.0 * self.rollout.overall:.0f} % of the lag unexplained"
        return f"<ServoIdentification of {self.robot.name}: {told}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

        head, *rest = self.rows
        told = f"<p><b>{self.verdict.status.value}</b>: {html.escape(self.headline)}</p>"
        return f"{told}<table>{row(head, 'th')}{''.join(row(cells, 'td') for cells in rest)}</table>"


def _interval(row: Mapping[str, Any] | None) -> str:
    """A number with half its 95 % interval, to the digits that this leaves."""
    if row is None:
        return ""
    if row["value"] is None:
        return "not shown"
    low, high = row["interval95"]
    half = 0.5 * (high - low)
    if not 0.0 < half < math.inf:
        return f"{row['value']:.3g}"
    decimals = max(1 - math.floor(math.log10(half)), 0)
    return f"{row['value']:.{decimals}f} ± {half:.{decimals}f}"


def servo_layout(robot: Robot) -> Layout:
    """The parameters of a robot whose drives are servos."""
    return layout_of(robot, MODEL_DRIVE)


def servo_parameters(robot: Robot, layout: Layout, servos: Mapping[str, Servo]) -> Array:
    """The description's links with the friction and armature of servos.

    Args:
        robot: the robot.
        layout: of `servo_layout`.
        servos: by joint.

    Returns:
        phi, shape (p,), SI.
    """
    phi = np.array(layout.complete_nominal())
    for joint, servo in servos.items():
        phi[layout.of_joint(joint)] = (servo.viscous + servo.back_emf, servo.coulomb, servo.armature)
    return phi


def servo_identification(
    request: IdentifyRequest,
    recorded: Mapping[str, Any],
    robot: Robot,
    logs: Sequence[Log],
    holdout: Log | None,
    absent: AbsentJoints,
    out: FilePath | None,
    *,
    force: bool,
) -> ServoIdentification:
    """Identify servos from logs of commands and positions.

    Args:
        request: what was asked.
        recorded: the same with the digests of its inputs.
        robot: the robot, with the joints held that no log has.
        logs: each of them one recording.
        holdout: a log to judge by; None to keep the end of the last one apart.
        absent: the joints that are held.
        out: folder for the result; None to write nothing.
        force: whether an earlier result may be replaced.

    Raises:
        InputError: a log has no commands, or an option serves torques alone.
        NoSolutionError: nothing could be simulated.
    """
    started = time.perf_counter()
    _refuse_torque_options(request)
    _require_links(robot)
    units = log_units(request.units, request.calibration, robot)

    def taken(log: Log) -> Recording:
        joints = list(robot.joint_names)
        found = read(log, joints=joints, columns=request.columns, topic=request.topic, units=units)
        if "q_ref" not in found.channels:
            raise RecordingError(
                "has neither torques nor commanded positions, so nothing says what moved the robot.",
                place=Path(log_name(log)).name,
                remedy="Log what was commanded (qref_…, or the action of a LeRobot dataset), or say with "
                "--columns which columns they are.",
            )
        if np.array_equal(found.channels["q"], found.channels["q_ref"]):
            raise RecordingError(
                "has no torques, and its positions are its commands, so nothing says how the robot followed.",
                place=Path(log_name(log)).name,
                remedy="Log the positions that were measured beside those commanded.",
            )
        return found

    train = [taken(log) for log in logs]
    say(
        f"1  read {len(train)} log{'s' if len(train) > 1 else ''} of {robot.name}: commands and positions, "
        "without torque"
    )
    train, judge, held_out = _apart(train, None if holdout is None else taken(holdout), holdout)
    arm = ServoArm(robot)
    terms, chosen = _terms(request, arm, [_servo_log(log) for log in train])
    estimate = fit_servos(arm, [_servo_log(log) for log in train], terms=terms)
    say(f"2  {len(estimate.names)} numbers of {len(robot.joint_names)} servos in {estimate.iterations} steps")
    saturates = _saturated(robot, estimate, [_servo_log(log) for log in train])
    structure = servo_structure(
        robot, [term for term in terms if term != "delay"], saturates=saturates, rng=np.random.default_rng(0)
    )
    rollout = _rolled(robot, estimate, _servo_log(judge))
    say(f"3  in MuJoCo, {100.0 * rollout.overall:.0f} % of the lag behind commands held out is unexplained")
    findings = (*absent.findings, *chosen, *_findings(robot, estimate))
    done = ServoIdentification(
        robot,
        estimate,
        structure,
        Verdict(tuple(_checks(robot, estimate, structure, rollout, held_out))),
        rollout,
        held_out,
        findings,
        tuple(log.digest for log in train),
        request,
        recorded,
    )
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _refuse_torque_options(request: IdentifyRequest) -> None:
    for name, usual in _NOT_ASKED.items():
        if getattr(request, name) != usual:
            raise InputError(
                "serves logs of torques; these have commands and positions alone.",
                place=f"--{name.replace('_', '-')}",
                remedy="Leave it out.",
            )


def _require_links(robot: Robot) -> None:
    bare = [link.name for link in robot.links if link.body is None and not link.virtual]
    if bare:
        raise InputError(
            f"states no inertial of {', '.join(bare)}, and nothing else tells the scale of torques.",
            place=f"robot '{robot.name}'",
            remedy="State masses, centres and inertias, from the drawings say.",
        )


def _apart(
    train: list[Recording], judge: Recording | None, given: Log | None
) -> tuple[list[Recording], Recording, str]:
    """What is learnt from, what is kept apart, and its name."""
    if judge is not None and given is not None:
        return train, judge, Path(log_name(given)).name
    last = train[-1]
    if len(train) > 1:
        say("   no log to hold out is given, so the last one is kept apart")
        return train[:-1], last, "the last log"
    if last.duration < SHORTEST:
        raise RecordingError(
            f"lasts {last.duration:.3g} s, too short to keep a part of it for judgement.",
            place="log",
            remedy=f"Record {2 * SHORTEST:g} s or more, or give --holdout.",
        )
    cut = float(last.time[0] + (1.0 - SHARE) * last.duration)
    say(f"   no log to hold out is given, so a part is kept apart: from {cut:.4g} s on")
    return (
        [last.window(None, cut)],
        last.window(cut, None),
        f"the last {100 * SHARE:.0f} %, from {cut:.4g} s on",
    )


def _servo_log(recording: Recording) -> ServoLog:
    command = ServoCommand(recording.time, recording.channels["q_ref"])
    return ServoLog(recording.time, recording.channels["q"], command)


def _terms(
    request: IdentifyRequest, arm: ServoArm, logs: Sequence[ServoLog]
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The terms that are sought: those stated, or those that predict left-out commands better."""
    if request.drive is not None:
        names = [word.strip() for word in request.drive.split(",") if word.strip()]
        valid = [term.name for term in SERVO_TERMS]
        for name in names:
            if name not in valid:
                raise UnknownNameError("servo term", name, valid, place="--drive")
        shape = ("stribeck_velocity",) if "stribeck" in names else ()
        return tuple(dict.fromkeys(("stiffness", "armature", *names, *shape, "delay"))), ()
    known, left = [], []
    for log in logs:
        cut = round(2 * len(log.time) / 3)
        if min(cut, len(log.time) - cut) < 20:
            continue
        known.append(_part(log, slice(0, cut)))
        left.append(_part(log, slice(cut, None)))
    if not known:
        return TERMS, ()
    terms: tuple[str, ...] = TERMS
    best = _missed(arm, fit_servos(arm, known, terms=terms), left)
    findings = []
    for more in TRIED:
        try:
            missed = _missed(arm, fit_servos(arm, known, terms=(*terms, *more)), left)
        except NoSolutionError:
            continue
        if missed < (1.0 - WORTH) * best and best - missed > SEEN * _resolution(left):
            message = (
                f"{' and '.join(more).replace('_', ' ')} sought as well: commands left out of the training "
                f"logs are followed to {missed:.3g} rad with it, to {best:.3g} without."
            )
            findings.append(Finding(Severity.INFO, "servo-term-added", message, "--drive"))
            say(f"   {message}")
            terms, best = (*terms, *more), missed
    return terms, tuple(findings)


def _resolution(logs: Sequence[ServoLog]) -> float:
    """Smallest change of a position, median of the joints, rad or m; 0 where all stand still."""
    changes = np.vstack([np.abs(np.diff(log.position, axis=0)) for log in logs])
    least = np.where(changes > 1e-12, changes, np.inf).min(axis=0)
    return float(np.median(np.where(np.isfinite(least), least, 0.0)))


def _part(log: ServoLog, rows: slice) -> ServoLog:
    return ServoLog(log.time[rows], log.position[rows], log.command)


def _missed(arm: ServoArm, estimate: ServoEstimate, logs: Sequence[ServoLog]) -> float:
    """Root mean square of measured less simulated positions over logs, rad or m."""
    total, count = 0.0, 0
    for log in logs:
        q, v = _start(log)
        run = servo_rollout(arm, estimate.servos, log.command, log.time, q, v)
        total += float(((run.q - log.position) ** 2).sum())
        count += log.position.size
    return math.sqrt(total / count)


def _start(log: ServoLog) -> tuple[Array, Array]:
    """Position and velocity at the start: a straight line through the first tenth of a second."""
    first = max(3, int(np.searchsorted(log.time, log.time[0] + 0.1)))
    slope, start = np.polyfit(log.time[:first] - log.time[0], log.position[:first], 1)
    return start, slope


def _rolled(robot: Robot, estimate: ServoEstimate, log: ServoLog) -> ServoRollout:
    servos = dict(zip(robot.joint_names, estimate.servos, strict=True))
    layout = servo_layout(robot)
    driven = robot_with_parameters(robot, layout, servo_parameters(robot, layout, servos))
    q, v = _start(log)
    simulated = mujoco_servo_rollout(driven, servos, log.command, log.time, q, v)
    command = log.command.at(np.repeat(log.time[:, None], log.position.shape[1], axis=1))
    return ServoRollout(
        read_only(log.time), read_only(log.position), read_only(simulated), read_only(command)
    )


def _saturated(robot: Robot, estimate: ServoEstimate, logs: Sequence[ServoLog]) -> list[str]:
    """Joints that drive at their limit in some of the logs."""
    found = []
    for k, (name, servo) in enumerate(zip(robot.joint_names, estimate.servos, strict=True)):
        late = np.full(len(robot.joint_names), servo.delay)
        for log in logs:
            lead = log.command.at(log.time[:, None] - late)[:, k] - log.position[:, k]
            if np.isfinite(servo.limit) and (servo.stiffness * np.abs(lead) > servo.limit).any():
                found.append(name)
                break
    return found


def _findings(robot: Robot, estimate: ServoEstimate) -> tuple[Finding, ...]:
    message = (
        "Without torques the description's masses fix the scale: were all links 10 % heavier, gains, "
        "friction and armature would come out 10 % larger, and the motion would be the same."
    )
    found = [Finding(Severity.INFO, "scale-from-description", message, robot.name)]
    if estimate.hidden:
        message = (
            f"{', '.join(estimate.hidden)}: not shown by the log. The files hold numbers that move the robot "
            "as it moved; others would too. Drive these joints faster, farther, or against gravity."
        )
        found.append(Finding(Severity.WARNING, "hidden-servo-numbers", message, robot.name))
    return tuple(found)


def _checks(
    robot: Robot,
    estimate: ServoEstimate,
    structure: ServoStructure,
    rollout: ServoRollout,
    held_out: str,
) -> list[Check]:
    worst = int(np.argmax(rollout.share))
    name = robot.joint_names[worst]
    message = (
        f"in MuJoCo the model leaves {100.0 * rollout.overall:.0f} % of the lag behind commands "
        f"unexplained, at most {100.0 * rollout.share[worst]:.0f} % ({name}); a servo that follows at once "
        "would leave 100 %."
    )
    status = Status.PASS if rollout.overall <= GOOD else Status.WARN
    if rollout.overall >= POOR:
        status = Status.FAIL
    checks = [Check("rollout held out", status, message, {"log": held_out})]
    settled = Status.PASS if estimate.converged else Status.WARN
    words = "settled" if estimate.converged else "did not settle"
    checks.append(Check("fit", settled, f"{words} in {estimate.iterations} steps."))
    if estimate.hidden:
        checks.append(
            Check("what the log shows", Status.WARN, f"it does not show {', '.join(estimate.hidden)}.")
        )
    else:
        checks.append(
            Check("what the log shows", Status.PASS, f"all {len(estimate.names)} numbers asked about.")
        )
    checks.append(_plausible(robot, estimate))
    if all(kind is Class.ALONE for kind in structure.classes):
        said = "every number asked about, given the description's links."
    else:
        said = " ".join(structure.sentences())
    checks.append(Check("what such logs can show", Status.PASS, said))
    return checks


def _plausible(robot: Robot, estimate: ServoEstimate) -> Check:
    """Whether somebody could have built these servos."""
    odd = []
    for joint, servo in zip(robot.joint_names, estimate.servos, strict=True):
        if servo.delay > LATE:
            odd.append(f"commands of {joint} act {servo.delay:.2g} s late: are both on one clock?")
        most = servo.limit if math.isfinite(servo.limit) else servo.stiffness * math.pi
        if servo.coulomb > most:
            odd.append(f"friction of {joint}, {servo.coulomb:.3g} N·m, exceeds what its servo can give.")
    if odd:
        return Check("plausible", Status.WARN, " ".join(odd))
    return Check(
        "plausible", Status.PASS, "friction is less than the servos can give, and no delay is absurd."
    )
