"""Routing of the runs on the page of a campaign: which least-squares answers passed, and two motions."""

from __future__ import annotations

from steelyard.audit import routing_table
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_paper import COMPARED, PASSED, RUNS_AT_INTERVAL
from steelyard.report.campaign_parts import CampaignRun
from steelyard.report.campaign_words import milliseconds, number, stated
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up


def routing_section(content: CampaignContent) -> str:
    """How the runs went from least squares to refinement (paper 004, Tables III and IV).

    Args:
        content: what the page says.

    Returns:
        HTML; empty without runs.
    """
    if not content.runs:
        return ""
    rows = routing_table([run.interval for run in content.runs], [run.passed for run in content.runs])
    heads = ["interval", "OLS passed", "projected first", "no answer", "runs"]
    told = [
        [milliseconds(row.interval), *map(str, (row.passed, row.projected, row.unanswered, row.total))]
        for row in rows
    ]
    if content.beside_paper:
        heads.append("OLS passed, paper")
        for row, cells in zip(rows, told, strict=True):
            paper = PASSED.get(row.interval)
            cells.append("–" if paper is None else f"{paper} of {RUNS_AT_INTERVAL}")
    return (
        "<p>An answer of least squares (OLS) whose inertia matrix is positive definite goes straight to "
        "refinement (O-C); any other is projected first (O-S-C).</p>\n"
        f"{table('Routing by sampling interval', heads, [told])}{_compared(content)}"
    )


def _compared(content: CampaignContent) -> str:
    if not content.compared:
        return ""
    heads = ["run", "cond", "route", "margin, kg·m²"]
    if content.beside_paper:
        heads += ["cond, paper", "route, paper", "paper, kg·m²"]
    groups = []
    for motion in content.compared:
        rows = []
        for interval in content.intervals:
            run = content.run(motion, interval)
            if run is not None:
                paper = _paper(motion, interval) if content.beside_paper else []
                rows.append([f"<bdi>{marked_up(run.label)}</bdi>", *_cells(run), *paper])
        groups.append(rows)
    names = " and ".join(f"<bdi>{marked_up(motion)}</bdi>" for motion in content.compared)
    return (
        f"<h3>{names}</h3>\n<p>The condition number (cond) is that of the regressor in SI units. The margin "
        "is the smallest eigenvalue of the inertia matrix that the projection asked for; a dash says that "
        f"nothing was projected.</p>\n{table('Chosen motions', heads, groups)}"
    )


def _cells(run: CampaignRun) -> list[str]:
    return [number(run.condition), marked_up(run.route), stated(run.margin)]


def _paper(motion: str, interval: float) -> list[str]:
    condition, route, margin = COMPARED.get((motion, interval), (None, "–", None))
    return [number(condition), route, stated(margin)]
