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
from steelyard.report.html import aligned_numerals, marked_up, numeral, unit_text, visible_text
from steelyard.report.motion.content import (
    ClearanceCurve,
    JointCurves,
    Measure,
    MotionContent,
    OutlineKind,
    SearchRecord,
    Skeleton,
    motion_verdict,
)
from steelyard.report.page import packed, page, thinned

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


def motion_opening(content: MotionContent) -> str:
    """Robot, verdict and the figures that matter most.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    status, headline, why = motion_verdict(content)
    listed = "".join(f"<div><dt>{label}</dt><dd>{figure}</dd></div>" for label, figure in _figures(content))
    return (
        f'<p class="eyebrow">A motion of</p>\n<h1><bdi>{marked_up(content.robot)}</bdi></h1>\n'
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{headline}</strong> {marked_up(why)}</span></p>\n"
        f'<dl class="figures">{listed}</dl>\n'
    )


def _figures(content: MotionContent) -> list[tuple[str, str]]:
    figures = [("duration", f"{content.time[-1]:.6g}\u202fs")]
    proven = None if content.proof is None else content.proof.smallest_distance
    if proven is not None:
        figures.append(("smallest distance, proven", f"{numeral(1e3 * proven, digits=3)}\u202fmm"))
    elif content.clearance is not None:
        smallest = numeral(1e3 * float(content.clearance.closest.min()), digits=3)
        figures.append(("smallest distance at the samples", f"{smallest}\u202fmm"))
    if content.search is not None:
        for measure in content.search.measures:
            unit = f"\u202f{unit_text(measure.unit)}" if measure.unit else ""
            figures.append((marked_up(measure.name), f"{numeral(measure.after, digits=3)}{unit}"))
    return figures


# The motion on its page: the place of the moving arm, of the clearance curve, and the closest pairs.

LISTED = 8
"""Pairs listed, the closest first; the rest are folded away."""
SPEEDS = ("0.1", "0.25", "0.5", "1", "2")


def view_section(content: MotionContent) -> str:
    """The place of the moving arm and of the clearance curve, and the closest pairs.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there is neither arm nor clearance.
    """
    view = "" if content.skeleton is None else moving_arm(content.skeleton, float(content.time[-1]))
    return view + clearance_part(content.clearance)


def moving_arm(skeleton: Skeleton, duration: float | None, more: Mapping[str, str] | None = None) -> str:
    """The place of a moving arm and of what plays, turns and strips it.

    Args:
        skeleton: the arm.
        duration: how long it can be played, s; None for an arm that is shown as it moves.
        more: layers drawn besides, label by name.

    Returns:
        HTML.
    """
    kinds = {outline.kind for outline in skeleton.outlines}
    layers = [
        (OutlineKind.LINK, "links", OutlineKind.LINK in kinds),
        (OutlineKind.TOOL, "tool", OutlineKind.TOOL in kinds),
        (OutlineKind.SCENE, "scene", OutlineKind.SCENE in kinds),
        ("path", "path of the tool", True),
        *((name, label, True) for name, label in (more or {}).items()),
    ]
    boxes = "".join(
        f'<label><input type="checkbox" data-layer="{name}" checked>'
        f'<span class="swatch {name}"></span>{label}</label>'
        for name, label, present in layers
        if present
    )
    played = duration is not None
    keys = ", space plays and pauses" if played else ""
    clicks = " A click on a curve shows the arm at that time." if played else ""
    return (
        "<p>Drag to turn the arm, or focus the drawing and use the arrow keys; + and − change its size"
        f"{keys}.{clicks}</p>\n"
        '<div id="motion-view" tabindex="0" role="group" aria-label="Drawing of the arm. Arrow keys turn it, '
        f'plus and minus change its size, Home resets it{keys}."></div>\n'
        "<noscript><p>The drawing needs scripts, which are off.</p></noscript>\n"
        f"{'' if duration is None else _player(duration)}"
        f'<div class="controls" id="view-controls" hidden>{boxes}'
        '<button type="button" id="view-reset">Reset view</button></div>\n'
    )


def _player(duration: float) -> str:
    speeds = "".join(
        f'<option value="{speed}"{" selected" if speed == "1" else ""}>{speed}\u202f×</option>'
        for speed in SPEEDS
    )
    return (
        '<div class="controls player" id="player" hidden>'
        '<button type="button" id="play">Play</button>'
        f'<input id="moment" type="range" min="0" max="{duration!r}" step="any" value="0" aria-label="Time">'
        '<output id="moment-time" for="moment"></output>'
        f'<label>Speed <select id="speed">{speeds}</select></label>'
        '<label><input type="checkbox" id="repeat">repeat</label></div>\n'
    )


def clearance_part(curve: ClearanceCurve | None) -> str:
    """The place of the clearance curve, and the closest pairs.

    Args:
        curve: the smallest distances; None where none were measured.

    Returns:
        HTML.
    """
    if curve is None:
        return '<p class="quiet">No distances were measured.</p>\n'
    return (
        f"<h3>Clearance</h3>\n<p>The smallest of {len(curve.pairs)} distances at each instant. At least "
        f"{1e3 * curve.required:g}\u202fmm is required.</p>\n"
        '<div id="clearance-plot"></div>\n<p id="nearest" class="nearest" aria-live="off"></p>\n'
        f"{_closest_table(curve)}"
    )


def _closest_table(curve: ClearanceCurve) -> str:
    order = np.argsort(curve.closest, kind="stable")
    distances = aligned_numerals([numeral(1e3 * float(curve.closest[k]), digits=3) for k in order])
    instants = aligned_numerals([f"{curve.when[k]:.2f}" for k in order])
    rows = [
        f"<tr{' class=broken' if curve.closest[k] < curve.required else ''}>"
        f'<th scope="row"><bdi>{marked_up(curve.pairs[k])}</bdi></th>'
        f'<td data-label="smallest distance, mm">{distance}</td>'
        f'<td data-label="at, s">{instant}</td></tr>'
        for k, distance, instant in zip(order, distances, instants, strict=True)
    ]
    head = (
        '<thead><tr><th scope="col">pair</th><th scope="col">smallest distance, mm</th>'
        '<th scope="col">at, s</th></tr></thead>\n'
    )
    table = f'<table class="pairs stack">{head}<tbody>{"".join(rows[:LISTED])}</tbody></table>\n'
    if len(rows) <= LISTED:
        return table
    rest = f'<table class="pairs stack">{head}<tbody>{"".join(rows[LISTED:])}</tbody></table>'
    return f"{table}<details><summary>{len(rows) - LISTED} more pairs</summary>{rest}</details>\n"


# The joints on a motion's page: how far each one goes, and the place of the curves.

_ZOOMS = (
    ("in", "Zoom in"),
    ("out", "Zoom out"),
    ("earlier", "Earlier"),
    ("later", "Later"),
    ("whole", "Whole motion"),
)


def motion_joint_section(content: MotionContent) -> str:
    """How far every joint goes, and the place of the curves.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there are no curves.
    """
    aside = [
        f"Limits of {marked_up(curves.name)} are shown, but do not count."
        for curves in content.curves
        if not curves.counted
    ]
    told = " ".join(
        [
            "How far each joint goes, and what share of its limit that is.",
            *aside,
            marked_up(content.torque_model),
        ]
    )
    return reach_and_curves(content.joints, content.curves, told, "reference")


def reach_and_curves(joints: Sequence[str], curves: Sequence[JointCurves], told: str, course: str) -> str:
    """How far every joint goes, and the place of the curves.

    Args:
        joints: names of the joints.
        curves: one quantity each, of all joints.
        told: what the table shows, as HTML.
        course: what a curve is, in a word or two.

    Returns:
        HTML; empty where there are no curves.
    """
    if not curves:
        return ""
    heads = "".join(f'<th scope="col">{marked_up(drawn.name)}</th>' for drawn in curves)
    rows = "\n".join(
        f'<tr><th scope="row"><bdi>{marked_up(joint)}</bdi></th>'
        + "".join(f'<td data-label="{marked_up(drawn.name)}">{_reach(drawn, j)}</td>' for drawn in curves)
        + "</tr>"
        for j, joint in enumerate(joints)
    )
    proven = any(drawn.proven is not None for drawn in curves)
    return (
        f'<p>{told}</p>\n<div class="scroll" tabindex="0" role="region" aria-label="Reach by joint">'
        f'<table class="reach stack"><thead><tr><th scope="col">joint</th>{heads}</tr></thead>\n'
        f'<tbody>{rows}</tbody></table></div>\n{_controls(course, proven)}<div id="joint-plots"></div>\n'
        "<noscript><p>The curves need scripts, which are off.</p></noscript>\n"
    )


def _controls(course: str, proven: bool) -> str:
    buttons = "".join(
        f'<button type="button" data-zoom="{action}">{label}</button>' for action, label in _ZOOMS
    )
    band = '<span><span class="swatch proven"></span>proven bounds</span> ' if proven else ""
    return (
        f'<div class="controls sticky" id="plot-controls" hidden><div class="buttons">{buttons}</div>'
        '<output id="plot-range"></output>'
        '<label><input type="checkbox" id="fit-curves">scale to the curves</label>'
        f'<p class="key"><span><span class="line course"></span>{course}</span> {band}'
        '<span><span class="swatch allowed"></span>within limits</span></p></div>\n'
    )


def _reach(curves: JointCurves, j: int) -> str:
    """The extremes of one joint, and the share of its limit they use."""
    low, high = float(curves.values[:, j].min()), float(curves.values[:, j].max())
    unit = unit_text(curves.units[j])
    if curves.name == "position":
        text = f"{numeral(low, digits=3)} to {numeral(high, digits=3)}\u202f{unit}"
    else:
        text = f"{numeral(max(-low, high), digits=3)}\u202f{unit}"
    middle = (float(curves.lower[j]) + float(curves.upper[j])) / 2.0
    half = (float(curves.upper[j]) - float(curves.lower[j])) / 2.0
    if not math.isfinite(half) or half <= 0.0:
        return f'<span>{text}<span class="share">no limit</span></span>'
    share = 100.0 * max(high - middle, middle - low) / half
    over = " over" if share > 100.0 and curves.counted else ""
    return f'<span>{text}<span class="share{over}">{share:.0f}\u202f%</span></span>'


# How a motion was found, on its page: what it is worth, the search over time, and what it is to show.


def search_section(content: MotionContent) -> str:
    """What the motion is worth, and how it was found.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where nothing is known of the search.
    """
    record = content.search
    if record is None:
        return ""
    facts = "".join(
        f"<div><dt>{marked_up(name)}</dt><dd>{marked_up(_written(value))}</dd></div>"
        for name, value in record.facts.items()
    )
    columns = "".join(f"<li><code>{marked_up(name)}</code></li>" for name in record.columns)
    shown = (
        f"<details><summary>{len(record.columns)} columns the motion is judged by</summary>"
        f'<ul class="columns">{columns}</ul></details>\n'
        if columns
        else ""
    )
    return (
        f"<p>Sought by <strong>{marked_up(record.criterion)}</strong>.</p>\n"
        f"{_measures(record)}"
        '<div id="search-plot"></div>\n'
        f"{shown}" + (f'<dl class="facts">{facts}</dl>\n' if facts else "")
    )


def _measures(record: SearchRecord) -> str:
    if not record.measures:
        return ""
    compared = any(measure.before is not None for measure in record.measures)
    head = f'<th scope="col">{marked_up(record.compared)}</th>' if compared else ""
    rows = "".join(
        f'<tr><th scope="row">{marked_up(measure.name)}</th>'
        + (
            f'<td data-label="{marked_up(record.compared)}">{_value(measure, measure.before)}</td>'
            if compared
            else ""
        )
        + f'<td data-label="this motion">{_value(measure, measure.after)}</td></tr>'
        for measure in record.measures
    )
    return (
        f'<table class="measures stack"><thead><tr><th scope="col">measure</th>{head}'
        f'<th scope="col">this motion</th></tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )


def _value(measure: Measure, value: float | None) -> str:
    unit = f"\u202f{unit_text(measure.unit)}" if measure.unit and value is not None else ""
    return f"{numeral(value)}{unit}"


def _written(value: object) -> str:
    document = to_document(value)
    if isinstance(document, float):
        return f"{document:.6g}"
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)


# The last part of a motion's page: what is proven of it, findings, and what it was made from.

_LOUDEST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def proof_section(content: MotionContent) -> str:
    """What is proven, what is left of each kind of limit, and what the proof rests on.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    proof = content.proof
    if proof is None:
        bounded = [marked_up(curves.name) for curves in content.curves if curves.proven is not None]
        kept = f" Between samples only the bounds of {', '.join(bounded)} are proven." if bounded else ""
        return f'<p class="quiet">No proof of the limits was sought.{kept}</p>\n'
    kinds = dict.fromkeys(margin.kind for margin in proof.margins)
    tightest = [
        min((margin for margin in proof.margins if margin.kind == kind), key=lambda margin: margin.margin)
        for kind in kinds
    ]
    assumptions = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in proof.assumptions)
    parts = [f"<p>{marked_up(proof.message)}</p>\n"]
    if tightest:
        parts.append(f"<h3>Least that is left of each kind</h3>\n{_margins(tightest)}")
        every = _margins(proof.margins)
        parts.append(f"<details><summary>All {len(proof.margins)} margins</summary>{every}</details>\n")
    if proof.uncovered:
        missing = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in proof.uncovered)
        parts.append(f'<h3>Not part of the proof</h3>\n<ul class="untested">{missing}</ul>\n')
    if assumptions:
        parts.append(f'<h3>Assumptions</h3>\n<ul class="untested">{assumptions}</ul>\n')
    return "".join(parts)


