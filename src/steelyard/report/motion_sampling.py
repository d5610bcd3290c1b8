"""The curves of a motion from robot, motion and limits."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.limits import Certificate, MotionLimits
from steelyard.motion import MotionSample, SmoothMotion, enclose
from steelyard.report.motion_curves import ClearanceCurve, JointCurves, ProvenBand
from steelyard.robot import Robot

STRETCHES = 20.0
"""Stretches of time on which the motion is enclosed, Hz."""
MOST_STRETCHES = 400


def joint_curves(
    robot: Robot,
    motion: SmoothMotion,
    at: MotionSample,
    torque: Array | None,
    limits: MotionLimits,
    certificate: Certificate | None,
) -> tuple[JointCurves, ...]:
    """Position, velocity, acceleration and torque of every joint, against what the robot states.

    Args:
        robot: an arm, whose limits are drawn.
        motion: the motion of its joints.
        at: the motion at its samples.
        torque: at the same samples, shape (N, nv), N·m or N; None where it is not known.
        limits: what the motion must respect.
        certificate: what is proven of the motion within those limits; None for nothing.

    Returns:
        The curves. A kind of limit counts where all of it is the same in `limits` as the robot states it.
    """
    stretches = min(max(round(STRETCHES * motion.duration), 2), MOST_STRETCHES)
    within = enclose(motion, np.linspace(0.0, motion.duration, stretches + 1))
    curves = []
    for letter, name, rate in (("q", "position", ""), ("v", "velocity", "/s"), ("a", "acceleration", "/s²")):
        lower, upper, counted = _limits(robot, limits.robot, name)
        band = ProvenBand(within.edges, getattr(within.lower, letter), getattr(within.upper, letter))
        units = tuple(joint.position_unit + rate for joint in robot.joints)
        curves.append(JointCurves(name, units, getattr(at, letter), lower, upper, band, counted))
    if torque is not None:
        lower, upper, counted = _limits(robot, limits.robot, "effort")
        units = tuple(joint.effort_unit for joint in robot.joints)
        known = counted and limits.layout is not None
        proven = _proven_torque(certificate, limits) if certificate is not None and known else None
        curves.append(JointCurves("torque", units, torque, lower, upper, proven, known))
    return tuple(curves)


def _limits(robot: Robot, judged: Robot, name: str) -> tuple[Array, Array, bool]:
    """The limits the robot states, and whether those that are judged are the same."""
    sides = ("lower", "upper") if name == "position" else (name, name)
    lower, upper = (robot.limit_array(side) for side in sides)
    same = all(np.array_equal(judged.limit_array(side), robot.limit_array(side)) for side in sides)
    return (lower if name == "position" else -lower), upper, same


def _proven_torque(certificate: Certificate, limits: MotionLimits) -> ProvenBand:
    """The margin left of each limit bounds the torque over the whole motion."""
    left = {margin.name: margin.margin for margin in certificate.margins if margin.kind == "torque"}
    effort = limits.robot.limit_array("effort")
    reach = np.array([e - left.get(n, 0.0) for n, e in zip(limits.robot.joint_names, effort, strict=True)])
    return ProvenBand(np.array([0.0, certificate.duration]), -reach[None], reach[None])


def clearance_curve(limits: MotionLimits, time: Array, q: Array) -> ClearanceCurve | None:
    """Measure every distance at the samples of a motion.

    Args:
        limits: with the clearance to measure.
        time: of the samples, shape (N,), s.
        q: joint positions, shape (N, nv), rad or m.

    Returns:
        The smallest of them; None where nothing is kept apart.
    """
    if limits.clearance is None or not limits.clearance.pairs:
        return None
    distances = limits.clearance.distances(q)
    return ClearanceCurve(
        pairs=limits.clearance.names,
        smallest=distances.min(axis=1),
        nearest=distances.argmin(axis=1),
        closest=distances.min(axis=0),
        when=time[distances.argmin(axis=0)],
        required=limits.distance,
    )
