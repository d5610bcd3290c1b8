"""What `steelyard payload` says: one JSON document, or tables for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from steelyard.audit import Status
from steelyard.cli.output import folded, read_back_line, stdout
from steelyard.cli.payload_line import Weighed
from steelyard.inertia import PARAMETER_NAMES
from steelyard.payload import QUANTITIES, UNITS
from steelyard.uncertainty import GuaranteedBounds
from steelyard.workflows.record import read_back
from steelyard.workflows.theorem13 import theorem13_document


def answer(done: Weighed, files: dict[str, str], seconds: float) -> dict[str, Any]:
    """Everything a script may ask for."""
    estimate = done.estimate
    body = estimate.body
    rows = zip(
        QUANTITIES, estimate.values.tolist(), estimate.lower.tolist(), estimate.upper.tolist(), strict=True
    )
    xx, xy, yy, xz, yz, zz = estimate.values[4:10].tolist()
    return {
        "verdict": done.verdict.status,
        "checks": [
            {"name": check.name, "status": check.status, "message": check.message}
            for check in done.verdict.checks
        ],
        "findings": [
            {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
            for f in done.findings
        ],
        "mass": body.mass,
        "com": body.com.tolist(),
        "inertia": [xx, xy, yy, xz, yz, zz],
        "frame": done.held.frame,
        "link": done.held.link,
        "parameters": estimate.ten.tolist(),
        "interval95": {name: [low, high] for name, _, low, high in rows},
        "deviations": {
            source: dict(zip(QUANTITIES, each.tolist(), strict=True))
            for source, each in estimate.deviations.items()
        },
        "decided_by": dict(estimate.decided),
        "bounds": None if done.bounds is None else _bounds(done.bounds),
        "bounds_assume": [] if done.bounds is None else list(done.bounds.assumptions),
        "bounds_untested": [] if done.bounds is None else list(done.bounds.untested),
        "bounds_need": None if done.bounds is None else done.bounds.needed,
        "theorem13": None if done.bounds is None else theorem13_document(done.bounds.theorem13),
        "others": {name: other.body.mass for name, other in done.others.items()},
        "way": done.weighing.way,
        "why": done.why,
        "cond": done.weighing.condition,
        "samples": done.weighing.samples,
        "consistent": done.verdict.check("physical possibility").status is Status.PASS,
        "seconds": seconds,
        "files": files,
        "read_back": read_back(files),
    }


def _bounds(bounds: GuaranteedBounds) -> dict[str, list[float]]:
    ends = zip(PARAMETER_NAMES, bounds.lower.tolist(), bounds.upper.tolist(), strict=True)
    return {name: [low, high] for name, low, high in ends}


def print_answer(done: Weighed, document: dict[str, Any]) -> None:
    """Tables, checks, findings and the verdict."""
    estimate = done.estimate
    table = Table(title=f"What {done.robot.name} holds, in {escape(done.held.frame)}")
    for heading in ("", "value", "95 % from", "to", "unit", "decided by"):
        table.add_column(heading, justify="right" if heading in ("value", "95 % from", "to") else "left")
    for name, value, low, high, unit in zip(
        QUANTITIES, estimate.values, estimate.lower, estimate.upper, UNITS, strict=True
    ):
        table.add_row(name, f"{value:.4g}", f"{low:.4g}", f"{high:.4g}", unit, estimate.decided[name].value)
    stdout.print(table)
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for line in folded(done.findings):
        stdout.print(line, markup=False, soft_wrap=True)
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(document["verdict"], "white")
    folder = Path(next(iter(document["files"].values()))).parent
    stdout.print(
        f"[bold {colour}]{document['verdict']}[/bold {colour}] in {document['seconds']:.1f} s; "
        f"written to {escape(str(folder))}"
    )
    stdout.print(read_back_line(document["read_back"]), markup=False, highlight=False, soft_wrap=True)
