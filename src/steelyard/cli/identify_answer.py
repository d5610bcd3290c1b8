"""What `steelyard identify` says: one JSON document, or tables for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.audit import Status, TorqueError
from steelyard.cli.identify_closed_loop import refinement_of
from steelyard.cli.identify_line import Identification
from steelyard.cli.output import folded, read_back_line, stdout
from steelyard.inertia import Body
from steelyard.signals import band_of
from steelyard.uncertainty import base_intervals
from steelyard.workflows.record import read_back


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
    intervals = base_intervals(done.estimate, systematic=True)
    random = base_intervals(done.estimate)
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
        "price": {
            "train": {"unconstrained": done.price.train.overall, "links": done.train.overall},
            "holdout": {"unconstrained": done.price.holdout.overall, "links": done.holdout.overall},
        },
        "total_mass": {"estimated": _total(done), "described": _described_total(done)},
        "links": links(done),
        "joints": joints(done),
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
        "read_back": read_back(files),
    }


def links(done: Identification) -> list[dict[str, Any]]:
    """Every link: mass, centre of mass, inertia about it, intervals, who decided, and what was described."""
    layout, phi, found = done.layout, done.estimate.parameters, done.intervals
    if phi is None:
        return []
    told = []
    for k, name in enumerate(layout.links):
        ten = slice(10 * k, 10 * k + 10)
        body = Body.from_parameters(phi[ten])
        entry: dict[str, Any] = {"name": name, **body_numbers(body)}
        nominal = layout.nominal[ten]
        described = None if np.isnan(nominal).any() else body_numbers(Body.from_parameters(nominal))
        if found is not None:
            entry["interval95"] = {
                "mass": found.ends[10 * k].tolist(),
                "com": found.com_ends[k].tolist(),
                "inertia": found.inertia_ends[k].tolist(),
            }
            entry["decided_by"] = {
                "mass": found.decided_by[10 * k],
                "com": list(found.com_decided_by[k]),
                "inertia": list(found.inertia_decided_by[k]),
            }
        told.append({**entry, "described": described})
    return told


def joints(done: Identification) -> list[dict[str, Any]]:
    """Every joint: its drive terms, their intervals, and who decided them."""
    layout, phi, found = done.layout, done.estimate.parameters, done.intervals
    if phi is None:
        return []
    told = []
    for name in layout.joints:
        start = layout.of_joint(name).start
        entry: dict[str, Any] = {"name": name}
        spread: dict[str, list[float]] = {}
        decided: dict[str, str] = {}
        for k, term in enumerate(layout.drive, start=start):
            word = "armature" if term == "rotor" else term
            entry[word] = float(phi[k])
            if found is not None:
                spread[word], decided[word] = found.ends[k].tolist(), found.decided_by[k]
        told.append({**entry, "interval95": spread, "decided_by": decided})
    return told


def body_numbers(body: Body) -> dict[str, Any]:
    """Mass, centre of mass and inertia about it, for JSON."""
    I = body.inertia  # noqa: E741 - the equation's letter
    rows = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    return {"mass": body.mass, "com": body.com.tolist(), "inertia": [float(I[i, j]) for i, j in rows]}


def _total(done: Identification) -> float | None:
    phi = done.estimate.parameters
    return None if phi is None else float(phi[: 10 * len(done.layout.links) : 10].sum())


def _described_total(done: Identification) -> float | None:
    masses = done.layout.nominal[: 10 * len(done.layout.links) : 10]
    return None if np.isnan(masses).any() else float(masses.sum())


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
    stdout.print(read_back_line(document["read_back"]), markup=False, highlight=False, soft_wrap=True)


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
