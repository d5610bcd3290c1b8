"""The limits of a robot's joints as arrays, those of joints that mimic others included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.finding import Finding, Severity
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class Bounds:
    """What every degree of freedom may do; infinite where nothing is stated. Arrays are read-only.

    All but the effort count J degrees of freedom: those of `robot.untied`, where a joint that mimics another
    is one of its own, with limits of its own. The effort counts the nv independent ones, where torques act.

    Attributes:
        joints: name of each degree of freedom's joint, J.
        coordinates: which column of the untied q is each one's position, -1 where a quaternion states it,
            shape (J,), dimensionless.
        lower: shape (J,), rad or m.
        upper: shape (J,), rad or m.
        velocity: shape (J,), rad/s or m/s.
        acceleration: shape (J,), rad/s² or m/s².
        effort: shape (nv,), N·m or N.
        findings: limits that are stated but cannot be checked.
    """

    joints: tuple[str, ...]
    coordinates: IntArray
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    findings: tuple[Finding, ...]


def bounds_of(robot: Robot) -> Bounds:
    """Collect the limits of a robot's joints.

    Args:
        robot: the robot.

    Returns:
        The bounds. A joint whose position is a quaternion has no position limits.
    """
    every = robot.untied
    names, columns, findings = [], [], []
    at = 0
    for joint, tied in zip(every.joints, robot.joints, strict=True):
        single = joint.nq == 1
        names += [joint.name] * joint.nv
        columns += [at] if single else [-1] * joint.nv
        at += joint.nq
        if not single and np.isfinite([joint.limits.lower, joint.limits.upper]).any():
            findings.append(_unchecked(joint.name, f"a {joint.kind.value} joint has no single position"))
        if tied.mimic is not None and np.isfinite(joint.limits.effort):
            findings.append(
                _unchecked(joint.name, f"the effort acts at '{tied.mimic.joint}', which it mimics")
            )
    coordinates = np.array(columns, dtype=np.int64)
    free = coordinates < 0
    return Bounds(
        tuple(names),
        read_only(coordinates),
        read_only(np.where(free, -np.inf, every.limit_array("lower"))),
        read_only(np.where(free, np.inf, every.limit_array("upper"))),
        read_only(every.limit_array("velocity")),
        read_only(every.limit_array("acceleration")),
        read_only(robot.limit_array("effort")),
        tuple(findings),
    )


def _unchecked(joint: str, why: str) -> Finding:
    message = f"states a limit that is not checked: {why}."
    return Finding(Severity.WARNING, "unchecked-limit", message, f"joint '{joint}'")
