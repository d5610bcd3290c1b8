"""`steelyard inspect`: what a description says, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.finding import Severity
from steelyard.workflows.inspect import inspect as workflow

if TYPE_CHECKING:
    from steelyard.robot import Joint, Link, Robot
    from steelyard.workflows.inspection import Inspection, RepairedDescription


def _show(found: Inspection) -> None:
    from steelyard.audit import Status

    robot, check = found.robot, found.plausible
    stdout.print(
        f"[bold]{escape(robot.name)}[/bold]: {found.freedom}, {robot.mass:.4g} kg, "
        f"tool frame {escape(robot.tool_frame.name)}, digest {robot.digest[:12]}",
        highlight=False,
    )
    stdout.print(_joints(robot))
    for line in _still(robot):
        stdout.print(line, highlight=False, markup=False, soft_wrap=True)
    colours = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "default"}
    for finding in found.problems:
        stdout.print(
            str(finding), style=colours[finding.severity], highlight=False, markup=False, soft_wrap=True
        )
    shade = {Status.FAIL: "red", Status.WARN: "yellow"}.get(check.status, "default")
    line = f"{check.name}: {check.status.value}: {check.message}"
    stdout.print(line, style=shade, highlight=False, markup=False, soft_wrap=True)
    if not found.problems and check.status not in (Status.FAIL, Status.WARN):
        stdout.print("Nothing wrong was found.")
    if found.repaired is not None:
        _show_repair(found.repaired)


def _joints(robot: Robot) -> Table:
    table = Table()
    for heading in ("joint", "kind", "range", "speed", "effort", "moves", "mass", "com, m"):
        table.add_column(heading)
    for joint, link in zip(robot.joints, robot.links, strict=True):
        limits, unit = joint.limits, joint.position_unit
        body = link.body
        table.add_row(
            escape(joint.name),
            _kind(joint),
            f"{limits.lower:.4g} … {limits.upper:.4g} {unit}",
            f"{limits.velocity:.4g} {unit}/s",
            f"{limits.effort:.4g} {joint.effort_unit}",
            escape(_with_parts(link)),
            "not stated" if body is None else f"{body.mass:.4g} kg",
            "" if body is None else " ".join(f"{x:.3g}" for x in body.com),
        )
    return table


def _kind(joint: Joint) -> str:
    """How it moves, and what it follows."""
    if joint.mimic is None:
        return joint.kind.value
    offset = f"{joint.mimic.offset:+.4g}" if joint.mimic.offset else ""
    return escape(f"{joint.kind.value}, {joint.mimic.multiplier:.4g} × {joint.mimic.joint}{offset}")


def _with_parts(link: Link) -> str:
    return " + ".join([link.name, *(part.name for part in link.fixed)])


def _still(robot: Robot) -> list[str]:
    """What does not move: the links bolted to the base, and the joints that are locked."""
    lines = [f"Base: {_with_parts(robot.base)}"] if robot.base.fixed else []
    for held in robot.locks:
        position = " ".join(f"{x:.4g}" for x in held.position)
        unit = {1: " rad" if held.kind.rotates else " m"}.get(len(held.position), "")
        lines.append(f"Locked: {held.name} at {position}{unit}, which holds {held.link}")
    return lines


def _show_repair(repaired: RepairedDescription) -> None:
    from steelyard.robot import REMEDIES

    if repaired.changes:
        table = Table()
        for heading in ("place", "changed", "before", "after", "because"):
            table.add_column(heading, overflow="fold")
        for change in repaired.changes:
            table.add_row(*(escape(text) for text in vars(change).values()))
        stdout.print(table)
    for finding in repaired.left:
        if remedy := REMEDIES.get(finding.code):
            line = f"left: {finding.place}: {remedy}"
            stdout.print(line, highlight=False, markup=False, soft_wrap=True)
    line = f"{repaired.files['repaired']}: written with {len(repaired.changes)} changes."
    stdout.print(line, highlight=False, markup=False, soft_wrap=True)


inspect = workflow_command(workflow, _show, lambda found: 0 if found.ok else 1)
