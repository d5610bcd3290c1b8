"""What the scripts of a motion's page draw from: curves, clearance and the arm, packed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.report.motion_content import MotionContent, SearchRecord
from steelyard.report.motion_curves import ClearanceCurve, JointCurves
from steelyard.report.motion_skeleton import Skeleton
from steelyard.report.packing import packed
from steelyard.report.safe_text import visible
from steelyard.report.thinning import thinned

ALL_POINTS = 15_000
"""Samples kept of all joints."""
MOST_POINTS = 3200
"""Samples kept of one joint, and of the clearance."""
FEWEST_POINTS = 200
TALL = 130
"""Height of a curve that stands alone, pixels."""
_MILLI = 1e3


def motion_data(content: MotionContent) -> dict[str, Any]:
    """The numbers behind the drawings of a motion's page.

    Args:
        content: what the page says.

    Returns:
        Values JSON can hold; long series are little-endian 32-bit floats in base 64.
    """
    return {
        "duration": float(content.time[-1]),
        "joints": joint_data(content.time, content.joints, content.curves),
        "clearance": None if content.clearance is None else clearance_data(content.time, content.clearance),
        "search": None if content.search is None else _search(content.search),
        "skeleton": None if content.skeleton is None else skeleton_data(content.skeleton),
    }


def joint_data(time: Array, joints: Sequence[str], curves: Sequence[JointCurves]) -> list[dict[str, Any]]:
    """The curves of every joint, thinned.

    Args:
        time: of all samples, shape (N,), s.
        joints: names of the joints.
        curves: one quantity each, of all joints.

    Returns:
        One figure for each joint.
    """
    most = min(max(ALL_POINTS // max(len(joints), 1), FEWEST_POINTS), MOST_POINTS)
    figures = []
    for j, joint in enumerate(joints):
        values = [drawn.values[:, j] for drawn in curves]
        kept = thinned(np.column_stack(values), most) if curves else np.arange(0)
        areas = [_area(drawn, j, drawn.values[kept, j]) for drawn in curves]
        figures.append({"title": visible(joint), "time": packed(time[kept]), "areas": areas})
    return figures


def _area(curves: JointCurves, j: int, values: Array) -> dict[str, Any]:
    area: dict[str, Any] = {
        "name": curves.name,
        "unit": visible(curves.units[j]),
        "values": packed(values),
        "lower": number_or_none(curves.lower[j]),
        "upper": number_or_none(curves.upper[j]),
        "counted": curves.counted,
    }
    band = curves.proven
    if band is not None and np.isfinite(band.lower[:, j]).all() and np.isfinite(band.upper[:, j]).all():
        # Rounded outwards: to 32 bits, a bound must not come to lie inside of what it bounds.
        area["proven"] = {
            "edges": packed(band.edges),
            "lower": packed(outwards(band.lower[:, j], -np.inf)),
            "upper": packed(outwards(band.upper[:, j], np.inf)),
        }
    return area


def clearance_data(time: Array, curve: ClearanceCurve) -> dict[str, Any]:
    """The smallest distance over time, and whose it is.

    Args:
        time: of all samples, shape (N,), s.
        curve: the distances then.

    Returns:
        One figure.
    """
    kept = thinned(curve.smallest[:, None], MOST_POINTS)
    area = {
        "name": "distance",
        "unit": "mm",
        "values": packed(_MILLI * curve.smallest[kept]),
        "lower": _MILLI * curve.required,
        "upper": None,
        "counted": True,
        "height": TALL,
    }
    return {
        "title": "Smallest distance",
        "time": packed(time[kept]),
        "areas": [area],
        "nearest": packed(curve.nearest[kept].astype(np.float64)),
        "pairs": [visible(name) for name in curve.pairs],
    }


def _search(record: SearchRecord) -> dict[str, Any] | None:
    known = np.isfinite(record.best)
    if np.count_nonzero(known) < 2 or np.ptp(record.seconds[known]) <= 0.0:
        return None
    seconds = record.seconds[known]
    area = {
        "name": visible(record.criterion),
        "unit": "",
        "values": packed(record.best[known]),
        "lower": None,
        "upper": None,
        "counted": False,
        "height": TALL,
    }
    return {
        "title": f"Best {visible(record.criterion)} so far",
        "time": packed(seconds),
        "areas": [area],
        "steps": True,
    }


def skeleton_data(skeleton: Skeleton) -> dict[str, Any]:
    """The arm at its instants.

    Args:
        skeleton: the arm.

    Returns:
        What the script of the moving arm reads.
    """
    return {
        "time": packed(skeleton.time),
        "frames": packed(skeleton.frames[:, :, :3, :]),
        "links": [
            {
                "name": visible(name),
                "parent": parent,
                "tip": skeleton.tip_point.tolist() if k == skeleton.tip else None,
                "shapes": [],
            }
            for k, (name, parent) in enumerate(zip(skeleton.links, skeleton.parents, strict=True))
        ],
        "outlines": [
            {
                "title": visible(outline.title),
                "kind": outline.kind.value,
                "link": outline.link,
                "points": packed(outline.points),
                "radius": outline.radius,
            }
            for outline in skeleton.outlines
        ],
        "pairs": [list(pair) for pair in skeleton.pairs],
    }


def number_or_none(value: float) -> float | None:
    """A number as JSON can hold it.

    Args:
        value: any unit.

    Returns:
        The number; None where it is not finite.
    """
    return float(value) if math.isfinite(value) else None


def outwards(values: Array, side: float) -> Array:
    """Round bounds to 32 bits so that none comes to lie inside of what it bounds.

    Args:
        values: bounds, any shape, any unit.
        side: minus infinity for lower bounds, infinity for upper ones.

    Returns:
        The rounded bounds, same shape and unit.
    """
    rounded = values.astype(np.float32)
    beyond = np.nextafter(rounded, np.float32(side))
    wrong = rounded.astype(np.float64) > values if side < 0.0 else rounded.astype(np.float64) < values
    return np.where(wrong, beyond, rounded)
