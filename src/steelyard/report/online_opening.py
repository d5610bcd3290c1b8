"""The head of a learning robot's page: whether all guarantees held, and what was learned."""

from __future__ import annotations

import numpy as np

from steelyard.audit import Status
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.online import PLAN
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.report.online_drawing import OnlineDrawing
from steelyard.report.online_gauges import used_shares
from steelyard.report.online_verdict import broken, online_verdict
from steelyard.report.online_words import between, number_words, share
from steelyard.report.safe_text import marked_up
from steelyard.report.verdict_words import SYMBOLS


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
        (share(float(used[0])), "of the tube used at most"),
    ]
    if len(torques):
        figures.append((share(float(torques.max())), "of a torque limit used at most"))
    return figures


def _listed(figures: list[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{told}</dt><dd>{value}</dd></div>" for value, told in figures)
