"""The page of a motion: one self-contained HTML file with plots, a moving skeleton and the clearance."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.finding import Severity
from steelyard.limits import ProvenMargin
from steelyard.report.content import SYMBOLS
from steelyard.report.html import Typeset, aligned_numerals, numeral, unit_words, visible_text
from steelyard.report.motion.content import (
    ClearanceCurve,
    JointCurves,
    Measure,
    MotionContent,
    OutlineKind,
    Proof,
    SearchRecord,
    Skeleton,
    motion_verdict,
)
from steelyard.report.page import packed, thinned
from steelyard.report.render import render_page

# What the scripts of a motion's page draw from: curves, clearance and the arm, packed.

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
        figures.append({"title": visible_text(joint), "time": packed(time[kept]), "areas": areas})
    return figures


def _area(curves: JointCurves, j: int, values: Array) -> dict[str, Any]:
    area: dict[str, Any] = {
        "name": curves.name,
        "unit": visible_text(curves.units[j]),
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
        "pairs": [visible_text(name) for name in curve.pairs],
    }


def _search(record: SearchRecord) -> dict[str, Any] | None:
    known = np.isfinite(record.best)
    if np.count_nonzero(known) < 2 or np.ptp(record.seconds[known]) <= 0.0:
        return None
    seconds = record.seconds[known]
    area = {
        "name": visible_text(record.criterion),
        "unit": "",
        "values": packed(record.best[known]),
        "lower": None,
        "upper": None,
        "counted": False,
        "height": TALL,
    }
    return {
        "title": f"Best {visible_text(record.criterion)} so far",
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
                "name": visible_text(name),
                "parent": parent,
                "tip": skeleton.tip_point.tolist() if k == skeleton.tip else None,
                "shapes": [],
            }
            for k, (name, parent) in enumerate(zip(skeleton.links, skeleton.parents, strict=True))
        ],
        "outlines": [
            {
                "title": visible_text(outline.title),
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


# The head of a motion's page: whether to run it, and the figures that matter most.


def _verdict(content: MotionContent) -> dict[str, str]:
    status, headline, why = motion_verdict(content)
    return {"status": status.value, "symbol": SYMBOLS[status], "headline": headline, "why": why}


def _figures(content: MotionContent) -> list[tuple[str, Typeset]]:
    figures = [("duration", _with_unit(f"{content.time[-1]:.6g}", "s"))]
    proven = None if content.proof is None else content.proof.smallest_distance
    if proven is not None:
        figures.append(("smallest distance, proven", _with_unit(numeral(1e3 * proven, digits=3), "mm")))
    elif content.clearance is not None:
        smallest = numeral(1e3 * float(content.clearance.closest.min()), digits=3)
        figures.append(("smallest distance at the samples", _with_unit(smallest, "mm")))
    if content.search is not None:
        figures += [
            (measure.name, _with_unit(numeral(measure.after, digits=3), measure.unit))
            for measure in content.search.measures
        ]
    return figures


def _with_unit(number: str, unit: str) -> Typeset:
    return Typeset(f"{number}\u202f{unit_words(unit)}" if unit else number)


# The motion on its page: the place of the moving arm, of the clearance curve, and the closest pairs.

LISTED = 8
"""Pairs listed, the closest first; the rest are folded away."""
SPEEDS = ("0.1", "0.25", "0.5", "1", "2")


def arm_view(
    skeleton: Skeleton, duration: float | None, more: Mapping[str, str] | None = None
) -> dict[str, object]:
    """What `moving_arm` of `motion_parts.html` tells of a moving arm.

    Args:
        skeleton: the arm.
        duration: how long it can be played, s; None for an arm that is shown as it moves.
        more: layers drawn besides, label by name.

    Returns:
        Plain data by name.
    """
    kinds = {outline.kind for outline in skeleton.outlines}
    labels = {OutlineKind.LINK: "links", OutlineKind.TOOL: "tool", OutlineKind.SCENE: "scene"}
    layers = [(kind.value, label) for kind, label in labels.items() if kind in kinds]
    layers += [("path", "path of the tool"), *(more or {}).items()]
    return {"layers": layers, "duration": duration, "speeds": SPEEDS}


def closest_pairs(curve: ClearanceCurve) -> dict[str, object]:
    """What `clearance` of `motion_parts.html` tells of the distances along a motion.

    Args:
        curve: the smallest distances.

    Returns:
        Plain data by name.
    """
    order = np.argsort(curve.closest, kind="stable")
    distances = aligned_numerals([numeral(1e3 * float(curve.closest[k]), digits=3) for k in order])
    instants = aligned_numerals([f"{curve.when[k]:.2f}" for k in order])
    pairs = [
        {
            "name": curve.pairs[k],
            "broken": bool(curve.closest[k] < curve.required),
            "distance": distance,
            "instant": instant,
        }
        for k, distance, instant in zip(order, distances, instants, strict=True)
    ]
    return {
        "count": len(curve.pairs),
        "required": _with_unit(f"{1e3 * curve.required:g}", "mm"),
        "closest": pairs[:LISTED],
        "others": pairs[LISTED:],
    }


# The joints on a motion's page: how far each one goes, and the place of the curves.

_ZOOMS = (
    ("in", "Zoom in"),
    ("out", "Zoom out"),
    ("earlier", "Earlier"),
    ("later", "Later"),
    ("whole", "Whole motion"),
)


def joint_reach(
    joints: Sequence[str], curves: Sequence[JointCurves], told: str, course: str
) -> dict[str, object]:
    """What `reach` of `motion_parts.html` tells: how far every joint goes.

    Args:
        joints: names of the joints.
        curves: one quantity each, of all joints.
        told: what the table shows.
        course: what a curve is, in a word or two.

    Returns:
        Plain data by name; empty where there are no curves.
    """
    if not curves:
        return {}
    return {
        "told": told,
        "quantities": [drawn.name for drawn in curves],
        "joints": [
            {"name": joint, "cells": [_reach(drawn, j) for drawn in curves]} for j, joint in enumerate(joints)
        ],
        "zooms": _ZOOMS,
        "course": course,
        "proven": any(drawn.proven is not None for drawn in curves),
    }


def _reach(curves: JointCurves, j: int) -> dict[str, object]:
    """The extremes of one joint, and the share of its limit they use."""
    low, high = float(curves.values[:, j].min()), float(curves.values[:, j].max())
    if curves.name == "position":
        extremes = f"{numeral(low, digits=3)} to {numeral(high, digits=3)}"
    else:
        extremes = numeral(max(-low, high), digits=3)
    told = Typeset(f"{extremes}\u202f{unit_words(curves.units[j])}")
    middle = (float(curves.lower[j]) + float(curves.upper[j])) / 2.0
    half = (float(curves.upper[j]) - float(curves.lower[j])) / 2.0
    if not math.isfinite(half) or half <= 0.0:
        return {"extremes": told, "share": "no limit", "over": False}
    share = 100.0 * max(high - middle, middle - low) / half
    return {
        "extremes": told,
        "share": _with_unit(f"{share:.0f}", "%"),
        "over": share > 100.0 and curves.counted,
    }


def _joints(content: MotionContent) -> dict[str, object]:
    words = [
        "How far each joint goes, and what share of its limit that is.",
        *(
            f"Limits of {visible_text(curves.name)} are shown, but do not count."
            for curves in content.curves
            if not curves.counted
        ),
        visible_text(content.torque_model),
    ]
    return joint_reach(content.joints, content.curves, Typeset(" ".join(words)), "reference")


# How a motion was found, on its page: what it is worth, the search over time, and what it is to show.


def _found(record: SearchRecord) -> dict[str, object]:
    compared = any(measure.before is not None for measure in record.measures)
    return {
        "criterion": record.criterion,
        "compared": record.compared if compared else None,
        "measures": [
            {
                "name": measure.name,
                "before": _value(measure, measure.before),
                "after": _value(measure, measure.after),
            }
            for measure in record.measures
        ],
        "columns": record.columns,
        "facts": [(name, _written(value)) for name, value in record.facts.items()],
    }


def _value(measure: Measure, value: float | None) -> Typeset:
    return _with_unit(numeral(value), "" if value is None else measure.unit)


def _written(value: object) -> str:
    document = to_document(value)
    if isinstance(document, float):
        return f"{document:.6g}"
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)


# The last part of a motion's page: what is proven of it, findings, and what it was made from.

_LOUDEST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def _proven(proof: Proof) -> dict[str, object]:
    """What is proven, what is left of each kind of limit, and what the proof rests on."""
    tightest = [
        min((margin for margin in proof.margins if margin.kind == kind), key=lambda margin: margin.margin)
        for kind in dict.fromkeys(margin.kind for margin in proof.margins)
    ]
    return {
        "message": proof.message,
        "tightest": [_margin(margin) for margin in tightest],
        "margins": [_margin(margin) for margin in proof.margins],
        "uncovered": proof.uncovered,
        "assumptions": proof.assumptions,
    }


def _margin(margin: ProvenMargin) -> dict[str, str]:
    millimetres = margin.kind == "clearance"
    left = numeral(1e3 * margin.margin if millimetres else margin.margin, digits=3)
    unit = "mm" if millimetres else unit_words(margin.unit)
    return {
        "limit": margin.kind,
        "name": margin.name,
        "left": Typeset(f"{left}\u202f{unit}"),
        "within": Typeset(f"{margin.start:.2f} … {margin.end:.2f}\u202fs"),
    }


def _record(content: MotionContent) -> list[tuple[str, str]]:
    """Digests, versions and how finely the motion was looked at."""
    rate = (len(content.time) - 1) / float(content.time[-1])
    facts = {
        "robot description": content.digest,
        "motion": content.motion,
        "samples": f"{len(content.time)}, {rate:.4g} per second",
        **content.versions,
    }
    return list(facts.items())


STYLES = ("page.css", "motion_page.css")
SCRIPTS = (
    *("reading.js", "time_window.js", "torque_plots.js", "turning_view.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js", "motion_start.js"),
)


def motion_page(content: MotionContent) -> str:
    """Write the page of one motion, by the template `motion.html`.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    skeleton, clearance = content.skeleton, content.clearance
    told = {
        "robot": content.robot,
        "verdict": _verdict(content),
        "figures": _figures(content),
        "arm": None if skeleton is None else arm_view(skeleton, float(content.time[-1])),
        "clearance": None if clearance is None else closest_pairs(clearance),
        "reach": _joints(content),
        "proof": None if content.proof is None else _proven(content.proof),
        "bounded": [curves.name for curves in content.curves if curves.proven is not None],
        "search": None if content.search is None else _found(content.search),
        "findings": sorted(
            (*content.broken, *content.findings),
            key=lambda finding: _LOUDEST_FIRST.index(finding.severity),
        ),
        "record": _record(content),
    }
    headings = {
        "verdict": "Verdict",
        "motion": "The motion",
        **({"joints": "Joints"} if told["reach"] else {}),
        "proof": "Proof",
        **({"search": "Search"} if told["search"] else {}),
        "findings": "Findings",
        "record": "Record",
    }
    return render_page(
        "motion.html",
        f"{content.robot}: motion",
        headings,
        told,
        motion_data(content),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
