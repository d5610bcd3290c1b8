"""What a robot description states, what is wrong with it, and the repaired one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from steelyard.audit import Check, Status, check_plausible
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError
from steelyard.files import FilePath, write_bytes
from steelyard.finding import Finding, Severity
from steelyard.layout import layout_of
from steelyard.robot import REMEDIES, Change, Joint, Link, Repair, Robot, repair_file
from steelyard.workflows.destination import make_folder, require_files
from steelyard.workflows.given import given_robot, stated_limits
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    folders_of,
    path_of,
)
from steelyard.zoo import ZOO


@dataclass(frozen=True, eq=False, repr=False)
class RepairedDescription:
    """A description that simulators load, with every change.

    Attributes:
        description: the file that was repaired.
        outcome: the repaired text, its changes, and the robot that it describes.
        fill_mass: mass for moving links that state none, kg; None where they are left.
        keep_meshes: whether shapes stay whose mesh is not reached.
        seconds: what it took.
        files: what was written, by kind.
    """

    description: Path
    outcome: Repair
    fill_mass: float | None
    keep_meshes: bool
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def robot(self) -> Robot:
        """What the repaired text describes; its findings are those that are left."""
        return self.outcome.robot

    @property
    def text(self) -> bytes:
        """The URDF, in UTF-8."""
        return self.outcome.text

    @property
    def changes(self) -> tuple[Change, ...]:
        """Everything that was changed, in the order of the lines."""
        return self.outcome.changes

    @property
    def left(self) -> tuple[Finding, ...]:
        """What is still wrong, because only a person can know what was meant."""
        return self.outcome.left

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        return {
            "changes": [vars(change) for change in self.changes],
            "left": [
                {
                    "severity": finding.severity,
                    "code": finding.code,
                    "message": finding.message,
                    "place": finding.place,
                    "remedy": REMEDIES.get(finding.code, ""),
                }
                for finding in self.left
            ],
            "files": dict(self.files),
        }

    def save(self, file: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the URDF; its meshes are named as seen from where it lies.

        Args:
            file: where to.
            force: whether an earlier file may be replaced.

        Returns:
            What was written, by kind.

        Raises:
            InputError: it exists and is to be kept, or cannot be written.
        """
        out = Path(file)
        require_files([out], force=force)
        outcome = repair_file(self.description, out, keep_meshes=self.keep_meshes, fill_mass=self.fill_mass)
        make_folder(out.parent)
        write_bytes(out, outcome.text)
        return {"repaired": str(out)}

    def __repr__(self) -> str:
        return (
            f"<RepairedDescription of {self.robot.name}: {len(self.changes)} changes, {len(self.left)} left>"
        )

    def __str__(self) -> str:
        lines = [f"{self.robot.name}: {len(self.changes)} changes, {len(self.left)} problems left"]
        lines += [
            f"  {change.place}: {change.what}: {change.before} -> {change.after} ({change.reason})"
            for change in self.changes
        ]
        lines += [f"  left: {finding}" for finding in self.left]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """What a robot description states, and what is wrong with it.

    Attributes:
        robot: the robot as it is described, or as it was repaired.
        plausible: whether somebody could have built it.
        repaired: the repaired description; None where no repair was asked for.
        seconds: what it took.
    """

    robot: Robot
    plausible: Check
    repaired: RepairedDescription | None = None
    seconds: float = 0.0

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, in their order."""
        return self.robot.joints

    @property
    def links(self) -> tuple[Link, ...]:
        """The base and the links that move, in their order."""
        return (self.robot.base, *self.robot.links)

    @property
    def mass(self) -> float:
        """What all links weigh together, kg."""
        return self.robot.mass

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What was noticed about the description; after a repair, what is left."""
        return self.robot.findings

    @property
    def files(self) -> Mapping[str, str]:
        """What was written, by kind."""
        return {} if self.repaired is None else self.repaired.files

    @property
    def ok(self) -> bool:
        """Whether no error was found and the check `plausible` does not fail."""
        wrong = any(finding.severity is Severity.ERROR for finding in self.problems)
        return not wrong and self.plausible.status is not Status.FAIL

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        robot, check = self.robot, self.plausible
        stated = {
            "name": robot.name,
            "digest": robot.digest,
            "gravity": robot.gravity,
            "tool_frame": robot.tool_frame.name,
            "mass": robot.mass,
            "joints": [
                _joint_document(robot, joint, link)
                for joint, link in zip(robot.joints, robot.links, strict=True)
            ],
            "locked": [
                {"name": held.name, "kind": held.kind, "link": held.link, "position": held.position}
                for held in robot.locks
            ],
            "links": [_link_document(link) for link in self.links],
            "problems": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in self.problems
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
        return stated if self.repaired is None else {**stated, **self.repaired.document}

    @property
    def freedom(self) -> str:
        """How many joints there are, and degrees of freedom where these are others, in words."""
        robot = self.robot
        joints = f"{len(robot.joints)} joints"
        return joints if robot.nv == len(robot.joints) else f"{joints}, {robot.nv} degrees of freedom"

    def __repr__(self) -> str:
        return f"<Inspection of {self.robot.name}: {self.freedom}, {len(self.problems)} problems>"

    def __str__(self) -> str:
        robot = self.robot
        lines = [
            f"{robot.name}: {self.freedom}, {self.mass:.4g} kg, tool frame {robot.tool_frame.name}",
            *_columns(
                [
                    ("joint", "kind", "lower", "upper", "speed", "effort", "moves", "mass, kg"),
                    *(
                        (
                            joint.name,
                            joint.kind.value,
                            f"{joint.limits.lower:.4g}",
                            f"{joint.limits.upper:.4g}",
                            f"{joint.limits.velocity:.4g}",
                            f"{joint.limits.effort:.4g}",
                            link.name,
                            "not stated" if link.body is None else f"{link.body.mass:.4g}",
                        )
                        for joint, link in zip(robot.joints, robot.links, strict=True)
                    ),
                ]
            ),
            *(str(finding) for finding in self.problems),
            f"{self.plausible.name}: {self.plausible.status.value}: {self.plausible.message}",
        ]
        return "\n".join(lines if self.repaired is None else [*lines, str(self.repaired)])


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines whose columns stand below each other."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _joint_document(robot: Robot, joint: Joint, link: Link) -> dict[str, Any]:
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": robot.base.name if joint.parent < 0 else robot.links[joint.parent].name,
        "child": link.name,
        "limits": {
            name: getattr(joint.limits, name)
            for name in ("lower", "upper", "velocity", "acceleration", "effort")
        },
        "drive": {term.name: joint.drive.value(term.name) for term in ALL_TERMS},
        "mimic": joint.mimic,
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


def inspection(
    robot: RobotGiven,
    *,
    gravity: GravityGiven,
    lock: LockGiven,
    tool_frame: ToolFrameGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
    limits: LimitsGiven,
    velocity: VelocityGiven,
    acceleration: AccelerationGiven,
    torque: TorqueGiven,
    repair: FilePath | None,
    fill_mass: float | None,
    keep_meshes: bool,
    force: bool,
) -> Inspection:
    """Inspect a description, by the arguments of `inspect`."""
    started = time.perf_counter()
    stated = stated_limits(limits, velocity, acceleration, torque)
    if repair is None:
        _refuse("only goes with --repair.", fill_mass=fill_mass, keep_meshes=keep_meshes, force=force)
        found = given_robot(
            robot,
            gravity,
            lock,
            tool_frame,
            arguments=argument,
            snap=False,
            stated=stated,
            package_path=package_path,
        )
        return Inspection(found, _plausible(found), seconds=time.perf_counter() - started)
    _refuse("does not go with --repair.", gravity=gravity, lock=lock, tool_frame=tool_frame, arg=argument)
    _refuse("does not go with --repair.", **asdict(stated))
    if isinstance(robot, Robot):
        raise InputError(
            "needs the file of a description, not a robot that is read already.", place="--repair"
        )
    repaired = repaired_description(robot, repair, fill_mass, keep_meshes, force, package_path)
    return Inspection(repaired.robot, _plausible(repaired.robot), repaired, time.perf_counter() - started)


def repaired_description(
    description: FilePath,
    out: FilePath | None,
    fill_mass: float | None,
    keep_meshes: bool,
    force: bool,
    package_path: PackagePathGiven = None,
) -> RepairedDescription:
    """Repair a description, by the arguments of `repair`."""
    started = time.perf_counter()
    name = path_of(description) or ""
    if name in ZOO:
        raise InputError(f"'{name}' is a robot of the zoo, which has no file to repair.", place="--repair")
    path = Path(name)
    target = path.with_suffix(".urdf") if out is None else Path(out)
    if out is not None:
        require_files([target], force=force)
    outcome = repair_file(
        path, target, keep_meshes=keep_meshes, fill_mass=fill_mass, package_path=folders_of(package_path)
    )
    files = {}
    if out is not None:
        make_folder(target.parent)
        write_bytes(target, outcome.text)
        files = {"repaired": str(target)}
    return RepairedDescription(path, outcome, fill_mass, keep_meshes, time.perf_counter() - started, files)


def _plausible(robot: Robot) -> Check:
    """Whether somebody could have built what is described; meshes lie beside the description."""
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    return check_plausible(robot, layout, layout.nominal)


def _refuse(why: str, **options: object) -> None:
    for name, value in options.items():
        if value:
            raise InputError(why, place=f"--{name.replace('_', '-')}")
