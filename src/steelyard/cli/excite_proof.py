"""What `steelyard excite` ends with: a motion, what it is worth, and what is proven of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from steelyard.cli.excite_jerk import KeptJerk
from steelyard.cli.excite_wish import Wish
from steelyard.cli.output import say
from steelyard.excitation import Design
from steelyard.finding import Finding, Severity
from steelyard.limits import Certificate, MotionLimits, NotCertifiedError, certify
from steelyard.motion import FourierMotion, LinearMotion, Motion, SplineMotion
from steelyard.robot import Robot
from steelyard.simulate import SecondLook, second_look

UNLOOKED = ("unstated-limit", "unknown-load", "uncounted-friction", "unknown-floor", "unknown-shape-held")
"""Findings of what may hit or overload though every limit that is looked at is kept."""


@dataclass(frozen=True, eq=False)
class Designed:
    """A motion, what it is worth, and what is proven of it.

    Attributes:
        wish: what was asked for.
        robot: as it was described, with all of its limits.
        design: what the motion is worth.
        jerk: the motion, under the digest of the robot, and how its jerk keeps its limits.
        limits: those it was to keep.
        proof: that it does, or why there is none.
        look: what other code saw of a motion that is proven; None without a proof.
        name: of a structured motion; empty for others.
        compared: value of the criterion of every structured motion it was chosen from, by name.
        findings: what had to give way to the limits.
    """

    wish: Wish
    robot: Robot
    design: Design
    jerk: KeptJerk
    limits: MotionLimits
    proof: Certificate | NotCertifiedError
    look: SecondLook | None = None
    name: str = ""
    compared: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def uncovered(self) -> tuple[Finding, ...]:
        """What could hit or overload and is not part of the proof, though nobody asked to leave it out."""
        return (
            uncovered_by(self.proof, self.findings, self.wish) if isinstance(self.proof, Certificate) else ()
        )

    @property
    def motion(self) -> FourierMotion | SplineMotion:
        """The motion, under the digest of the robot."""
        return self.jerk.motion


def uncovered_by(proof: Certificate, findings: Sequence[Finding], wish: Wish) -> tuple[Finding, ...]:
    """What could hit or overload and is not part of a proof, though nobody asked to leave it out."""
    asked = {f"unchecked-{kind}" for kind in wish.without}
    beyond = (x for x in findings if x.code in UNLOOKED and x.severity is not Severity.INFO)
    return (*(x for x in proof.uncovered if x.code not in asked), *beyond)


def proof_of(limits: MotionLimits, motion: LinearMotion, wish: Wish) -> Certificate | NotCertifiedError:
    """Prove that a motion keeps its limits at every instant, and say how that ended."""
    spread = None
    if limits.parameters is not None and wish.parameter_range > 0.0:
        spread = wish.parameter_range * np.abs(limits.parameters)
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
    """Look at a proven motion by other code, and say how that ended; a disagreement ends the command."""
    if not isinstance(proof, Certificate):
        return None
    look = second_look(limits, motion, proof)
    say(f"   {look}")
    return look
