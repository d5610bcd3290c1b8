"""`steelyard demo`: the whole line on a simulated arm."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.demo import demo as workflow

if TYPE_CHECKING:
    from steelyard.workflows.demonstration import Demonstration

OUT = "demo"
"""Folder for the results where none is named."""


@wraps(workflow)
def _written(**given: Any) -> Demonstration:
    return workflow(**(given | {"out": given["out"] or OUT}))


def _show(run: Demonstration) -> None:
    """Links, joints, the load, what they say, and what to do next."""
    told = run.document
    _print_links(told)
    _print_joints(told)
    for line in run.told:
        _say(line)
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}[run.verdict]
    stdout.print(f"[bold {colour}]{run.verdict}[/] in {run.seconds:.1f} s", highlight=False)
    weighed = () if run.payload is None else run.payload.verdict.checks
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


demo = workflow_command(_written, _show, lambda run: 1 if run.verdict == "fail" else 0)
