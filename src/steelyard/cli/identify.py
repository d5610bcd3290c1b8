"""`steelyard identify`: from logs to an estimate that is judged on data it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import folded, read_back_line, stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.identify import identify as workflow

if TYPE_CHECKING:
    from steelyard.workflows.identification import Identification
    from steelyard.workflows.servo_identification import ServoIdentification


def _show(done: Identification | ServoIdentification) -> None:
    from steelyard.workflows.identification import Identification

    if isinstance(done, Identification):
        _show_model(done)
    else:
        _show_servos(done)


def _show_servos(done: ServoIdentification) -> None:
    head, *rows = done.rows
    table = Table(
        title=f"Servos of {escape(done.robot.name)}, SI; 95 % intervals; held out: {escape(done.held_out)}"
    )
    for heading in head:
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    stdout.print(table)
    if done.lateness:
        stdout.print(done.lateness)
    _print_checks(done)
    for line in folded(done.findings):
        stdout.print(line, markup=False, soft_wrap=True)
    _print_end(done.document, Path(done.files["model.xml"]).parent)


def _print_checks(done: Identification | ServoIdentification) -> None:
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)


def _print_end(document: dict[str, Any], folder: Path) -> None:
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(document["verdict"], "white")
    stdout.print(
        f"[bold {colour}]{document['verdict']}[/bold {colour}] in {document['seconds']:.1f} s; "
        f"written to {escape(str(folder))}"
    )


def _show_model(done: Identification) -> None:
    document = done.document
    held_out = done.question.held_out
    band = document["holdout"]["band"]
    below = "" if band is None else f" below {band:.3g} Hz"
    table = Table(title=f"Unexplained torque, percent of its rms{below}; held out: {escape(held_out)}")
    for heading in ("joint", "training", "held out", "held out, unfiltered"):
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    shown = [document[part]["joints"] for part in ("train", "holdout", "unfiltered")]
    for joint in shown[0]:
        table.add_row(escape(joint), *(f"{errors[joint]:.2f}" for errors in shown))
    overall = (done.train.overall, done.holdout.overall, done.unfiltered.overall)
    table.add_row("overall", *(f"{error:.2f}" for error in overall), style="bold")
    stdout.print(table)
    if document["links"]:
        _print_links(document)
    if document["joints"] and len(document["joints"][0]) > 3:
        _print_joints(document)
    price = document["price"]
    stdout.print(
        "Price of links that can be believed: "
        f"{price['train']['links']:.2f} % unexplained on the training logs, "
        f"{price['holdout']['links']:.2f} % held out; base parameters without links "
        f"{price['train']['unconstrained']:.2f} % and {price['holdout']['unconstrained']:.2f} %.",
        soft_wrap=True,
    )
    _print_checks(done)
    for line in folded((*done.findings, *done.estimate.findings)):
        stdout.print(line, markup=False, soft_wrap=True)
    if done.constants_told is not None:
        stdout.print(done.constants_told, markup=False, soft_wrap=True)
    _print_end(document, Path(document["files"]["report.html"]).parent)
    stdout.print(read_back_line(document["read_back"]), markup=False, highlight=False, soft_wrap=True)


def _print_links(document: dict[str, Any]) -> None:
    table = Table(title="Links: mass in kg, centre of mass in m; 95 % intervals of data and prior together")
    for heading in ("link", "mass", "from", "to", "described", "decided by", "centre of mass", "described"):
        table.add_column(heading, justify="left" if heading in ("link", "decided by") else "right")
    for link in document["links"]:
        low, high = link.get("interval95", {}).get("mass", (float("nan"), float("nan")))
        described = link["described"]
        table.add_row(
            escape(link["name"]),
            f"{link['mass']:.3f}",
            f"{low:.3f}",
            f"{high:.3f}",
            "" if described is None else f"{described['mass']:.3f}",
            link.get("decided_by", {}).get("mass", ""),
            " ".join(f"{x:+.3f}" for x in link["com"]),
            "" if described is None else " ".join(f"{x:+.3f}" for x in described["com"]),
        )
    total = document["total_mass"]
    described = "" if total["described"] is None else f"{total['described']:.3f}"
    table.add_row("total", f"{total['estimated']:.3f}", "", "", described, "", "", "", style="bold")
    stdout.print(table)


def _print_joints(document: dict[str, Any]) -> None:
    joints = document["joints"]
    terms = [term for term in joints[0] if term not in ("name", "interval95", "decided_by")]
    marked = any(word == "prior" for joint in joints for word in joint["decided_by"].values())
    note = "; (p): the motion does not show it, the prior decided" if marked else ""
    table = Table(title=f"Joints, SI{note}")
    for heading in ("joint", *terms):
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    for joint in joints:
        mark = {term: " (p)" if joint["decided_by"].get(term) == "prior" else "" for term in terms}
        table.add_row(escape(joint["name"]), *(f"{joint[term]:.4g}{mark[term]}" for term in terms))
    stdout.print(table)


def _code(done: Identification | ServoIdentification) -> int:
    from steelyard.audit import Status

    return 1 if done.verdict.status is Status.FAIL else 0


identify = workflow_command(workflow, _show, _code)
