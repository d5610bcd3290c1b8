"""What `steelyard identify` says: one JSON document, or tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.audit import Status
from steelyard.cli.identify_closed_loop import refinement_of
from steelyard.cli.identify_line import Identification
from steelyard.cli.output import stdout
from steelyard.finding import Finding
from steelyard.uncertainty import base_intervals

MOST_ALIKE = 3
"""Findings of one kind that are printed in full; all are in the JSON document and in the report."""
MOST_PLACES = 20
"""Places of further findings that are named."""


def answer(done: Identification, files: dict[str, str], seconds: float) -> dict[str, Any]:
    """Everything a script may ask for."""
    names = [joint.name for joint in done.robot.joints if joint.nv]
    intervals = base_intervals(done.estimate, systematic=True)
    random = base_intervals(done.estimate)
    refinement = refinement_of(done.estimate, names)
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
        "excited": done.certificate.determined,
        "cond": done.estimate.condition,
        "method": done.estimate.method,
        "samples": done.estimate.samples,
        "train": {"overall": done.train.overall, "joints": dict(zip(names, done.train.joints, strict=True))},
        "holdout": {
            "log": done.question.held_out,
            "overall": done.holdout.overall,
            "unfiltered": done.unfiltered.overall,
            "joints": dict(zip(names, done.holdout.joints, strict=True)),
        },
        "consistent": done.verdict.check("physical consistency").status is Status.PASS,
        "base": [
            {"name": name, "value": value, "interval95": [lower, upper], "interval95_random": [low, high]}
            for name, value, lower, upper, low, high in zip(
                intervals.names,
                intervals.values.tolist(),
                intervals.lower.tolist(),
                intervals.upper.tolist(),
                random.lower.tolist(),
                random.upper.tolist(),
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
    table = Table(title=f"Unexplained torque, percent of its rms; held out: {escape(held_out)}")
    for heading in ("joint", "training", "held out"):
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    for joint, seen in document["train"]["joints"].items():
        table.add_row(escape(joint), f"{seen:.2f}", f"{document['holdout']['joints'][joint]:.2f}")
    table.add_row("overall", f"{done.train.overall:.2f}", f"{done.holdout.overall:.2f}", style="bold")
    stdout.print(table)
    for check in done.verdict.checks:
        stdout.print(f"{check.status.value:>7}  {check.name}: {check.message}", markup=False, soft_wrap=True)
    for line in folded((*done.findings, *done.estimate.findings)):
        stdout.print(line, markup=False, soft_wrap=True)
    if done.estimate.systematic is not None:
        stdout.print(_by_constants(done), markup=False, soft_wrap=True)
    folder = Path(document["files"]["report.html"]).parent
    stdout.print(
        f"[bold {colour}]{document['verdict']}[/bold {colour}] in {document['seconds']:.1f} s; "
        f"written to {escape(str(folder))}"
    )


def _by_constants(done: Identification) -> str:
    """What the errors of torque constants add to the intervals of base parameters, in one sentence."""
    random, added = done.estimate.deviations, done.estimate.systematic_deviations
    known = np.isfinite(random) & (random > 0.0)
    wider = float(np.median(np.hypot(random, added)[known] / random[known])) if known.any() else 1.0
    errors = sorted(set(np.asarray(done.question.constant_errors).tolist()))
    share = " to ".join(f"{100.0 * x:.3g}" for x in dict.fromkeys((errors[0], errors[-1])))
    return (
        f"Intervals of base parameters hold an error of {share} % of each torque constant, which makes "
        f"them {wider:.3g} times as wide (median); interval95_random in the JSON answer is without it: logs "
        "made with the same constants are compared by that."
    )
