"""`steelyard validate`: an existing model, of whatever tool, against logs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from steelyard.cli.destination import ForceOption
from steelyard.cli.log_options import ColumnsOption, CutoffOption, TopicOption, TorqueConstantOption
from steelyard.cli.output import JsonOption, announce_compilation, print_json, stdout
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    GravityOption,
    LimitsOption,
    LockOption,
    TorqueOption,
    VelocityOption,
)
from steelyard.finding import Finding
from steelyard.robot import StatedLimits

if TYPE_CHECKING:
    from steelyard.cli.validate_line import Validation
    from steelyard.cli.validate_model import GivenModel


def validate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A result folder, a zoo name, or the path of a URDF, xacro or MJCF file.",
            show_default=False,
        ),
    ],
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG…", help="Logs to judge it by.", show_default=False)
    ],
    torque_constant: TorqueConstantOption = None,
    columns: ColumnsOption = None,
    topic: TopicOption = None,
    cutoff: CutoffOption = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a report.", show_default="no report")] = None,
    force: ForceOption = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a model by logs it need not come from; exit code 1 if the verdict is fail."""
    from steelyard.cli.identify_logs import log_made_ready
    from steelyard.cli.identify_request import Request
    from steelyard.cli.validate_line import validation
    from steelyard.cli.validate_model import given_model
    from steelyard.cli.validate_report import write_report
    from steelyard.export import require_free
    from steelyard.recording import require_readable_logs
    from steelyard.workflows.logs import absent_joints, torque_constants

    announce_compilation("validate")
    if out is not None:
        require_free(out, force=force)
    started = time.perf_counter()
    stated = StatedLimits(limits=limits, velocity=velocity, acceleration=acceleration, torque=torque)
    given = given_model(model, gravity, lock, argument, stated)
    require_readable_logs(logs)
    absent = absent_joints(given.model.robot, logs, columns, topic)
    if absent.locks:
        given = given_model(model, gravity, [*(lock or ()), *absent.locks], argument, stated)
    robot = given.model.robot
    how = Request(model, tuple(map(str, logs)), columns=columns, cutoff=cutoff, topic=topic)
    constants = torque_constants(torque_constant, robot.nv)
    ready, findings = {}, [*given.findings, *absent.findings]
    for path in logs:
        ready[str(path)], noticed, _ = log_made_ready(path, robot, how, constants)
        findings += [finding for finding in noticed if finding not in findings]
    done = validation(given, ready, _repeat(given, logs))
    if out is not None:
        write_report(out, given, done, ready, findings, force=force)
    document = _document(done, findings, time.perf_counter() - started)
    if json:
        print_json(document)
    else:
        _print(done, findings, document)
    if document["verdict"] == "fail":
        raise typer.Exit(1)


def _repeat(given: GivenModel, logs: Sequence[Path]) -> str:
    """Why the logs are no test of a result: it was identified from one of them."""
    from steelyard.workflows.record import digest_of

    asked = {} if given.stored is None else given.stored.record.get("request", {})
    digests = asked.get("inputs", {})
    trained = {digests[name] for name in asked.get("logs", ()) if name in digests}
    seen = [path.name for path in logs if trained and digest_of(path) in trained]
    return f"it was identified from {', '.join(seen)}" if seen else ""


def _document(done: Validation, findings: Sequence[Finding], seconds: float) -> dict[str, Any]:
    def percent(overall: float, joints: Sequence[float]) -> dict[str, Any]:
        return {"overall": overall, "joints": dict(zip(done.joints, joints, strict=True))}

    return {
        "verdict": done.verdict.status,
        **percent(done.error.overall, done.error.joints),
        "logs": {name: percent(error.overall, error.joints) for name, error in done.logs.items()},
        "checks": [
            {"name": check.name, "status": check.status, "message": check.message, "evidence": check.evidence}
            for check in done.verdict.checks
        ],
        "untested": [check.message for check in done.verdict.checks if check.name in done.verdict.untested],
        "findings": [
            {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place} for f in findings
        ],
        "seconds": seconds,
    }


def _print(done: Validation, findings: Sequence[Finding], document: dict[str, Any]) -> None:
    table = Table(title="Unexplained torque, percent of its rms")
    table.add_column("joint")
    for name in done.logs:
        table.add_column(escape(Path(name).name), justify="right")
    for k, joint in enumerate(done.joints):
        table.add_row(escape(joint), *(f"{error.joints[k]:.2f}" for error in done.logs.values()))
    table.add_row("overall", *(f"{error.overall:.2f}" for error in done.logs.values()), style="bold")
    stdout.print(table)
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for finding in findings:
        stdout.print(str(finding), markup=False, soft_wrap=True)
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(document["verdict"], "white")
    stdout.print(
        f"[bold {colour}]{document['verdict']}[/bold {colour}]: {done.error.overall:.2f} % of the torque is "
        f"unexplained; {document['seconds']:.1f} s"
    )
