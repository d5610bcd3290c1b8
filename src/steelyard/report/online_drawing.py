"""What is drawn of a run: the arm in its tube, joints against their limits, and the smallest distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.limits import MotionLimits
from steelyard.report.motion_curves import ClearanceCurve, JointCurves
from steelyard.report.motion_sampling import clearance_curve
from steelyard.report.motion_skeleton import Skeleton, skeleton_of
from steelyard.report.online_content import OnlineContent
from steelyard.report.online_tube import ToolTube, tool_tube

PICTURES = 25.0
"""Pictures of the arm, and instants at which distances are measured, Hz."""
MOST_PICTURES = 1500
_MILLI = 1e3


@dataclass(frozen=True, eq=False)
class OnlineDrawing:
    """Pictures and curves of a run.

    Attributes:
        skeleton: the arm.
        tube: what the tube is at the tool, at the instants of the skeleton.
        limited: quantities of the joints that have limits, at all samples.
        errors: of the joints, in thousandths, against what the tube allows them.
        clearance: the distances that were kept at the instants of the skeleton; None where none must be.
    """

    skeleton: Skeleton
    tube: ToolTube
    limited: tuple[JointCurves, ...]
    errors: tuple[JointCurves, ...]
    clearance: ClearanceCurve | None


def drawing_of(content: OnlineContent) -> OnlineDrawing:
    """Place the arm, and measure what is drawn.

    Args:
        content: what the page says.

    Returns:
        The drawing.
    """
    head = content.head
    end = float(content.time[-1])
    times = np.linspace(0.0, end, min(max(round(PICTURES * end), 2), MOST_PICTURES) + 1)
    q, q_ref = (_at(times, content.time, samples) for samples in (content.q, content.q_ref))
    apart = head.clearance
    limits = None if apart is None else MotionLimits(apart.robot, apart, distance=head.distance)
    return OnlineDrawing(
        skeleton=skeleton_of(head.robot, times, q, head.clearance),
        tube=tool_tube(head.robot, q, q_ref, head.position_bound),
        limited=_limited(content),
        errors=_errors(content),
        clearance=None if limits is None else clearance_curve(limits, times, q),
    )


def _at(times: Array, time: Array, samples: Array) -> Array:
    """What was sampled, on straight lines between the samples."""
    return np.column_stack([np.interp(times, time, column) for column in samples.T])


def _limited(content: OnlineContent) -> tuple[JointCurves, ...]:
    robot, effort = content.head.robot, content.head.effort
    length = tuple(joint.position_unit for joint in robot.joints)
    speed = tuple(f"{unit}/s" for unit in length)
    v_max = robot.limit_array("velocity")
    return (
        JointCurves("position", length, content.q, robot.limit_array("lower"), robot.limit_array("upper")),
        JointCurves("velocity", speed, content.v, -v_max, v_max),
        JointCurves(
            "torque", tuple(joint.effort_unit for joint in robot.joints), content.tau, -effort, effort
        ),
    )


def _errors(content: OnlineContent) -> tuple[JointCurves, ...]:
    # The tube holds both errors in balls, so each joint's stays below the same number.
    return tuple(
        JointCurves(
            f"{name} error",
            tuple(f"m{joint.position_unit}{rate}" for joint in content.head.robot.joints),
            _MILLI * error,
            np.full(error.shape[1], -_MILLI * bound),
            np.full(error.shape[1], _MILLI * bound),
        )
        for name, rate, error, bound in (
            ("position", "", content.q_ref - content.q, content.head.position_bound),
            ("velocity", "/s", content.v_ref - content.v, 2.0 * content.head.tube_radius),
        )
    )
