"""What is said beside logs: torque constants and signs, and joints that a log does not have and are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.progress import say
from steelyard.recording import LIMITS, DataFrame, Log, Recording, Units, log_name, read, units_of
from steelyard.robot import JointKind, Robot

CONSTANT_ERROR = 0.10
"""Relative deviation of torque constants of which nothing is said; makers' figures differ as much."""


@dataclass(frozen=True)
class AbsentJoints:
    """What a log does not have of a robot.

    Attributes:
        positions: where its joints are held that the log does not have, by name, rad or m.
        findings: that they are.
        torques: whether the log has torques, or currents of which they can be made.
    """

    positions: Mapping[str, float]
    findings: tuple[Finding, ...] = ()
    torques: bool = True

    @property
    def locks(self) -> tuple[str, ...]:
        """The same as `--lock` takes it."""
        return tuple(f"{name}={q!r}" for name, q in self.positions.items())

    def held(self, robot: Robot) -> Robot:
        """The robot with these joints held still."""
        return robot.locked(self.positions) if self.positions else robot


def listed_logs(logs: Log | Sequence[Log]) -> Sequence[Log]:
    """One log or several as a list.

    Args:
        logs: a log, or some.
    """
    one = isinstance(logs, str | PathLike | Recording | Mapping | DataFrame)
    return [logs] if one else logs  # type: ignore[list-item,return-value]


def log_units(units: str | None, calibration: FilePath | None, robot: Robot) -> Units | None:
    """What the options say of the units of logs.

    Args:
        units: as `--units` takes it.
        calibration: a calibration file, or `limits` for the robot's own.
        robot: the robot.

    Returns:
        The units; None where nothing is said.

    Raises:
        InputError: it cannot be understood.
    """
    if calibration is None or str(calibration) != LIMITS:
        return units_of(units, calibration)
    ranges = {
        joint.name: (joint.limits.lower, joint.limits.upper)
        for joint in robot.joints
        if joint.nv == 1 and np.isfinite(joint.limits.upper - joint.limits.lower)
    }
    return units_of(units, ranges)


def absent_joints(
    robot: Robot,
    logs: Sequence[Log],
    columns: Mapping[str, str] | str | None,
    topic: str | None,
    units: Units | None,
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
        units: in which units the logs are.

    Returns:
        The joints, none where nothing is missing.
    """
    if not logs:
        return AbsentJoints({})
    path = logs[0]
    names = [joint.name for joint in robot.joints if joint.nv]
    try:
        first = read(path, joints=names, columns=columns, topic=topic, units=units)
        return AbsentJoints({}, (), _has_torques(first))
    except InputError as error:
        evidence: Mapping[str, Any] = error.evidence
        found, missing = (set(evidence.get(key, ())) for key in ("found", "missing"))
        if evidence.get("channel") != "q" or not found or not found < set(names):
            return AbsentJoints({})
    absent = [joint for joint in robot.joints if joint.name in missing and joint.kind.nq == 1]
    fingers = all(joint.kind is JointKind.PRISMATIC for joint in absent)
    first = read(path, columns=columns, topic=topic, units=units, lenient=True).recording
    if not fingers and all(name.isdigit() for name in first.joints):
        # Numbers fit any robot with more joints.
        return AbsentJoints({}, (), _has_torques(first))
    positions = {joint.name: min(max(0.0, joint.limits.lower), joint.limits.upper) for joint in absent}
    places = ", ".join(f"{joint.name} at {positions[joint.name]:g} {joint.position_unit}" for joint in absent)
    message = f"has no positions of some joints, which are held: {places}. Hold them elsewhere with --lock."
    name = Path(log_name(path)).name
    say(f"   {name}: {message}")
    finding = Finding(Severity.WARNING, "joints-not-logged", message, name)
    return AbsentJoints(positions, (finding,), _has_torques(first))


def _has_torques(log: Recording) -> bool:
    return not {"tau", "current"}.isdisjoint(log.channels)


def torque_constants(text: str | None, count: int) -> Array | None:
    """The constants an option states, one for each degree of freedom; None where it is not given."""
    if text is None:
        return None
    try:
        values = np.array([float(word) for word in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    if values.size != count or not np.isfinite(values).all():
        raise InputError(f"expected {count} numbers between commas, got '{text}'.", place="--torque-constant")
    return values


def torque_constant_errors(text: str | None, count: int, *, from_current: bool) -> Array:
    """The relative standard deviation of each joint's torque constant, shape (count,), dimensionless.

    Where nothing is said it is `CONSTANT_ERROR` for torques made from currents and zero for measured ones.
    """
    if text is None:
        return np.full(count, CONSTANT_ERROR if from_current else 0.0)
    try:
        values = np.array([float(word) for word in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    valid = values.size in (1, count) and np.isfinite(values).all() and (values >= 0.0).all()
    if not valid or (values >= 1.0).any():
        raise InputError(
            f"expected one number or {count} between commas, from 0 to below 1, got '{text}'.",
            place="--torque-constant-error",
            remedy="Write the share by which constants may be off, as 0.1 for 10 %.",
        )
    return np.broadcast_to(values, (count,)).copy()


def torque_signs(text: str | None, joints: Sequence[str]) -> Array | None:
    """The signs that an option gives the logged torques, one for each joint; None where it is not given."""
    if text is None:
        return None
    if text.strip() == "-":
        return -np.ones(len(joints))
    words = [word.strip() for word in text.split(",")]
    given = [word.rpartition("=") for word in words]
    if all(equals for _, equals, _ in given):
        for name, _, _ in given:
            if name not in joints:
                raise UnknownNameError("joint", name, joints, place="--torque-sign")
        signs = {name: _SIGNS.get(sign) for name, _, sign in given}
        values = [signs.get(joint, 1.0) for joint in joints]
    else:
        values = [_SIGNS.get(word) for word in words]
    if len(values) != len(joints) or None in values:
        raise InputError(
            f"expected JOINT=-1, {len(joints)} times 1 or -1 between commas, or - for all, got '{text}'.",
            place="--torque-sign",
        )
    return np.array(values, dtype=float)


_SIGNS = {"1": 1.0, "+1": 1.0, "1.0": 1.0, "-1": -1.0, "-1.0": -1.0, "+": 1.0, "-": -1.0}
