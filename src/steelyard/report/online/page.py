"""The page of a robot that moves while it learns: one self-contained HTML file, live or afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Status
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.limits import ProvenMargin
from steelyard.report.content import SYMBOLS
from steelyard.report.html import (
    aligned_numerals,
    html_table,
    marked_up,
    numeral,
    unit_text,
    unit_words,
)
from steelyard.report.motion.content import OutlineKind, Skeleton, skeleton_of
from steelyard.report.motion.page import (
    MOST_POINTS,
    TALL,
    clearance_data,
    clearance_part,
    joint_data,
    moving_arm,
    number_or_none,
    outwards,
    reach_and_curves,
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
from steelyard.report.page import packed, page, thinned
from steelyard.report.payload.content import outward, theorem13_table, told_ends
from steelyard.safe_learning import PLAN, DrivenMove

# What became known of the payload: the bounds of every number over time, before and after.


def online_bounds_section(content: OnlineContent) -> str:
    """Shrinking bounds, and a table of what they were and are.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    updates = len(content.knowledge) - 1
    times = "once" if updates == 1 else f"{updates} times"
    found = f"The bounds were drawn tighter {times}" if updates else "The bounds were never drawn tighter"
    rows = content.knowledge[-1].rows
    told = f"{found}{f', the last from {rows} equations' if rows else ''}. Every bound is rounded outwards."
    last = content.knowledge[-1].box
    beside = theorem13_table(np.array([last.lower, last.upper]), content.published)
    return f"{bounds_figures(content.head)}<p>{told}</p>\n{_table(content)}{beside}"


def bounds_figures(head: OnlineHead) -> str:
    """The place of the bounds over time.

    Args:
        head: what can be said beforehand.

    Returns:
        HTML.
    """
    where = f"{marked_up(head.frame)}’s frame" if head.frame else "the frame they are stated in"
    true = ' <span><span class="line course"></span>true value</span>' if head.truth is not None else ""
    return (
        "<p>What the payload’s numbers can be, given all that is assumed. Moments and inertia are about the "
        f"origin of {where}, in its axes.</p>\n"
        f'<p class="key"><span><span class="swatch proven"></span>guaranteed</span>{true}</p>\n'
        '<div id="bounds-plots"></div>\n<noscript><p>The curves need scripts, which are off.</p></noscript>\n'
    )


def _table(content: OnlineContent) -> str:
    head = content.head
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
    rows = [
        [
            f"{marked_up(number_words(name))} <small>{unit_text(unit)}</small>",
            told_before[k],
            told_after[k],
            tighter[k],
            *([] if head.truth is None else [numeral(float(head.truth[k]), digits=4)]),
        ]
        for k, (name, unit) in enumerate(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))
    ]
    heads = ["number", "before", "after", "narrower by", *([] if head.truth is None else ["true value"])]
    return html_table("Bounds before and after", heads, [rows])


def _ratio(before: float, after: float) -> str:
    if after == 0.0:
        return "∞"
    return f"{numeral(before / after, digits=2)}\u202f×" if before > after else "–"


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


# The head of a learning robot's page: whether all guarantees held, and what was learned.


def online_opening(content: OnlineContent, drawing: OnlineDrawing) -> str:
    """Robot, verdict, and the figures that matter most.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        HTML.
    """
    status, headline, why = online_verdict(content, drawing)
    wrong = broken(content, drawing)[1:]
    more = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in wrong)
    return (
        _title(content.head)
        + _verdict(status.value, SYMBOLS[status], headline, why)
        + (f'<ul class="untested">{more}</ul>\n' if more else "")
        + (f"<p>{marked_up(content.sentence)}</p>\n" if status is Status.FAIL and wrong else "")
        + f'<dl class="figures">{_listed(_figures(content))}</dl>\n'
    )


