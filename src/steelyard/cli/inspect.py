"""`steelyard inspect`: what a description says, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import JsonOption, print_json, stdout
from steelyard.cli.robot_argument import (
    GravityOption,
    LockOption,
    RobotArgument,
    ToolFrameOption,
    given_robot,
)
from steelyard.drive import DRIVE_TERMS
from steelyard.finding import Severity
from steelyard.robot import Joint, Link, Robot


def inspect(
    robot: RobotArgument,
    gravity: GravityOption = None,
    lock: LockOption = None,
    tool_frame: ToolFrameOption = None,
    json: JsonOption = False,
) -> None:
    """Say what a robot description states and what is wrong with it; exit code 1 if an error was found."""
    found = given_robot(robot, gravity, lock, tool_frame)
    if json:
        print_json(_document(found))
    else:
        _print(found)
    if any(finding.severity is Severity.ERROR for finding in found.findings):
        raise typer.Exit(1)


def _document(robot: Robot) -> dict[str, Any]:
    return {
        "name": robot.name,
        "digest": robot.digest,
        "gravity": robot.gravity,
        "tool_frame": robot.tool_frame.name,
        "mass": robot.mass,
        "joints": [
            {
                "name": joint.name,
                "kind": joint.kind,
                "parent": _parent_name(robot, joint),
                "child": link.name,
                "limits": {
                    name: getattr(joint.limits, name)
                    for name in ("lower", "upper", "velocity", "acceleration", "effort")
                },
                "drive": {term.name: joint.drive.value(term.name) for term in DRIVE_TERMS},
            }
            for joint, link in zip(robot.joints, robot.links, strict=True)
        ],
        "locked": [
            {"name": held.name, "kind": held.kind, "link": held.link, "position": held.position}
            for held in robot.locks
        ],
        "links": [_link_document(link) for link in (robot.base, *robot.links)],
        "problems": [
            {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
            for f in robot.findings
        ],
    }


def _link_document(link: Link) -> dict[str, Any]:
    body = link.body
    return {
        "name": link.name,
        "fixed": [part.name for part in link.fixed],
        "mass": None if body is None else body.mass,
        "com": None if body is None else body.com,
        "inertia": None if body is None else body.inertia,
    }


def _parent_name(robot: Robot, joint: Joint) -> str:
    return robot.base.name if joint.parent < 0 else robot.links[joint.parent].name


def _freedom(robot: Robot) -> str:
    joints = f"{len(robot.joints)} joints"
    return joints if robot.nv == len(robot.joints) else f"{joints}, {robot.nv} degrees of freedom"


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


def _print(robot: Robot) -> None:
    stdout.print(
        f"[bold]{escape(robot.name)}[/bold]: {_freedom(robot)}, {robot.mass:.4g} kg, "
        f"tool frame {escape(robot.tool_frame.name)}, digest {robot.digest[:12]}",
        highlight=False,
    )
    table = Table()
    for heading in ("joint", "kind", "range", "speed", "effort", "moves", "mass", "com, m"):
        table.add_column(heading)
    for joint, link in zip(robot.joints, robot.links, strict=True):
        limits, unit = joint.limits, joint.position_unit
        body = link.body
        table.add_row(
            escape(joint.name),
            joint.kind.value,
            f"{limits.lower:.4g} … {limits.upper:.4g} {unit}",
            f"{limits.velocity:.4g} {unit}/s",
            f"{limits.effort:.4g} {joint.effort_unit}",
            escape(_with_parts(link)),
            "not stated" if body is None else f"{body.mass:.4g} kg",
            "" if body is None else " ".join(f"{x:.3g}" for x in body.com),
        )
    stdout.print(table)
    for line in _still(robot):
        stdout.print(line, highlight=False, markup=False, soft_wrap=True)
    colours = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "default"}
    for finding in robot.findings:
        stdout.print(
            str(finding), style=colours[finding.severity], highlight=False, markup=False, soft_wrap=True
        )
    if not robot.findings:
        stdout.print("Nothing wrong was found.")
