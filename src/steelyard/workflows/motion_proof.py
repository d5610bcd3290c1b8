"""What is made sure of a motion: its jerk is kept, its limits are proven, and other code looks at it.

No description carries a jerk limit; a motion that breaks the one that is stated is slowed until it keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.finding import Finding, Severity
from steelyard.limits import Certificate, MotionLimits, NotCertifiedError, certify
from steelyard.motion import (
    AnyMotion,
    FourierMotion,
    LinearMotion,
    Motion,
    SplineMotion,
    largest_jerk,
    slowdown_within_jerk,
    slowed_within_jerk,
)
from steelyard.progress import say
from steelyard.robot import Robot
from steelyard.simulation import SecondLook, second_look

UNLOOKED = ("unstated-limit", "unknown-load", "uncounted-friction", "unknown-floor", "unknown-shape-held")
"""Findings of what may hit or overload though every limit that is looked at is kept."""
SLOWEST = 100.0
"""How many times slower a motion may become; beyond that it shows hardly more than poses do."""


@dataclass(frozen=True, eq=False)
class KeptJerk:
    """A motion that keeps its jerk limits, at every instant.

    Attributes:
        motion: as it is run.
        names: of the joints.
        units: of their jerks.
        most: what the jerk of each joint never exceeds, shape (nv,), rad/s³ or m/s³.
        limit: of each joint, infinite where none is stated, shape (nv,), rad/s³ or m/s³.
        slower: how many times slower it is than before, dimensionless; 1 where it kept them already.
        findings: that it was slowed, and for which joint.
    """

    motion: FourierMotion | SplineMotion
    names: tuple[str, ...]
    units: tuple[str, ...]
    most: Array
    limit: Array
    slower: float = 1.0
    findings: tuple[Finding, ...] = ()

    @property
    def document(self) -> dict[str, dict[str, Any]]:
        """By joint: `most`, and `limit`, None where none is stated."""
        return {
            name: {"most": float(most), "limit": float(limit) if np.isfinite(limit) else None}
            for name, most, limit in zip(self.names, self.most, self.limit, strict=True)
        }

    def __str__(self) -> str:
        """The joint that comes nearest to its limit, or has the largest jerk where none has a limit."""
        limited = np.isfinite(self.limit).any()
        j = int((self.most / self.limit if limited else self.most).argmax())
        end = f"limit {self.limit[j]:.4g} {self.units[j]}" if limited else "no limit is stated"
        return f"jerk at most {self.most[j]:.4g} {self.units[j]} at {self.names[j]}; {end}"


def keep_jerk(motion: LinearMotion, robot: Robot, limit: Array) -> KeptJerk:
    """Slow a motion until its jerk is within the limits at every instant.

    Args:
        motion: the motion.
        robot: as it was described; its digest is the motion's.
        limit: of every joint, infinite where none is stated, shape (nv,), rad/s³ or m/s³.

    Returns:
        The motion, slowed where it has to be.

    Raises:
        NoSolutionError: it would have to be slowed more than `SLOWEST` times.
    """
    units = tuple(f"{joint.position_unit}/s³" for joint in robot.joints)
    before = _of_robot(motion, robot)
    names, most = before.joints, largest_jerk(before)
    if (most <= limit).all():
        return KeptJerk(before, names, units, most, limit)
    factor, j = slowdown_within_jerk(before, limit), int((most / limit).argmax())
    if factor > SLOWEST:
        raise NoSolutionError(
            f"would have to be slowed by {factor:.3g} to keep the jerk of joint '{names[j]}' below "
            f"{limit[j]:g} {units[j]}.",
            place="the motion found",
            remedy=f"State more jerk; it is slowed by {SLOWEST:g} at most.",
        )
    after = _of_robot(slowed_within_jerk(before, limit), robot)
    slower = after.duration / before.duration
    message = (
        f"slowed by {slower:.3g} to keep the jerk of joint '{names[j]}' below {limit[j]:g} {units[j]}: it "
        f"lasts {after.duration:.4g} s."
    )
    finding = Finding(Severity.INFO, "slowed-for-jerk", message)
    return KeptJerk(after, names, units, largest_jerk(after), limit, slower, (finding,))


def _of_robot(motion: LinearMotion | AnyMotion, robot: Robot) -> FourierMotion | SplineMotion:
    """The motion, under the digest of the robot as it was described, with all of its limits."""
    if not isinstance(motion, FourierMotion | SplineMotion):
        raise InputError("is of no family that can be written.", place="motion")
    return replace(motion, robot=robot.digest)


def uncovered_by(
    proof: Certificate, findings: Sequence[Finding], without: Sequence[str]
) -> tuple[Finding, ...]:
    """What could hit or overload and is not part of a proof, though nobody asked to leave it out.

    Args:
        proof: of a motion.
        findings: what was noticed of robot and surroundings besides.
        without: kinds of limits that need not be kept.
    """
    asked = {f"unchecked-{kind}" for kind in without}
    beyond = (x for x in findings if x.code in UNLOOKED and x.severity is not Severity.INFO)
    return (*(x for x in proof.uncovered if x.code not in asked), *beyond)


def proof_of(
    limits: MotionLimits, motion: LinearMotion, parameter_range: float = 0.0
) -> Certificate | NotCertifiedError:
    """Prove that a motion keeps its limits at every instant, and say how that ended.

    Args:
        limits: what it must respect.
        motion: the motion.
        parameter_range: by which share the nominal parameters may be wrong, dimensionless.

    Returns:
        The proof, or why there is none.
    """
    spread = None
    if limits.parameters is not None and parameter_range > 0.0:
        spread = parameter_range * np.abs(limits.parameters)
    try:
        proof = certify(limits, motion, uncertainty=spread)
    except NotCertifiedError as refused:
        say(f"3  not certified: {refused}")
        return refused
    say(f"3  every limit looked at is proven at every instant, on {proof.stretches} stretches of time")
    return proof


def looked_again(
    limits: MotionLimits, motion: Motion, proof: Certificate | NotCertifiedError
) -> SecondLook | None:
    """Look at a proven motion by other code, and say how that ended.

    Args:
        limits: what it must respect.
        motion: the motion.
        proof: that it does, or why there is none.

    Returns:
        What was seen; None without a proof.

    Raises:
        SolverError: proof and second look disagree, so neither is to be believed.
    """
    if not isinstance(proof, Certificate):
        return None
    look = second_look(limits, motion, proof)
    say(f"   {look}")
    return look
