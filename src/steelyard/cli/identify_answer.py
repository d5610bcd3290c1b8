"""What `steelyard identify` says: one JSON document, or tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from steelyard.audit import Status, TorqueError
from steelyard.cli.identify_closed_loop import refinement_of
from steelyard.cli.identify_line import Identification
from steelyard.cli.output import stdout
from steelyard.finding import Finding
from steelyard.signals import band_of
from steelyard.uncertainty import base_intervals

MOST_ALIKE = 3
"""Findings of one kind that are printed in full; all are in the JSON document and in the report."""
MOST_PLACES = 20
"""Places of further findings that are named."""


def judgement(done: Identification) -> dict[str, Any]:
    """The verdict and the errors of torques it rests on, in the motion's band and unfiltered, percent."""
    names = [joint.name for joint in done.robot.joints if joint.nv]

    def errors(error: TorqueError) -> dict[str, Any]:
        return {"overall": error.overall, "joints": dict(zip(names, error.joints, strict=True))}

    return {
        "verdict": done.verdict.status,
        "checks": [
            {"name": check.name, "status": check.status, "message": check.message}
            for check in done.verdict.checks
        ],
        "train": errors(done.train),
        "holdout": {
            "log": done.question.held_out,
            "band": band_of(done.question.holdout),
            "unfiltered": done.unfiltered.overall,
            **errors(done.holdout),
        },
        "unfiltered": errors(done.unfiltered),
    }


def answer(done: Identification, files: dict[str, str], seconds: float) -> dict[str, Any]:
    """Everything a script may ask for."""
    names = [joint.name for joint in done.robot.joints if joint.nv]
    intervals = base_intervals(done.estimate)
    refinement = refinement_of(done.estimate, names)
    judged = judgement(done)
    return {
        "verdict": judged["verdict"],
        "checks": judged["checks"],
        "findings": [
            {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
            for f in (*done.findings, *done.estimate.findings)
        ],
        "identifiable": done.problem.base.count,
        "excited": done.certificate.determined,
        "cond": done.estimate.condition,
        "method": done.estimate.method,
        "samples": done.estimate.samples,
        "train": judged["train"],
        "holdout": judged["holdout"],
        "unfiltered": judged["unfiltered"],
        "consistent": done.verdict.check("physical consistency").status is Status.PASS,
        "base": [
            {"name": name, "value": value, "interval95": [lower, upper]}
            for name, value, lower, upper in zip(
                intervals.names,
                intervals.values.tolist(),
                intervals.lower.tolist(),
                intervals.upper.tolist(),
                strict=True,
            )
        ],
        **({} if refinement is None else {"refinement": refinement}),
        "seconds": seconds,
        "files": files,
    }


def folded(findings: Sequence[Finding]) -> list[str]:
    """One line for each finding; where many are of one kind, the first ones and how many more."""
    lines, seen = [], Counter(finding.code for finding in findings)
    shown: Counter[str] = Counter()
    for finding in findings:
        shown[finding.code] += 1
        if shown[finding.code] <= MOST_ALIKE:
            lines.append(str(finding))
        elif shown[finding.code] == seen[finding.code]:
            places = [x.place for x in findings if x.code == finding.code][MOST_ALIKE:]
            where = f": {', '.join(dict.fromkeys(places))}" if len(places) <= MOST_PLACES else ""
            lines.append(f"{finding.severity}: {len(places)} more findings of '{finding.code}'{where}")
    return lines


def print_answer(done: Identification, document: dict[str, Any]) -> None:
    """Tables, checks, findings and the verdict."""
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}.get(document["verdict"], "white")
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
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for line in folded((*done.findings, *done.estimate.findings)):
        stdout.print(line, markup=False, soft_wrap=True)
    folder = Path(document["files"]["report.html"]).parent
    stdout.print(
        f"[bold {colour}]{document['verdict']}[/bold {colour}] in {document['seconds']:.1f} s; "
        f"written to {escape(str(folder))}"
    )