def live_opening(head: OnlineHead) -> str:
    """The same before anything has happened, with places for what comes.

    Args:
        head: what can be said beforehand.

    Returns:
        HTML.
    """
    first = between(head.prior, 0, PARAMETER_UNITS[0])
    figures = [
        ("time", "–", "since the start"),
        ("first", first, f"{marked_up(number_words(PARAMETER_NAMES[0]))}, guaranteed"),
        ("tube", "–", "of the tube used at most"),
        ("torque", "–", "of a torque limit used at most"),
    ]
    listed = "".join(
        f'<div><dt>{told}</dt><dd id="live-{name}">{value}</dd></div>' for name, value, told in figures
    )
    state = _verdict("not run", "–", "Waiting for the robot.", "").replace("<p ", '<p id="live-state" ', 1)
    return f'{_title(head)}{state}<dl class="figures" aria-live="off">{listed}</dl>\n'


def _title(head: OnlineHead) -> str:
    return (
        f'<p class="eyebrow"><bdi>{marked_up(head.robot.name)}</bdi> moves while it learns</p>\n'
        f"<h1><bdi>{marked_up(head.title)}</bdi></h1>\n"
    )


def _verdict(status: str, mark: str, headline: str, why: str) -> str:
    return (
        f'<p class="verdict" data-status="{status}"><span class="mark" aria-hidden="true">{mark}</span>'
        f"<span><strong>{headline}</strong> {marked_up(why)}</span></p>\n"
    )


def _figures(content: OnlineContent) -> list[tuple[str, str]]:
    head = content.head
    last = content.knowledge[-1].box
    used = used_shares(head, content.r_norm, content.tau).max(axis=0)
    torques = used[1:][np.isfinite(used[1:])]
    plans = sum(move.kind == PLAN for move in content.moves)
    name = marked_up(number_words(PARAMETER_NAMES[0]))
    figures = [
        (
            between(last, 0, PARAMETER_UNITS[0]),
            f"{name}, guaranteed<br>before: {between(head.prior, 0, PARAMETER_UNITS[0])}",
        ),
        (f"{content.time[-1]:.4g}\u202fs", f"of motion, {plans} {'plan' if plans == 1 else 'plans'}"),
        (share_words(float(used[0])), "of the tube used at most"),
    ]
    if len(torques):
        figures.append((share_words(float(torques.max())), "of a torque limit used at most"))
    return figures


