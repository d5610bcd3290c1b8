"""The course of a run on its page: moves with what was proven of them, events, times, assumptions."""

from __future__ import annotations

from steelyard.report.numerals import numeral
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_parts import LeastMargin, MoveKind
from steelyard.report.online_words import move_words
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up, unit_text

_UNTOLD = {MoveKind.PLAN: "–", MoveKind.BRAKE: "proven with the plan before it", MoveKind.REST: "–"}


def move_section(content: OnlineContent) -> str:
    """What the robot did, and the least that was proven to be left of each limit.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where nothing is told of moves.
    """
    if not content.moves:
        return ""
    rows = [
        [
            f'<span class="kind {move.kind.value}">{move_words(content.moves, k)}</span>',
            f"{move.start:.2f} … {move.end:.2f}",
            numeral(move.condition, digits=3),
            f"{1e3 * move.seconds:.0f}" if move.seconds else "–",
            str(move.refused) if move.kind is MoveKind.PLAN else "–",
            f'<span class="least">{"; ".join(map(_left, move.margins)) or _UNTOLD[move.kind]}</span>',
        ]
        for k, move in enumerate(content.moves)
    ]
    heads = ("move", "from … to, s", "condition", "planned in, ms", "refused", "left at least, proven")
    return (
        "<p>Every plan was certified before it was driven, together with the stop it ends in: for every "
        "parameter within its bounds, everywhere in the tube. A plan is driven for "
        f"{content.head.cycle:g}\u202fs; where no other is certified by then, the robot brakes."
        f"{_checked(*content.proofs)}</p>\n"
        f"{table('Moves', heads, [rows])}"
    )


def _checked(plans: int, checked: int) -> str:
    if not plans:
        return ""
    return (
        f" The proofs of {checked} of {plans} {'plan' if plans == 1 else 'plans'} were verified again by "
        "<code>check_plan</code>, a simpler program with an arithmetic of its own."
    )


def _left(margin: LeastMargin) -> str:
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
        HTML; empty where no times are told.
    """
    if not content.times:
        return ""
    rows = [
        [
            marked_up(step.name),
            numeral(1e3 * step.median, digits=3),
            numeral(1e3 * step.worst, digits=3),
            f"{100.0 * step.worst / content.head.cycle:.0f}\u202f%",
        ]
        for step in content.times
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
