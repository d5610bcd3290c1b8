"""The chosen model on the page of a campaign: stage by stage, what changed, and its parameters."""

from __future__ import annotations

from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_words import counted, number, yes
from steelyard.report.numerals import MINUS, aligned, numeral
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up, unit_text

_EIGENVALUE = "kg·m²"
_CLAIMS = (
    "<p>Two different claims are made. <strong>Positive definite at every pose</strong>: the inertia matrix "
    "never lets a motion carry negative kinetic energy, so that simulation and control can invert it. "
    "<strong>Physically possible</strong>: links of positive mass, somewhere, have exactly these parameters. "
    "What is possible is never negative; but a model can be positive definite at every pose although no real "
    "links have its parameters.</p>\n"
)


def model_section(content: CampaignContent) -> str:
    """The representative through the stages (paper 004, Tables V and VI) and the accepted parameters.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no run was chosen.
    """
    if not content.representative:
        return ""
    return f"{_choice(content)}{_stages(content)}{_changes(content)}{_parameters(content)}"


def _choice(content: CampaignContent) -> str:
    label = f"<strong><bdi>{marked_up(content.representative)}</bdi></strong>"
    cloud = content.cloud
    if cloud is None:
        return f"<p>The representative is {label}.</p>\n"
    among = counted(len(content.candidates), "candidate") if content.candidates else "all runs"
    ranked = cloud.ranking(content.candidates or None)
    places = {name: k for k, (name, _) in enumerate(ranked)}
    words = f"The representative is {label}"
    if content.representative in places:
        place = places[content.representative]
        distance = number(ranked[place][1])
        words += (
            f": the most central of {among} after {marked_up(cloud.stages[-1].name)}, at a distance of "
            f"{distance} scales from the median of the cloud"
            if place == 0
            else f": number {place + 1} of {len(ranked)} by its distance of {distance} scales from the median"
        )
    rest = ", ".join(
        f"<bdi>{marked_up(name)}</bdi> ({number(distance)})"
        for name, distance in ranked[:4]
        if name != content.representative
    )
    return f"<p>{words}.{f' Next to it: {rest}.' if rest else ''}</p>\n"


def _stages(content: CampaignContent) -> str:
    stages = content.stages
    if not stages:
        return ""
    poses = max(stage.poses for stage in stages)
    over = f"over {poses:,} sampled poses".replace(",", "\u202f") if poses else "over sampled poses"
    rows = [
        (f"least eigenvalue {over}", *(number(stage.sampled, _EIGENVALUE) for stage in stages)),
        ("least found by minimisation", *(number(stage.minimised, _EIGENVALUE) for stage in stages)),
        ("proven positive at every pose", *(yes(stage.proven) for stage in stages)),
        ("proven lower bound", *(number(stage.bound, _EIGENVALUE) for stage in stages)),
        ("physically possible", *(yes(stage.possible) for stage in stages)),
        ("margin asked for", *(number(stage.margin, _EIGENVALUE) for stage in stages)),
        ("remark", *(marked_up(stage.remark) or "–" for stage in stages)),
    ]
    heads = ("inertia matrix", *(marked_up(stage.stage) for stage in stages))
    return f"{_CLAIMS}{table('The representative, stage by stage', heads, [rows])}"


def _changes(content: CampaignContent) -> str:
    if not content.changes:
        return ""
    before = marked_up(content.changed_from or "before")
    heads = ("parameter", before, "accepted", "change")
    rows = [
        (
            f"<bdi>{marked_up(change.name)}</bdi>",
            number(change.before, unit_text(change.unit), digits=4),
            number(change.after, unit_text(change.unit), digits=4),
            number(change.change, unit_text(change.unit), digits=2),
        )
        for change in content.changes
    ]
    return f"<h3>Largest changes by the last stage</h3>\n{table('Largest changes', heads, [rows])}"


def _parameters(content: CampaignContent) -> str:
    if not content.parameters:
        return ""
    published = any(parameter.published is not None for parameter in content.parameters)
    values = aligned([numeral(parameter.value) for parameter in content.parameters])
    heads = ["parameter", "accepted", "unit"]
    if published:
        heads += ["paper’s value", "paper’s name"]
    rows = []
    for parameter, value in zip(content.parameters, values, strict=True):
        row = [f"<bdi>{marked_up(parameter.name)}</bdi>", value, unit_text(parameter.unit)]
        if published:
            row += [_printed(parameter.published), marked_up(parameter.published_name) or "–"]
        rows.append(row)
    note = (
        "<p>The paper’s values are those of its own arm, in its own grouping of parameters; they show sizes, "
        "not what should have come out here.</p>\n"
        if published
        else ""
    )
    return f"<h3>Accepted parameters</h3>\n{note}{table('Accepted parameters', heads, [rows])}"


def _printed(value: float | None) -> str:
    """With the five decimals the paper prints."""
    return "–" if value is None else f"{value:.5f}".replace("-", MINUS)