def _listed(figures: list[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{told}</dt><dd>{value}</dd></div>" for value, told in figures)


# The course of a run on its page: moves with what was proven of them, events, times, assumptions.


def move_section(content: OnlineContent) -> str:
    """What the robot did, and the least that was proven to be left of each limit.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where nothing is told of moves.
    """
    if not content.moves:
        return ""
    rows = [_row(content, k) for k in range(len(content.moves))]
    heads = ("move", "from … to, s", "condition", "planned in, ms", "refused", "left at least, proven")
    return (
        "<p>Every plan was certified before it was driven, together with the stop it ends in: for every "
        "parameter within its bounds, everywhere in the tube. A plan is driven for "
        f"{content.head.cycle:g}\u202fs; where no other is certified by then, the robot brakes."
        f"{_checked(*content.proofs)}</p>\n"
        f"{html_table('Moves', heads, [rows])}"
    )


def _row(content: OnlineContent, k: int) -> list[str]:
    driven = content.moves[k]
    start, end = content.span(driven)
    # A plan is taken up at the instant at which its answer is.
    near = 0.5 * content.head.control_cycle
    took = [known.plan_seconds for known in content.knowledge if abs(known.time - start) < near]
    seconds = took[-1] if took and driven.offset == 0 else 0.0
    return [
        f'<span class="kind {driven.kind}">{move_words(content.moves, k)}</span>',
        f"{start:.2f} … {end:.2f}",
        numeral(driven.move.condition, digits=3),
        f"{1e3 * seconds:.0f}" if seconds else "–",
        str(len(driven.move.refused)) if driven.kind == PLAN else "–",
        f'<span class="least">{"; ".join(map(_left, least_margins(driven)))}</span>',
    ]


def least_margins(driven: DrivenMove) -> tuple[ProvenMargin, ...]:
    """The least that was proven to be left of each kind of limit along a move.

    Args:
        driven: the move.

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


def _checked(plans: int, checked: int) -> str:
    if not plans:
        return ""
    return (
        f" The proofs of {checked} of {plans} {'plan' if plans == 1 else 'plans'} were verified again by "
        "<code>check_plan</code>, a simpler program with an arithmetic of its own."
    )


def _left(margin: ProvenMargin) -> str:
    if margin.kind == "clearance":
        left = f"{numeral(1e3 * margin.margin, digits=2)}\u202fmm"
    else:
        left = f"{numeral(margin.margin, digits=2)}\u202f{unit_text(margin.unit)}"
    return f"{marked_up(margin.kind)} {left} (<bdi>{marked_up(margin.name)}</bdi>)"


def event_section(content: OnlineContent) -> str:
    """What happened, in order.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    if not content.events:
        return '<p class="quiet">Nothing out of the ordinary happened.</p>\n'
    rows = "\n".join(
        f'<li data-severity="{event.severity.value}"><span class="when">{event.time:.2f}\u202fs</span>'
        f'<span class="state">{event.severity.value}</span><div>{marked_up(event.sentence)}</div></li>'
        for event in content.events
    )
    return f'<ul class="findings events">\n{rows}\n</ul>\n'


def live_event_section() -> str:
    """The place of what happens, the newest first.

    Returns:
        HTML.
    """
    return (
        '<p class="quiet" id="live-quiet">Nothing has happened yet.</p>\n'
        '<ul class="findings events" id="live-events" aria-live="polite"></ul>\n'
    )


def time_section(content: OnlineContent) -> str:
    """How long the steps of a cycle took, beside the cycle itself.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there was nothing to answer while the robot moved.
    """
    answers = content.knowledge[1:-1]  # the last one is of a robot at rest
    if not answers:
        return ""
    steps = {
        "bounds": [known.bounds_seconds for known in answers],
        "plan and certify": [known.plan_seconds for known in answers],
        "check of the proof": [known.check_seconds for known in answers],
        "whole answer": [known.seconds for known in answers],
    }
    rows = [
        [
            name,
            numeral(1e3 * float(np.median(took)), digits=3),
            numeral(1e3 * max(took), digits=3),
            f"{100.0 * max(took) / content.head.cycle:.0f}\u202f%",
        ]
        for name, took in steps.items()
    ]
    heads = ("step", "median, ms", "worst, ms", "worst, of a cycle")
    return f"<p>A cycle lasts {content.head.cycle:g}\u202fs.</p>\n{html_table('Times', heads, [rows])}"


def assumption_section(head: OnlineHead) -> str:
    """What all guarantees rest on.

    Args:
        head: what can be said beforehand.

    Returns:
        HTML; empty where nothing is listed.
    """
    if not head.assumptions:
        return ""
    listed = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in head.assumptions)
    return (
        "<p>Where one of these sentences is wrong, nothing on this page is guaranteed.</p>\n"
        f'<ul class="untested">{listed}</ul>\n'
    )


def online_source_section(content: OnlineContent) -> str:
    """What the run was made with.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    rate = (len(content.time) - 1) / float(content.time[-1])
    facts = {
        "robot description": content.head.robot.digest,
        "samples": f"{len(content.time)}, {rate:.4g} per second",
        **content.versions,
    }
    listed = "".join(
        f"<div><dt>{marked_up(name)}</dt><dd><code>{marked_up(value)}</code></dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="facts">{listed}</dl>\n'


# The run on its page: the moving arm in its tube, what it uses of its limits, and its tracking error.

TUBE = {"tube": "tube of the tool, ten times as thick as it is"}


def online_run_section(content: OnlineContent, drawing: OnlineDrawing) -> str:
    """The moving arm, what it uses of its limits at the same instant, and the distances it kept.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        HTML.
    """
    radius = numeral(1e3 * float(drawing.tube.radius.max()), digits=2)
    return (
        f"<p>The tube lets the tool be about {radius}\u202fmm from where it should be. The lens shows where "
        "it is in there, around the cross of its reference.</p>\n"
        f'{moving_arm(drawing.skeleton, content.duration, TUBE)}<p id="doing" class="nearest"></p>\n'
        f"{_gauges('at that instant; the mark is the most of the whole run')}"
        f"{'' if drawing.clearance is None else clearance_part(drawing.clearance)}"
    )


def live_section(skeleton: Skeleton) -> str:
    """The arm as it moves, and what it uses of its limits.

    Args:
        skeleton: the arm before it moves.

    Returns:
        HTML.
    """
    return f"{moving_arm(skeleton, None)}{_gauges('now; the mark is the most so far')}"


def _gauges(when: str) -> str:
    told = f"Used {when}. A joint’s name stands for its torque."
    return (
        f'<h3>Share of the tube and of the torque limits</h3>\n<p class="quiet">{told}</p>\n'
        '<div class="gauges" id="gauges"></div>\n'
    )


def tracking_section(head: OnlineHead) -> str:
    """The place of the tracking error, and what the tube is.

    Args:
        head: what can be said beforehand.

    Returns:
        HTML.
    """
    rotary = all(joint.position_unit == "rad" for joint in head.robot.joints)
    e, r = (numeral(1e3 * bound, digits=3) for bound in (head.position_bound, head.tube_radius))
    units = ("mrad", "mrad/s") if rotary else ("·10⁻³", "·10⁻³")
    return (
        "<p>The error r = ė + K<sub>r</sub> e joins those of velocity and position. Whatever the payload is "
        f"within its bounds, ‖r‖ stays below {r}\u202f{units[1]}, and so ‖e‖ below {e}\u202f{units[0]}.</p>\n"
        '<div id="tracking-plot"></div>\n'
        "<noscript><p>The curve needs scripts, which are off.</p></noscript>\n"
    )


def online_joint_section(content: OnlineContent, drawing: OnlineDrawing) -> str:
    """How far every joint went, and the place of the curves.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        HTML.
    """
    told = (
        "How far each joint went, and what share of its limit that is. Torques are the commanded ones; "
        "errors are reference minus robot, against the tube."
    )
    return reach_and_curves(
        content.head.robot.joint_names, (*drawing.limited, drawing.errors[0]), told, "robot"
    )


STYLES = ("page.css", "motion_page.css", "online_page.css")
SCRIPTS = (
    *("reading.js", "torque_plots.js", "turning_view.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js"),
    *("online_view.js", "online_live.js", "online_start.js"),
)


def online_page(content: OnlineContent) -> str:
    """Write the page of one run.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    drawing = drawing_of(content)
    sections = {
        "Verdict": ("verdict", online_opening(content, drawing)),
        "The run": ("motion", online_run_section(content, drawing)),
        "Payload": ("bounds", online_bounds_section(content)),
        "Tracking": ("tracking", tracking_section(content.head)),
        "Proofs": ("moves", move_section(content)),
        "Joints": ("joints", online_joint_section(content, drawing)),
        "Events": ("events", event_section(content)),
        "Times": ("times", time_section(content)),
        "Assumptions": ("assumptions", assumption_section(content.head)),
        "Record": ("record", online_source_section(content)),
    }
    return page(
        f"{content.head.robot.name}: {content.head.title}",
        sections,
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
    sections = {
        "Verdict": ("verdict", live_opening(head)),
        "The run": ("motion", live_section(at_rest)),
        "Payload": ("bounds", bounds_figures(head)),
        "Tracking": ("tracking", tracking_section(head)),
        "Events": ("events", live_event_section()),
        "Assumptions": ("assumptions", assumption_section(head)),
    }
    return page(
        f"{head.robot.name}: {head.title}, live",
        sections,
        live_data(head, at_rest),
        styles=STYLES,
        scripts=SCRIPTS,
        version=version,
        live=True,
    )
