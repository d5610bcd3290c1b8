"""The head of a campaign's page: what was done, how it ended, and what it took beside the paper's record."""

from __future__ import annotations

import math

from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_paper import (
    MEDIAN_SECONDS,
    NOT_LIKE_FOR_LIKE,
    ORDER,
    SIMULATED,
    TOTAL_SECONDS,
)
from steelyard.report.campaign_words import counted, duration, milliseconds
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up
from steelyard.report.verdict_words import SYMBOLS, headline


def campaign_opening(content: CampaignContent) -> str:
    """Robot, verdict, counts and times.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    status = content.verdict.status
    untested = content.verdict.untested
    missing = f" {counted(len(untested), 'check')} not run." if untested else ""
    total, failed = len(content.runs), len(content.failures)
    figures = [
        (f"{total - failed} of {total}", "runs ended with a result"),
        (f"{failed}", f"{'run' if failed == 1 else 'runs'} failed"),
        (f"{content.proven} of {total}", "proven positive definite at every pose"),
        (duration(content.wall_seconds), f"from start to end, {counted(content.cores, 'core')}"),
    ]
    listed = "".join(f"<div><dt>{told}</dt><dd>{value}</dd></div>" for value, told in figures)
    steps = ", ".join(milliseconds(interval) for interval in content.intervals)
    plant = "a simulated arm" if content.simulated else "recorded logs"
    return (
        f'<p class="eyebrow">Campaign <bdi>{marked_up(content.name)}</bdi></p>\n'
        f"<h1><bdi>{marked_up(content.robot)}</bdi></h1>\n"
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{headline(content.verdict)}</strong>{missing}</span></p>\n"
        f'<dl class="figures">{listed}</dl>\n'
        f"<p>{counted(len(content.motions), 'motion')} of {plant}, each sampled at intervals of {steps}. "
        f"Setting: <strong>{marked_up(content.setting)}</strong>. {marked_up(content.setting_words)}</p>\n"
        f"{_times(content)}"
    )


def _times(content: CampaignContent) -> str:
    here = {
        "median run": content.median_seconds,
        "all runs": math.fsum(run.seconds for run in content.runs if math.isfinite(run.seconds)),
        "the whole campaign, all cores": content.cpu_seconds,
        "from start to end": content.wall_seconds,
    }
    if not content.beside_paper:
        rows = [(told, duration(seconds)) for told, seconds in here.items()]
        return table("Times", ("time", "here"), [rows])
    paper = {"median run": MEDIAN_SECONDS, "all runs": TOTAL_SECONDS}
    told = [
        (
            name,
            duration(seconds),
            duration(paper.get(name, math.nan)),
            _ratio(paper.get(name, math.nan), seconds),
        )
        for name, seconds in here.items()
    ]
    words = " ".join((NOT_LIKE_FOR_LIKE, *([SIMULATED] if content.simulated else []), ORDER))
    heads = ("time", "here", "paper 004", "paper over here")
    return f"{table('Times beside the paper', heads, [told])}<p>{words}</p>\n"


def _ratio(paper: float, here: float) -> str:
    if not (math.isfinite(paper) and here > 0.0):
        return "–"
    power = round(math.log10(paper / here))
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"of the order of 10{raised}"
