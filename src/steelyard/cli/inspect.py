"""`steelyard inspect`: what a description says, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from steelyard.audit import Check, Status, check_plausible
from steelyard.cli.destination import make_folder, require_files
from steelyard.cli.output import JsonOption, print_json, stdout
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    GravityOption,
    LimitsOption,
    LockOption,
    RobotArgument,
    ToolFrameOption,
    TorqueOption,
    VelocityOption,
    given_robot,
)
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError
from steelyard.files import write_bytes
from steelyard.finding import Severity
from steelyard.layout import layout_of
from steelyard.robot import REMEDIES, Joint, Link, Repair, Robot, StatedLimits, repair_file
from steelyard.zoo import ZOO


def inspect(
    robot: RobotArgument,
    gravity: GravityOption = None,
    lock: LockOption = None,
    tool_frame: ToolFrameOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    repair: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="Write a URDF that simulators load, every change listed.", show_default=False
        ),
    ] = None,
    fill_mass: Annotated[
        float | None,
        typer.Option(
            metavar="KG",
            help="With --repair: mass for moving links that state none, as a ball of water.",
            show_default="they are left",
        ),
    ] = None,
    keep_meshes: Annotated[
        bool, typer.Option("--keep-meshes", help="With --repair: keep shapes whose mesh is not reached.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="With --repair: replace OUT if it exists.")] = False,
    json: JsonOption = False,
) -> None:
    """Say what a robot description states and what is wrong with it.

    Exit code 1 if an error was found, or if the check `plausible` fails.

    With --repair, what is said is about the repaired description: `problems` are those that are left.
    """
    stated = StatedLimits(limits=limits, velocity=velocity, acceleration=acceleration, torque=torque)
    if repair is None:
        _refuse("only goes with --repair.", fill_mass=fill_mass, keep_meshes=keep_meshes, force=force)
        found = given_robot(robot, gravity, lock, tool_frame, arguments=argument, snap=False, stated=stated)
        check = _plausible(found, Path(robot))
        document = _document(found, check)
    else:
        _refuse("does not go with --repair.", gravity=gravity, lock=lock, tool_frame=tool_frame, arg=argument)
        _refuse("does not go with --repair.", **asdict(stated))
        repaired = _repaired(robot, repair, fill_mass, keep_meshes, force)
        found = repaired.robot
        check = _plausible(found, repair)
        document = {**_document(found, check), **_repair_document(repaired, repair)}
    if json:
        print_json(document)
    else:
        _print(found, check)
        if repair is not None:
            _print_repair(repaired, repair)
    wrong = any(finding.severity is Severity.ERROR for finding in found.findings)
    if wrong or check.status is Status.FAIL:
        raise typer.Exit(1)


def _plausible(robot: Robot, described: Path) -> Check:
    """Whether somebody could have built what is described; meshes lie beside the description."""
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    meshes = described.parent if described.is_file() else None
    return check_plausible(robot, layout, layout.nominal, meshes=meshes)


def _refuse(why: str, **options: object) -> None:
    for name, value in options.items():
        if value:
            raise InputError(why, place=f"--{name.replace('_', '-')}")


def _repaired(robot: str, out: Path, fill_mass: float | None, keep_meshes: bool, force: bool) -> Repair:
    if robot in ZOO:
        raise InputError(f"'{robot}' is a robot of the zoo, which has no file to repair.", place="--repair")
    require_files([out], force=force)
    repaired = repair_file(Path(robot), out, keep_meshes=keep_meshes, fill_mass=fill_mass)
    make_folder(out.parent)
    write_bytes(out, repaired.text)
    return repaired


def _repair_document(repaired: Repair, out: Path) -> dict[str, Any]:
    return {
        "changes": [vars(change) for change in repaired.changes],
        "left": [
            {
                "severity": finding.severity,
                "code": finding.code,
                "message": finding.message,
                "place": finding.place,
                "remedy": REMEDIES.get(finding.code, ""),
            }
            for finding in repaired.left
        ],
        "files": {"repaired": str(out)},
    }


def _document(robot: Robot, check: Check) -> dict[str, Any]:
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
                "drive": {term.name: joint.drive.value(term.name) for term in ALL_TERMS},
                "mimic": joint.mimic,
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
        "checks": [
            {
                "name": check.name,
                "status": check.status,
                "message": check.message,
                "evidence": dict(check.evidence),
            }
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


def _kind(joint: Joint) -> str:
    """How it moves, and what it follows."""
    if joint.mimic is None:
        return joint.kind.value
    offset = f"{joint.mimic.offset:+.4g}" if joint.mimic.offset else ""
    return escape(f"{joint.kind.value}, {joint.mimic.multiplier:.4g} × {joint.mimic.joint}{offset}")


def _print(robot: Robot, check: Check) -> None:
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
            _kind(joint),
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
    shade = {Status.FAIL: "red", Status.WARN: "yellow"}.get(check.status, "default")
    line = f"{check.name}: {check.status.value}: {check.message}"
    stdout.print(line, style=shade, highlight=False, markup=False, soft_wrap=True)
    if not robot.findings and check.status not in (Status.FAIL, Status.WARN):
        stdout.print("Nothing wrong was found.")


def _print_repair(repaired: Repair, out: Path) -> None:
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
    line = f"{out}: written with {len(repaired.changes)} changes."
    stdout.print(line, highlight=False, markup=False, soft_wrap=True)
