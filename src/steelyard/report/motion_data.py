"""What the scripts of a motion's page draw from: curves, clearance and the arm, packed."""

from __future__ import annotations

import math
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
    most = min(max(ALL_POINTS // max(len(content.joints), 1), FEWEST_POINTS), MOST_POINTS)
    return {
        "duration": float(content.time[-1]),
        "joints": [_joint(content, j, most) for j in range(len(content.joints))],
        "clearance": None if content.clearance is None else _clearance(content.time, content.clearance),
        "search": None if content.search is None else _search(content.search),
        "skeleton": None if content.skeleton is None else _skeleton(content.skeleton),
    }


def _joint(content: MotionContent, j: int, most: int) -> dict[str, Any]:
    if not content.curves:
        return {"title": visible(content.joints[j]), "time": packed(content.time[:0]), "areas": []}
    kept = thinned(np.column_stack([curves.values[:, j] for curves in content.curves]), most)
    return {
        "title": visible(content.joints[j]),
        "time": packed(content.time[kept]),
        "areas": [_area(curves, j, curves.values[kept, j]) for curves in content.curves],
    }


def _area(curves: JointCurves, j: int, values: Array) -> dict[str, Any]:
    area: dict[str, Any] = {
        "name": curves.name,
        "unit": visible(curves.units[j]),
        "values": packed(values),
        "lower": _number(curves.lower[j]),
        "upper": _number(curves.upper[j]),
        "counted": curves.counted,
    }
    band = curves.proven
    if band is not None and np.isfinite(band.lower[:, j]).all() and np.isfinite(band.upper[:, j]).all():
        # Rounded outwards: to 32 bits, a bound must not come to lie inside of what it bounds.
        area["proven"] = {
            "edges": packed(band.edges),
            "lower": packed(_outwards(band.lower[:, j], -np.inf)),
            "upper": packed(_outwards(band.upper[:, j], np.inf)),
        }
    return area


def _clearance(time: Array, curve: ClearanceCurve) -> dict[str, Any]:
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


def _skeleton(skeleton: Skeleton) -> dict[str, Any]:
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


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _outwards(values: Array, side: float) -> Array:
    rounded = values.astype(np.float32)
    beyond = np.nextafter(rounded, np.float32(side))
    wrong = rounded.astype(np.float64) > values if side < 0.0 else rounded.astype(np.float64) < values
    return np.where(wrong, beyond, rounded)
