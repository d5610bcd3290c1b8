"""What the page's scripts draw from: torques and the arm, small enough to mail and true to every extreme."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import torque_error
from steelyard.errors import InputError
from steelyard.inertia import Ellipsoid
from steelyard.report.arm_drawing import ArmDrawing, MassDrawing
from steelyard.report.content import ReportContent, TorqueTrace
from steelyard.report.numerals import percent
from steelyard.report.packing import packed
from steelyard.report.safe_text import visible
from steelyard.report.thinning import thinned
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Sphere

MOST_POINTS = 4000
"""Samples kept of one joint's torque along one motion."""
ALL_POINTS = 70_000
"""Samples kept on a page, so that many joints and motions do not make it heavy."""
FEWEST_POINTS = 200


def plot_data(content: ReportContent) -> dict[str, Any]:
    """The numbers behind the drawings of a report.

    Args:
        content: what the report says.

    Returns:
        Values JSON can hold; long series are little-endian 32-bit floats in base 64.
    """
    lines = max(len(content.traces) * len(content.joints), 1)
    most = min(max(ALL_POINTS // lines, FEWEST_POINTS), MOST_POINTS)
    return {
        "joints": [visible(joint) for joint in content.joints],
        "units": list(content.units),
        "motions": [_motion(trace, most) for trace in content.traces],
        "arm": None if content.arm is None else _arm(content.arm),
    }


def _motion(trace: TorqueTrace, most: int) -> dict[str, Any]:
    columns = zip(trace.measured.T, trace.predicted.T, strict=True)
    return {
        "start": float(trace.time[0]),
        "end": float(trace.time[-1]),
        "errors": [percent(error) for error in torque_error(trace.measured, trace.predicted).joints],
        "series": [_series(trace.time, tau, tau_hat, most) for tau, tau_hat in columns],
    }


def _series(time: Array, tau: Array, tau_hat: Array, most: int) -> dict[str, str]:
    kept = thinned(np.column_stack((tau, tau_hat, tau - tau_hat)), most)
    # The difference is formed before rounding: of two large torques it would lose its digits. Time counts
    # from the start for the same reason: stamps may be seconds since 1970.
    return {
        "time": packed(time[kept] - time[0]),
        "measured": packed(tau[kept]),
        "predicted": packed(tau_hat[kept]),
        "difference": packed((tau - tau_hat)[kept]),
    }


def _arm(arm: ArmDrawing) -> dict[str, Any]:
    return {
        "time": packed(arm.time - arm.time[0]),
        "frames": packed(arm.frames[:, :, :3, :]),
        "links": [
            {
                "name": visible(link.name),
                "parent": link.parent,
                "tip": None if link.tip is None else link.tip.tolist(),
                "shapes": [_shape(item) for item in link.shapes],
                "nominal": _ellipsoid(link.nominal),
                "estimated": _ellipsoid(link.estimated),
            }
            for link in arm.links
        ],
    }


def _shape(item: Geometry) -> dict[str, Any]:
    match item.shape:
        case Box(x, y, z):
            kind, size = "box", [x, y, z]
        case Sphere(radius):
            kind, size = "sphere", [radius]
        case Cylinder(radius, length):
            kind, size = "cylinder", [radius, length]
        case Capsule(radius, length):
            kind, size = "capsule", [radius, length]
        case MeshFile(file):
            raise InputError(f"the mesh '{file}' cannot be drawn.", place="arm", remedy="Leave meshes out.")
    return {"kind": kind, "pose": item.pose.matrix[:3].ravel().tolist(), "size": size}


def _ellipsoid(mass: MassDrawing | None) -> list[float] | None:
    """The matrix that makes the ellipsoid of the unit ball, row by row."""
    ellipsoid: Ellipsoid | None = None if mass is None else mass.ellipsoid
    if ellipsoid is None:
        return None
    matrix = ellipsoid.pose.matrix[:3]
    matrix[:, :3] *= ellipsoid.semi_axes
    return [float(x) for x in matrix.ravel()]
