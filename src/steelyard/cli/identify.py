"""`steelyard identify`: from logs to an estimate that is judged on data it has not seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import JsonOption, announce_compilation, print_json, say, stdout
from steelyard.cli.robot_argument import (
    ArgumentOption,
    GravityOption,
    LockOption,
    RobotArgument,
    given_robot,
)
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, UnknownNameError
from steelyard.layout import layout_of

if TYPE_CHECKING:
    from steelyard.cli.identify_line import Identification
    from steelyard.problem import Estimate, Problem


def identify(
    robot: RobotArgument,
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG…", help="Logs to identify from.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the result.", show_default=False)],
    holdout: Annotated[
        Path | None,
        typer.Option(help="A log of another motion, to judge by.", show_default="the end of the last log"),
    ] = None,
    method: Annotated[str, typer.Option(help="Estimator: auto, ols, wls or huber.")] = "auto",
    drive: Annotated[
        str, typer.Option(metavar="LIST", help="Drive terms at every joint.")
    ] = "viscous,coulomb,offset,rotor",
    torque_constant: Annotated[
        str | None,
        typer.Option(metavar="K,…", help="Torque per current at each joint, N·m/A.", show_default=False),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="MAP", help="Names of the log's columns.", show_default=False)
    ] = None,
    cutoff: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Cut-off of the low-pass filter.", show_default="from the spectrum"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier result.")] = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    argument: ArgumentOption = None,
    json: JsonOption = False,
) -> None:
    """Identify a robot from its logs, judge the model and write it; exit code 1 if the verdict is fail."""
    from steelyard.cli.identify_line import Preparation, identification, pose, question
    from steelyard.cli.identify_result import write_identification
    from steelyard.estimation import with_full_set
    from steelyard.export import require_free

    announce_compilation()
    require_free(out, force=force)
    started = time.perf_counter()
    fit = _estimator(method)
    terms = [word.strip() for word in drive.split(",") if word.strip()]
    known = [term.name for term in ALL_TERMS]
    for term in terms:
        if term not in known:
            raise UnknownNameError("drive term", term, known, place="--drive")
    found = given_robot(robot, gravity, lock, arguments=argument, snap=True)
    layout = layout_of(found, terms)
    say(f"1  read {len(logs)} log{'s' if len(logs) > 1 else ''} of {found.name}")
    how = Preparation(_constants(torque_constant, found.nv), columns, cutoff)
    train, other, name, findings = question(found, layout, logs, holdout, how)
    problem = pose(found, layout, train)
    say(f"2  torques can determine {problem.base.count} combinations of {layout.size} parameters")
    estimate = with_full_set(problem, fit(problem))
    say(f"3  fitted by {estimate.method}, condition number {estimate.condition:.3g}")
    done = identification(found, layout, train, other, estimate, problem, findings, held_out=name)
    files = write_identification(done, out, Path(robot), force=force)
    document = {**_document(done, time.perf_counter() - started), "files": files}
    if json:
        print_json(document)
    else:
        _print(done, document)
    if document["verdict"] == "fail":
        raise typer.Exit(1)


def _estimator(method: str) -> Callable[[Problem], Estimate]:
    from steelyard.estimation import fit_huber, fit_least_squares, fit_weighted

    methods: dict[str, Callable[[Problem], Estimate]] = {
        "auto": fit_weighted,
        "ols": fit_least_squares,
        "wls": fit_weighted,
        "huber": fit_huber,
    }
    if method not in methods:
        raise UnknownNameError("method", method, methods, place="--method")
    return methods[method]


def _constants(text: str | None, count: int) -> Any:
    if text is None:
        return None
    try:
        values = np.array([float(word) for word in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    if values.size != count or not np.isfinite(values).all():
        raise InputError(f"expected {count} numbers between commas, got '{text}'.", place="--torque-constant")
    return values


def _document(done: Identification, seconds: float) -> dict[str, Any]:
    names = [joint.name for joint in done.robot.joints if joint.nv]
    deviations = done.estimate.deviations
    return {
        "verdict": done.verdict.status,
        "checks": [
            {"name": check.name, "status": check.status, "message": check.message}
            for check in done.verdict.checks
        ],
        "findings": [
            {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
            for f in (*done.findings, *done.estimate.findings)
        ],
        "identifiable": done.problem.base.count,
        "cond": done.estimate.condition,
        "method": done.estimate.method,
        "samples": done.estimate.samples,
        "train": {"overall": done.train.overall, "joints": dict(zip(names, done.train.joints, strict=True))},
        "holdout": {
            "log": done.held_out,
            "overall": done.holdout.overall,
            "joints": dict(zip(names, done.holdout.joints, strict=True)),
        },
        "base": [
            {"name": name, "value": float(value), "deviation": float(deviation)}
            for name, value, deviation in zip(
                done.estimate.base.names, done.estimate.values, deviations, strict=True
            )
        ],
        "seconds": seconds,
    }


def _print(done: Identification, document: dict[str, Any]) -> None:
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(document["verdict"], "white")
    table = Table(title=f"Unexplained torque, percent of its rms; held out: {escape(done.held_out)}")
    for heading in ("joint", "training", "held out"):
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    for joint, seen in document["train"]["joints"].items():
        table.add_row(escape(joint), f"{seen:.2f}", f"{document['holdout']['joints'][joint]:.2f}")
    table.add_row("overall", f"{done.train.overall:.2f}", f"{done.holdout.overall:.2f}", style="bold")
    stdout.print(table)
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for finding in (*done.findings, *done.estimate.findings):
        stdout.print(str(finding), markup=False, soft_wrap=True)
    folder = Path(document["files"]["report.html"]).parent
    stdout.print(
        f"[bold {colour}]{document['verdict']}[/bold {colour}] in {document['seconds']:.1f} s; "
        f"written to {escape(str(folder))}"
    )
