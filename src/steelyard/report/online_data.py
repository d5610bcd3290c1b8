"""What the scripts of a learning robot's page draw from, packed: the same shapes live and afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.report.motion_data import (
    MOST_POINTS,
    TALL,
    clearance_data,
    joint_data,
    number_or_none,
    outwards,
    skeleton_data,
)
from steelyard.report.motion_skeleton import OutlineKind, Skeleton
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_drawing import OnlineDrawing
from steelyard.report.online_gauges import gauge_data, gauge_names
from steelyard.report.online_words import move_words, number_words
from steelyard.report.packing import packed
from steelyard.report.safe_text import unit_words
from steelyard.report.thinning import thinned

ROOM = 1.25
"""How much larger than what is known beforehand a live drawing is."""
NEAR = 1.3
"""How much larger than the arm a drawing becomes for what stands around it."""
_MILLI = 1e3


def online_data(content: OnlineContent, drawing: OnlineDrawing) -> dict[str, Any]:
    """The numbers behind the drawings of a run's page.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        Values JSON can hold; long series are little-endian 32-bit floats in base 64.
    """
    head = content.head
    skeleton, tube, apart = drawing.skeleton, drawing.tube, drawing.clearance
    kept = thinned(content.r_norm[:, None], MOST_POINTS)
    since = [known.time for known in content.knowledge]
    lower, upper = (
        np.array([getattr(known.box, end) for known in content.knowledge]) for end in ("lower", "upper")
    )
    return {
        "live": False,
        "duration": content.duration,
        "skeleton": {
            **skeleton_data(skeleton),
            "extent": _extent(skeleton),
            "tube": {
                "path": packed(tube.reference),
                "offsets": packed(tube.offset),
                "radius": packed(tube.radius),
            },
        },
        "gauges": gauge_data(content),
        "tracking": _tracking(head, packed(content.time[kept]), packed(_MILLI * content.r_norm[kept])),
        "bounds": [
            _bound(
                head,
                k,
                packed(np.array([0.0, content.duration])),
                {
                    "edges": packed(np.array([*since, content.duration])),
                    "lower": packed(outwards(lower[:, k], -np.inf)),
                    "upper": packed(outwards(upper[:, k], np.inf)),
                },
            )
            for k in range(len(PARAMETER_NAMES))
        ],
        "clearance": None if apart is None else clearance_data(skeleton.time, apart),
        "joints": joint_data(content.time, head.robot.joint_names, (*drawing.limited, *drawing.errors)),
        "moves": [
            {"start": start, "told": f"{move_words(content.moves, k)}, {start:.2f} to {end:.2f} s"}
            for k, (start, end) in enumerate(map(content.span, content.moves))
        ],
    }


def live_data(head: OnlineHead, skeleton: Skeleton) -> dict[str, Any]:
    """What is drawn before anything has happened, for a page that is told the rest.

    Args:
        head: what can be said beforehand.
        skeleton: the arm before it moves.

    Returns:
        Values JSON can hold.
    """
    middle, radius = _extent(skeleton).values()
    limits = zip(head.prior.lower.tolist(), head.prior.upper.tolist(), strict=True)
    return {
        "live": True,
        "duration": 1.0,
        "skeleton": {**skeleton_data(skeleton), "extent": {"middle": middle, "radius": ROOM * radius}},
        "gauges": [{"name": name} for name in gauge_names(head)],
        "tracking": _tracking(head, [0.0, 1.0], [0.0, 0.0]),
        "bounds": [
            _bound(
                head,
                k,
                [0.0, 1.0],
                {"edges": [0.0, 1.0], "lower": [number_or_none(low)], "upper": [number_or_none(high)]},
            )
            for k, (low, high) in enumerate(limits)
        ],
    }


def _tracking(head: OnlineHead, time: object, values: object) -> dict[str, Any]:
    area = {
        "name": "‖r‖",
        "unit": "mrad/s" if all(j.position_unit == "rad" for j in head.robot.joints) else "10⁻³",
        "values": values,
        "lower": 0.0,
        "upper": _MILLI * head.tube_radius,
        "counted": True,
        "height": TALL,
    }
    return {"title": "Tracking error in its tube", "time": time, "areas": [area]}


def _bound(head: OnlineHead, k: int, time: object, band: dict[str, Any]) -> dict[str, Any]:
    truth = None if head.truth is None else float(head.truth[k])
    constant: object = None
    if truth is not None:
        constant = packed(np.array([truth, truth])) if isinstance(time, str) else [truth, truth]
    area = {
        "name": "",
        "unit": unit_words(PARAMETER_UNITS[k]),
        "values": constant,
        "truth": truth,
        "proven": band,
        "between": True,
        "lower": None,
        "upper": None,
        "counted": True,
    }
    return {"title": number_words(PARAMETER_NAMES[k]), "time": time, "areas": [area], "steps": False}


def _extent(skeleton: Skeleton) -> dict[str, Any]:
    """A ball around the arm at all instants, and around what stands near it."""
    tips: Array = skeleton.frames[:, skeleton.tip, :3, :3] @ skeleton.tip_point
    tips = tips + skeleton.frames[:, skeleton.tip, :3, 3]
    arm = np.concatenate((skeleton.frames[:, :, :3, 3].reshape(-1, 3), tips))
    low, high = arm.min(axis=0), arm.max(axis=0)
    middle, radius = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) or 1.0
    around = [outline.points for outline in skeleton.outlines if outline.kind is OutlineKind.SCENE]
    if around:
        farthest = float(np.linalg.norm(np.concatenate(around) - middle, axis=1).max())
        radius = min(max(radius, farthest), NEAR * radius)
    return {"middle": middle.tolist(), "radius": radius}
