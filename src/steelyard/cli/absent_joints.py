"""Joints of the robot that a log does not have, such as a gripper's fingers: held, and said to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.cli.output import say
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.recording import read
from steelyard.robot import JointKind, Robot


@dataclass(frozen=True)
class AbsentJoints:
    """What a log does not have of a robot.

    Attributes:
        positions: where its joints are held that the log does not have, by name, rad or m.
        findings: that they are.
    """

    positions: Mapping[str, float]
    findings: tuple[Finding, ...] = ()

    @property
    def locks(self) -> tuple[str, ...]:
        """The same as `--lock` takes it."""
        return tuple(f"{name}={q!r}" for name, q in self.positions.items())

    def held(self, robot: Robot) -> Robot:
        """The robot with these joints held still."""
        return robot.locked(self.positions) if self.positions else robot


def absent_joints(
    robot: Robot, logs: Sequence[str | Path], columns: str | None, topic: str | None
) -> AbsentJoints:
    """Find the joints that the first log does not have, where all that it has are the robot's.

    They are held at zero, where descriptions have their joints, or at the limit next to it. A log with joints
    that the robot does not have speaks of another robot, or by other names; what is missing then is not held
    but complained about when the log is read. So is everything else that is wrong with it. Columns that are
    numbered fit any robot with more joints, so there only sliding joints, as of fingers, are held.

    Args:
        robot: the robot.
        logs: the logs.
        columns: what their columns are, as `--columns` takes it.
        topic: of a bag.

    Returns:
        The joints, none where nothing is missing.
    """
    if not logs:
        return AbsentJoints({})
    path = logs[0]
    names = [joint.name for joint in robot.joints if joint.nv]
    try:
        read(path, joints=names, columns=columns, topic=topic, lenient=True)
        return AbsentJoints({})
    except InputError as error:
        evidence: Mapping[str, Any] = error.evidence
        found, missing = (set(evidence.get(key, ())) for key in ("found", "missing"))
        if evidence.get("channel") != "q" or not found or not found < set(names):
            return AbsentJoints({})
    absent = [joint for joint in robot.joints if joint.name in missing and joint.kind.nq == 1]
    fingers = all(joint.kind is JointKind.PRISMATIC for joint in absent)
    if not fingers and _numbered(path, columns, topic):
        return AbsentJoints({})
    positions = {joint.name: min(max(0.0, joint.limits.lower), joint.limits.upper) for joint in absent}
    places = ", ".join(f"{joint.name} at {positions[joint.name]:g} {joint.position_unit}" for joint in absent)
    message = f"has no positions of some joints, which are held: {places}. Hold them elsewhere with --lock."
    say(f"   {Path(path).name}: {message}")
    finding = Finding(Severity.WARNING, "joints-not-logged", message, Path(path).name)
    return AbsentJoints(positions, (finding,))


def _numbered(path: str | Path, columns: str | None, topic: str | None) -> bool:
    """Whether the log calls its joints by numbers alone."""
    found = read(path, columns=columns, topic=topic, lenient=True).recording
    return all(name.isdigit() for name in found.joints)
