"""`steelyard demo`: the whole line on a simulated arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import command
from steelyard.workflows.demo import Demonstration
from steelyard.workflows.demo import demo as workflow


def _show(run: Demonstration) -> None:
    """Links, joints, the load, and what the run says."""
    told = run.document
    _print_links(told)
    _print_joints(told)
    load = told["payload"]
    if load is not None:
        low, high = load["interval95"]["mass"]
        off = 1e3 * float(np.linalg.norm(np.subtract(load["com"], load["true"]["com"])))
        _say(
            f"In its hand: {load['mass']:.3f} kg, 95 % between {low:.3f} and {high:.3f} kg; "
            f"truly {load['true']['mass']:.3f} kg. Its centre of mass is off by {off:.1f} mm."
        )
    held_out = told["holdout"]
    _say(
        f"Of the torque of a motion it has not seen {held_out['overall']:.2g} % is unexplained "
        f"({held_out['unfiltered']:.2g} % with the sensors' noise), by the description's own numbers "
        f"{held_out['described']:.3g} %."
    )
    if run.intervals_hold is not None:
        _say(
            f"{told['identifiable']} combinations of {told['parameters']} parameters are known; "
            f"{run.intervals_hold[0]} of {run.intervals_hold[1]} 95 % intervals hold the truth."
        )
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}[told["verdict"]]
    stdout.print(f"[bold {colour}]{told['verdict']}[/] in {told['seconds']:.1f} s", highlight=False)
    weighed = () if run.load is None else run.load.verdict.checks
    for check in (*run.identification.verdict.checks, *weighed):
        if str(check.status) != "pass":
            _say(f"   {check.status}: {check.name}: {check.message}")
    folder = Path(run.files["report.html"]).parent.parent
    _say(f"Look at {run.files['report.html']}; the model, the load's asset and all logs are in {folder}.")
    _say("With your own robot:")
    for line in (
        "steelyard excite robot.urdf --out motion.json       # a motion to run, with its certificate",
        "steelyard identify robot.urdf log.csv --out model   # what it recorded, as a judged model",
        "steelyard payload robot.urdf --loaded with.csv --empty without.csv --out object",
    ):
        _say(f"    {line}")


def _print_links(told: dict[str, Any]) -> None:
    table = Table(title="Links: mass, kg", title_justify="left")
    for heading in ("link", "described", "estimated", "95 % from", "to", "truly", "decided by"):
        table.add_column(heading, justify="left" if heading in ("link", "decided by") else "right")
    for link in told["links"]:
        described, true = link["described"], link["true"]
        low, high = link.get("interval95", {}).get("mass", (float("nan"), float("nan")))
        table.add_row(
            escape(link["name"]),
            "" if described is None else f"{described['mass']:.3f}",
            f"{link['mass']:.3f}",
            f"{low:.3f}",
            f"{high:.3f}",
            "" if true is None else f"{true['mass']:.3f}",
            link.get("decided_by", {}).get("mass", ""),
        )
    stdout.print(table)


def _print_joints(told: dict[str, Any]) -> None:
    terms = list(told["joints"][0]["true"]) if told["joints"] else []
    if not terms:
        return
    table = Table(
        title="Joints, SI: estimated (truly, offsets with the bias of the torque sensors)",
        title_justify="left",
    )
    for heading in ("joint", *terms, "unexplained torque"):
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    for joint in told["joints"]:
        numbers = (f"{joint[term]:.3g} ({joint['true'][term]:.3g})" for term in terms)
        table.add_row(escape(joint["name"]), *numbers, f"{told['holdout']['joints'][joint['name']]:.2g} %")
    stdout.print(table)


def _say(text: str) -> None:
    stdout.print(text, highlight=False, markup=False, soft_wrap=True)


demo = command(workflow, _show, lambda run: 1 if run.verdict == "fail" else 0)
