"""The full record of a campaign: every run with its numbers, to be sorted and filtered, and the failures."""

from __future__ import annotations

import math

from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_parts import CampaignRun
from steelyard.report.campaign_words import counted, number, stated
from steelyard.report.safe_text import marked_up

_DONE, _FAILED = "done", "failed"


def run_section(content: CampaignContent) -> str:
    """Every run (paper 004, Appendix A), and why some failed.

    Args:
        content: what the page says.

    Returns:
        HTML; empty without runs.
    """
    if not content.runs:
        return ""
    stages = tuple(dict.fromkeys(name for run in content.runs for name in run.rms))
    heads = _heads(stages)
    rows = "\n".join(_row(k, run, stages) for k, run in enumerate(content.runs))
    titles = "".join(
        f'<th scope="col" role="columnheader" title="{whole}">{short}</th>' for short, whole in heads
    )
    return (
        f"{_failures(content)}<p>cond: condition number of the regressor in SI units. PD: whether the answer "
        "of least squares is positive definite. Margin: what the projection asked of the smallest "
        f"eigenvalue, kg·m². {', '.join(map(marked_up, stages))}: root mean square of the torque left after "
        "the stage, N·m. Steps: of the refinement. Proof: positive definite at every pose. Time: of one "
        "core.</p>\n"
        f"{_controls(content, heads)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="All runs">'
        '<table id="parameter-table" class="parameters margins stack" role="table">'
        f'<thead role="rowgroup"><tr role="row">{titles}</tr></thead>\n'
        f'<tbody role="rowgroup">\n{rows}\n</tbody></table></div>\n'
        '<p id="no-parameter" class="quiet" hidden>No run matches.</p>\n'
    )


def _heads(stages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each column's heading, short where columns stand side by side, and whole where they do not."""
    return [
        ("run", "run"),
        ("cond", "condition number"),
        ("PD", "OLS positive definite"),
        ("route", "route"),
        ("margin", "margin, kg·m²"),
        *((marked_up(stage), f"rms {marked_up(stage)}, N·m") for stage in stages),
        ("steps", "steps"),
        ("outcome", "outcome"),
        ("proof", "proof"),
        ("time", "time"),
    ]


def _failures(content: CampaignContent) -> str:
    failed = content.failures
    if not failed:
        return f"<p>None of {counted(len(content.runs), 'run')} failed.</p>\n"
    rows = "\n".join(
        f'<li data-severity="error"><span class="state">failed</span><div><bdi>{marked_up(run.label)}</bdi>: '
        f"{marked_up(run.reason)}</div></li>"
        for run in failed
    )
    listed = f'<ul class="findings">\n{rows}\n</ul>\n'
    if len(failed) > 8:
        listed = f"<details><summary>the reasons of all {len(failed)}</summary>{listed}</details>\n"
    return f"<p>{len(failed)} of {counted(len(content.runs), 'run')} failed.</p>\n{listed}"


def _controls(content: CampaignContent, heads: list[tuple[str, str]]) -> str:
    kinds = [(kind, sum(_kind(run) == kind for run in content.runs)) for kind in (_DONE, _FAILED)]
    boxes = "".join(
        f'<label><input type="checkbox" data-kind="{kind}" checked>{kind} <small>{count}</small></label>'
        for kind, count in kinds
        if count
    )
    options = "".join(f'<option value="{k}">{whole}</option>' for k, (_, whole) in enumerate(heads))
    return (
        '<div class="controls" id="parameter-controls" hidden><label>Filter <input type="search" '
        f'id="parameter-filter" placeholder="motion, route, outcome"></label><fieldset><legend>Runs</legend>'
        f'{boxes}</fieldset><label class="narrow">Sort by <select id="parameter-sort">'
        f'<option value="">as listed</option>{options}</select></label>'
        '<output id="parameter-count"></output></div>\n'
    )


def _row(place: int, run: CampaignRun, stages: tuple[str, ...]) -> str:
    answers = {True: "yes", False: "no", None: "–"}
    cells = [
        (run.label, f"<bdi>{marked_up(run.label)}</bdi>"),
        (_key(run.condition), number(run.condition)),
        (answers[run.passed], answers[run.passed]),
        (run.route, marked_up(run.route)),
        (_key(run.margin), stated(run.margin)),
        *((_key(run.rms.get(stage)), number(run.rms.get(stage))) for stage in stages),
        (_key(run.iterations), "–" if run.iterations is None else str(run.iterations)),
        (run.outcome, marked_up(run.outcome)),
        (answers[run.proven], answers[run.proven]),
        (_key(run.seconds), number(run.seconds, "s")),
    ]
    tags = "".join(
        f'<{_open(k)} data-label="{label}" data-key="{marked_up(key)}"><span>{text}</span>'
        f"</{'th' if k == 0 else 'td'}>"
        for k, ((key, text), (_, label)) in enumerate(zip(cells, _heads(stages), strict=True))
    )
    return f'<tr role="row" data-kind="{_kind(run)}" data-place="{place}">{tags}</tr>'


def _open(column: int) -> str:
    return 'th scope="row" role="rowheader"' if column == 0 else 'td role="cell"'


def _kind(run: CampaignRun) -> str:
    return _FAILED if run.failed else _DONE


def _key(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return str(value).replace("inf", "Infinity")