def _margins(margins: Sequence[ProvenMargin]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{marked_up(margin.kind)}</th>'
        f'<td data-label="of" class="name"><bdi>{marked_up(margin.name)}</bdi></td>'
        f'<td data-label="left at least">{_left(margin)}</td>'
        f'<td data-label="tightest within">{margin.start:.2f} … {margin.end:.2f}\u202fs</td></tr>'
        for margin in margins
    )
    return (
        '<table class="margins stack"><thead><tr><th scope="col">limit</th>'
        '<th scope="col" class="name">of</th><th scope="col">left at least</th>'
        f'<th scope="col">tightest within</th></tr></thead>\n<tbody>{rows}</tbody></table>\n'
    )


def _left(margin: ProvenMargin) -> str:
    if margin.kind == "clearance":
        return f"{numeral(1e3 * margin.margin, digits=3)}\u202fmm"
    return f"{numeral(margin.margin, digits=3)}\u202f{unit_text(margin.unit)}"


def noticed_section(content: MotionContent) -> str:
    """Broken limits and whatever else was noticed, the gravest first.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    every = (*content.broken, *content.findings)
    if not every:
        return '<p class="quiet">Nothing was noticed.</p>\n'
    rows = "\n".join(
        f'<li data-severity="{finding.severity.value}"><span class="state">{finding.severity.value}</span>'
        f"<div>{f'<bdi>{marked_up(finding.place)}</bdi>: ' if finding.place else ''}"
        f"{marked_up(finding.message)} <small><code>{marked_up(finding.code)}</code></small></div></li>"
        for finding in sorted(every, key=lambda finding: _LOUDEST_FIRST.index(finding.severity))
    )
    return f'<ul class="findings">\n{rows}\n</ul>\n'


def motion_source_section(content: MotionContent) -> str:
    """Digests, versions and how finely the motion was looked at.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    rate = (len(content.time) - 1) / float(content.time[-1])
    facts = {
        "robot description": content.digest,
        "motion": content.motion,
        "samples": f"{len(content.time)}, {rate:.4g} per second",
        **content.versions,
    }
    listed = "".join(
        f"<div><dt>{marked_up(name)}</dt><dd><code>{marked_up(value)}</code></dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="facts">{listed}</dl>\n'


STYLES = ("page.css", "motion_page.css")
SCRIPTS = (
    *("reading.js", "torque_plots.js", "turning_view.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js", "motion_start.js"),
)


def motion_page(content: MotionContent) -> str:
    """Write the page of one motion.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Verdict": ("verdict", motion_opening(content)),
        "The motion": ("motion", view_section(content)),
        "Joints": ("joints", motion_joint_section(content)),
        "Proof": ("proof", proof_section(content)),
        "Search": ("search", search_section(content)),
        "Findings": ("findings", noticed_section(content)),
        "Record": ("record", motion_source_section(content)),
    }
    return page(
        f"{content.robot}: motion",
        sections,
        motion_data(content),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
