"""The page of a robot that moves while it learns: one self-contained HTML file, live or afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Status
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.limits import ProvenMargin
from steelyard.report.content import SYMBOLS
from steelyard.report.html import Typeset, aligned_numerals, numeral, unit_words
from steelyard.report.motion.content import OutlineKind, Skeleton, skeleton_of
from steelyard.report.motion.page import (
    MOST_POINTS,
    TALL,
    arm_view,
    clearance_data,
    closest_pairs,
    joint_data,
    joint_reach,
    number_or_none,
    outwards,
    skeleton_data,
)
from steelyard.report.online.content import (
    OnlineContent,
    OnlineDrawing,
    OnlineHead,
    between,
    broken,
    drawing_of,
    gauge_data,
    gauge_names,
    move_words,
    number_words,
    online_verdict,
    share_words,
    used_shares,
)
from steelyard.report.page import packed, thinned
from steelyard.report.payload.content import outward, told_ends
from steelyard.report.render import render_page
from steelyard.safe_learning import PLAN, DrivenMove

# What the scripts of a learning robot's page draw from, packed: the same shapes live and afterwards.

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


# What the template of the page tells, section by section, as plain data.


def _opening(content: OnlineContent, drawing: OnlineDrawing) -> dict[str, Any]:
    """Robot, verdict, and the figures that matter most."""
    status, headline, why = online_verdict(content, drawing)
    wrong = broken(content, drawing)[1:]
    return {
        "robot": content.head.robot.name,
        "title": content.head.title,
        "status": status.value,
        "symbol": SYMBOLS[status],
        "headline": headline,
        "why": why,
        "wrong": wrong,
        "ended": content.sentence if status is Status.FAIL and wrong else "",
        "figures": _figures(content),
    }


def _figures(content: OnlineContent) -> list[tuple[dict[str, str], str]]:
    """Large figures, each after what it is and what it was before."""
    head = content.head
    last = content.knowledge[-1].box
    used = used_shares(head, content.r_norm, content.tau).max(axis=0)
    torques = used[1:][np.isfinite(used[1:])]
    plans = sum(move.kind == PLAN for move in content.moves)
    first, unit = number_words(PARAMETER_NAMES[0]), PARAMETER_UNITS[0]
    figures = [
        (f"{first}, guaranteed", between(head.prior, 0, unit), between(last, 0, unit)),
        (
            f"of motion, {plans} {'plan' if plans == 1 else 'plans'}",
            "",
            Typeset(f"{content.time[-1]:.4g}\u202fs"),
        ),
        ("of the tube used at most", "", share_words(float(used[0]))),
    ]
    if len(torques):
        figures.append(("of a torque limit used at most", "", share_words(float(torques.max()))))
    return [({"told": told, "before": before}, value) for told, before, value in figures]


def _live_opening(head: OnlineHead) -> dict[str, Any]:
    """The same before anything has happened: each figure has the name by which the script finds its place."""
    return {
        "robot": head.robot.name,
        "title": head.title,
        "figures": [
            ("time", "–", "since the start"),
            (
                "first",
                between(head.prior, 0, PARAMETER_UNITS[0]),
                f"{number_words(PARAMETER_NAMES[0])}, guaranteed",
            ),
            ("tube", "–", "of the tube used at most"),
            ("torque", "–", "of a torque limit used at most"),
        ],
    }


TUBE = {"tube": "tube of the tool, ten times as thick as it is"}


def _motion(content: OnlineContent, drawing: OnlineDrawing) -> dict[str, Any]:
    """The moving arm, and the distances it kept."""
    apart = drawing.clearance
    return {
        "radius": numeral(1e3 * float(drawing.tube.radius.max()), digits=2),
        "arm": arm_view(drawing.skeleton, content.duration, TUBE),
        "clearance": None if apart is None else closest_pairs(apart),
    }


def _bounds(content: OnlineContent) -> dict[str, Any]:
    """What became known of the payload: the bounds of every number, before and after."""
    head = content.head
    updates = len(content.knowledge) - 1
    times = "once" if updates == 1 else f"{updates} times"
    found = f"The bounds were drawn tighter {times}" if updates else "The bounds were never drawn tighter"
    equations = content.knowledge[-1].rows
    first, last = content.knowledge[0].box, content.knowledge[-1].box
    before, after = (
        [outward(*ends) for ends in zip(box.lower.tolist(), box.upper.tolist(), strict=True)]
        for box in (first, last)
    )
    told_before, told_after = (
        told_ends([low for low, _ in ends], [high for _, high in ends]) for ends in (before, after)
    )
    widths = zip((first.upper - first.lower).tolist(), (last.upper - last.lower).tolist(), strict=True)
    tighter = aligned_numerals([_ratio(*pair) for pair in widths])
    return {
        **_bound_words(head),
        "told": f"{found}{f', the last from {equations} equations' if equations else ''}.",
        "heads": ["number", "before", "after", "narrower by", *_where_known(head, "true value")],
        "rows": [
            [
                {"number": number_words(name), "unit": unit_words(unit)},
                told_before[k],
                told_after[k],
                tighter[k],
                *_where_known(head, numeral(None if head.truth is None else float(head.truth[k]))),
            ]
            for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))
        ],
    }


def _bound_words(head: OnlineHead) -> dict[str, Any]:
    return {"frame": head.frame, "truth_known": head.truth is not None}


def _where_known(head: OnlineHead, text: str) -> list[str]:
    return [] if head.truth is None else [text]


def _ratio(before: float, after: float) -> str:
    if after == 0.0:
        return "∞"
    return f"{numeral(before / after, digits=2)}\u202f×" if before > after else "–"


def _tube_words(head: OnlineHead) -> dict[str, str]:
    """What the tube allows ‖r‖ and ‖e‖."""
    rotary = all(joint.position_unit == "rad" for joint in head.robot.joints)
    return {
        name: Typeset(f"{numeral(1e3 * bound, digits=3)}\u202f{unit if rotary else '·10⁻³'}")
        for name, bound, unit in (
            ("r", head.tube_radius, "mrad/s"),
            ("e", head.position_bound, "mrad"),
        )
    }


def _moves(content: OnlineContent) -> dict[str, Any] | None:
    """What the robot did, and the least that was proven to be left of each limit; None without moves."""
    if not content.moves:
        return None
    plans, verified = content.proofs
    return {
        "cycle": Typeset(f"{content.head.cycle:g}\u202fs"),
        "verified": f"{verified} of {plans} {'plan' if plans == 1 else 'plans'}" if plans else "",
        "heads": ("move", "from … to, s", "condition", "planned in, ms", "refused", "left at least, proven"),
        "rows": [_move(content, k) for k in range(len(content.moves))],
    }


def _move(content: OnlineContent, k: int) -> list[Any]:
    driven = content.moves[k]
    start, end = content.span(driven)
    # A plan is taken up at the instant at which its answer is.
    near = 0.5 * content.head.control_cycle
    took = [known.plan_seconds for known in content.knowledge if abs(known.time - start) < near]
    seconds = took[-1] if took and driven.offset == 0 else 0.0
    return [
        {"kind": driven.kind, "move": move_words(content.moves, k)},
        f"{start:.2f} … {end:.2f}",
        numeral(driven.move.condition, digits=3),
        f"{1e3 * seconds:.0f}" if seconds else "–",
        str(len(driven.move.refused)) if driven.kind == PLAN else "–",
        {"least": [_left(margin) for margin in least_margins(driven)]},
    ]


def least_margins(driven: DrivenMove) -> tuple[ProvenMargin, ...]:
    """The least that was proven to be left of each kind of limit along a move.

    Returns:
        One margin for each kind; that of the torque is of the joint which is nearest to its limit.
    """
    proof = driven.move.certificate
    least = {}
    for margin in sorted(proof.motion.margins, key=lambda margin: -margin.margin):
        least[margin.kind] = margin
    torque = proof.torque_margins
    joint = int(torque.argmin())
    least["torque"] = ProvenMargin(
        "torque", proof.joints[joint], float(torque[joint]), "N·m", 0.0, proof.motion.duration
    )
    return tuple(least.values())


def _left(margin: ProvenMargin) -> dict[str, str]:
    scale, unit = (1e3, "mm") if margin.kind == "clearance" else (1.0, unit_words(margin.unit))
    left = Typeset(f"{numeral(scale * margin.margin, digits=2)}\u202f{unit}")
    return {"kind": margin.kind, "left": left, "name": margin.name}


def _joints(content: OnlineContent, drawing: OnlineDrawing) -> dict[str, object]:
    """How far every joint went, and the place of the curves."""
    told = (
        "How far each joint went, and what share of its limit that is. Torques are the commanded ones; "
        "errors are reference minus robot, against the tube."
    )
    curves = (*drawing.limited, drawing.errors[0])
    return joint_reach(content.head.robot.joint_names, curves, told, "robot")


def _events(content: OnlineContent) -> list[dict[str, str]]:
    """What happened, in order."""
    return [
        {
            "when": Typeset(f"{event.time:.2f}\u202fs"),
            "severity": event.severity.value,
            "sentence": event.sentence,
        }
        for event in content.events
    ]


def _times(content: OnlineContent) -> dict[str, Any] | None:
    """How long the steps of a cycle took, beside the cycle itself; None where the robot was told nothing."""
    answers = content.knowledge[1:-1]  # the last one is of a robot at rest
    if not answers:
        return None
    steps = {
        "bounds": [known.bounds_seconds for known in answers],
        "plan and certify": [known.plan_seconds for known in answers],
        "check of the proof": [known.check_seconds for known in answers],
        "whole answer": [known.seconds for known in answers],
    }
    return {
        "cycle": Typeset(f"{content.head.cycle:g}\u202fs"),
        "heads": ("step", "median, ms", "worst, ms", "worst, of a cycle"),
        "rows": [
            [
                name,
                numeral(1e3 * float(np.median(took)), digits=3),
                numeral(1e3 * max(took), digits=3),
                Typeset(f"{100.0 * max(took) / content.head.cycle:.0f}\u202f%"),
            ]
            for name, took in steps.items()
        ],
    }


def _record(content: OnlineContent) -> list[tuple[str, str]]:
    """What the run was made with."""
    rate = (len(content.time) - 1) / float(content.time[-1])
    return [
        ("robot description", content.head.robot.digest),
        ("samples", f"{len(content.time)}, {rate:.4g} per second"),
        *content.versions.items(),
    ]


STYLES = ("page.css", "motion_page.css", "online_page.css")
SCRIPTS = (
    *("reading.js", "time_window.js", "torque_plots.js", "turning_view.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js"),
    *("online_view.js", "online_live.js", "online_start.js"),
)
HEADINGS = {
    "verdict": "Verdict",
    "motion": "The run",
    "bounds": "Payload",
    "tracking": "Tracking",
    "moves": "Proofs",
    "joints": "Joints",
    "events": "Events",
    "times": "Times",
    "assumptions": "Assumptions",
    "record": "Record",
}
AFTERWARDS = ("moves", "joints", "times", "record")
"""Sections that a live page does not have."""


def online_page(content: OnlineContent) -> str:
    """Write the page of one run.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    head, drawing = content.head, drawing_of(content)
    told = {
        "opening": _opening(content, drawing),
        "motion": _motion(content, drawing),
        "bounds": _bounds(content),
        "tracking": _tube_words(head),
        "moves": _moves(content),
        "joints": _joints(content, drawing),
        "events": _events(content),
        "times": _times(content),
        "assumptions": head.assumptions,
        "record": _record(content),
    }
    empty = [name for name in ("moves", "times", "assumptions") if not told[name]]
    return render_page(
        "online.html",
        f"{head.robot.name}: {head.title}",
        {anchor: heading for anchor, heading in HEADINGS.items() if anchor not in empty},
        told,
        online_data(content, drawing),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )


def live_page(head: OnlineHead, *, version: str = "") -> str:
    """Write the page of a run that goes on; it asks its server at `events` for what happens.

    Args:
        head: what can be said beforehand.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    at_rest = skeleton_of(head.robot, [0.0, 1.0], np.stack((head.start, head.start)), head.clearance)
    absent = AFTERWARDS if head.assumptions else (*AFTERWARDS, "assumptions")
    return render_page(
        "live.html",
        f"{head.robot.name}: {head.title}, live",
        {anchor: heading for anchor, heading in HEADINGS.items() if anchor not in absent},
        {
            "opening": _live_opening(head),
            "arm": arm_view(at_rest, None),
            "bounds": _bound_words(head),
            "tracking": _tube_words(head),
            "assumptions": head.assumptions,
        },
        live_data(head, at_rest),
        styles=STYLES,
        scripts=SCRIPTS,
        version=version,
        live=True,
    )
