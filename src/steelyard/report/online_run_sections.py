"""The course of a run on its page: moves with what was proven of them, events, times, assumptions."""

from __future__ import annotations

import numpy as np

from steelyard.limits import ProvenMargin
from steelyard.online import PLAN, DrivenMove
from steelyard.report.numerals import numeral
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_words import move_words
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up, unit_text


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
        f"{table('Moves', heads, [rows])}"
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
    return f"<p>A cycle lasts {content.head.cycle:g}\u202fs.</p>\n{table('Times', heads, [rows])}"


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


def source_section(content: OnlineContent) -> str:
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
