"""The content of a motion's page from the objects of the line: robot, motion, limits and certificate."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import DescriptionError, InputError
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout, layout_of
from steelyard.limits import Certificate, MotionLimits, NotCertifiedError, violations
from steelyard.motion import SmoothMotion
from steelyard.report.motion_content import MotionContent, SearchRecord
from steelyard.report.motion_proof import proof_of
from steelyard.report.motion_sampling import clearance_curve, joint_curves
from steelyard.report.motion_skeleton import skeleton_of
from steelyard.robot import Robot

RATE = 200.0
"""Samples of the curves, Hz."""
MOST_SAMPLES = 20_000
PICTURES = 25.0
"""Pictures of the arm, Hz."""
MOST_PICTURES = 1500


def motion_content_of(
    robot: Robot,
    motion: SmoothMotion,
    *,
    limits: MotionLimits | None = None,
    proof: Certificate | NotCertifiedError | None = None,
    uncovered: Sequence[Finding] | None = None,
    looked: str = "",
    search: SearchRecord | None = None,
    findings: Sequence[Finding] = (),
    made: str = "",
) -> MotionContent:
    """Gather what the page of a motion says.

    The motion is sampled, its torques are predicted, distances measured and the arm placed. Position,
    velocity and acceleration are enclosed besides, so that no peak hides between samples.

    Args:
        robot: an arm, whose limits are drawn.
        motion: the motion of its joints.
        limits: what the motion must respect, for that robot or for the same one with some limits lifted:
            those are drawn too, and said not to count. None for the limits of the joints alone.
        proof: the certificate of the motion within those limits, or the error that was raised instead.
        uncovered: what could hit or overload and is not part of the proof; None for what that says itself.
        looked: what other code saw of the motion, in a sentence.
        search: how the motion was found.
        findings: what was noticed besides what the limits say, oldest first.
        made: when and by whom the page is made.

    Returns:
        The content.

    Raises:
        InputError: the motion, the limits or the certificate belong to another robot or motion.
    """
    robot.require_arm()
    counted = limits or MotionLimits(robot)
    _check_belonging(robot, motion, counted, proof)
    time = _times(motion.duration, RATE, MOST_SAMPLES)
    at = motion.sample(time)
    noticed = [*findings, *counted.findings]
    layout, phi = counted.layout, counted.parameters
    model = "the model the limits are judged with"
    if layout is None or phi is None:
        layout, phi, model = *_nominal(robot, noticed), "the description’s inertias, without friction"
    tau = None if phi is None else inverse_dynamics(robot, layout, phi, at.q, at.v, at.a)
    margins = counted.margins(at.q, at.v, at.a)
    broken = _gravest_first(violations(counted, margins, time), margins.clearance.min(axis=0))
    lifted = MotionLimits(robot, None, layout if phi is not None else None, phi)
    known = {(finding.code, finding.place) for finding in broken}
    for finding in violations(lifted, lifted.margins(at.q, at.v, at.a), time):
        if (finding.code, finding.place) not in known:
            noticed.append(replace(finding, severity=Severity.WARNING, code=f"lifted-{finding.code}"))
    pictures = _times(motion.duration, PICTURES, MOST_PICTURES)
    return MotionContent(
        robot=robot.name,
        digest=robot.digest,
        motion=motion.digest,
        joints=robot.joint_names,
        time=time,
        curves=joint_curves(
            robot, motion, at, tau, counted, proof if isinstance(proof, Certificate) else None
        ),
        torque_model="" if tau is None else f"Torques are those of {model}.",
        clearance=clearance_curve(counted, time, at.q),
        skeleton=skeleton_of(robot, pictures, motion.sample(pictures).q, counted.clearance),
        proof=None if proof is None else proof_of(proof, uncovered, looked),
        search=search,
        broken=broken,
        findings=tuple(noticed),
        versions={
            "steelyard": version("steelyard"),
            "numpy": version("numpy"),
            "python": platform.python_version(),
        },
        made=made,
    )


def _check_belonging(
    robot: Robot, motion: SmoothMotion, limits: MotionLimits, proof: Certificate | NotCertifiedError | None
) -> None:
    for place, joints in (("motion", motion.joints), ("limits", limits.robot.joint_names)):
        if joints != robot.joint_names:
            raise InputError(
                f"has the joints {list(joints)}, the robot {list(robot.joint_names)}.", place=place
            )
    if isinstance(proof, Certificate):
        if proof.motion != motion.digest:
            raise InputError("certifies another motion.", place="proof", remedy="Certify this one.")
        layout, clearance = limits.layout, limits.clearance
        given = proof.assumptions
        pairs = {margin.name for margin in proof.margins if margin.kind == "clearance"}
        if (
            proof.robot != limits.robot.digest
            or given.distance != limits.distance
            or given.parameters != (() if layout is None else layout.names)
            or pairs != set(() if clearance is None else clearance.names)
        ):
            raise InputError("rests on other limits.", place="proof", remedy="Certify within these limits.")


def _gravest_first(broken: Sequence[Finding], least: Array) -> tuple[Finding, ...]:
    """Distances before the rest, the smallest first; they are reported in the order of the pairs."""
    apart = [finding for finding in broken if finding.code == "clearance"]
    order = np.argsort(least[least < 0.0], kind="stable")
    return (*(apart[k] for k in order), *(finding for finding in broken if finding.code != "clearance"))


def _times(duration: float, rate: float, most: int) -> Array:
    return np.linspace(0.0, duration, min(max(round(rate * duration), 2), most) + 1)


def _nominal(robot: Robot, noticed: list[Finding]) -> tuple[Layout, Array | None]:
    layout = layout_of(robot)
    try:
        return layout, layout.complete_nominal()
    except DescriptionError as error:
        noticed.append(Finding(Severity.WARNING, "no-torque", f"No torque is drawn: {error.message}"))
        return layout, None
