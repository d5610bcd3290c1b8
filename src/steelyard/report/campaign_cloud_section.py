"""The parameter cloud on the page of a campaign: pictures, dispersion, axes, and the runs apart."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.audit import ParameterCloud
from steelyard.report.campaign_cloud_axes import reach
from steelyard.report.campaign_cloud_figure import family_key, stage_figure
from steelyard.report.campaign_cloud_tables import (
    apart_table,
    component_table,
    deviation_table,
    dispersion_table,
)
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_words import counted
from steelyard.report.safe_text import marked_up

ENLARGED = 0.6
"""Share of the common axes below which the last stage is drawn a second time on its own."""


def cloud_section(content: CampaignContent) -> str:
    """The answers of all runs after every stage (paper 004, Fig. 7).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there is no cloud.
    """
    cloud = content.cloud
    if cloud is None:
        return ""
    families = {run.label: run.family for run in content.runs}
    panels = "\n".join(
        f"<figure><figcaption><strong>{marked_up(stage.name)}</strong>"
        f"<span>{counted(int(stage.answered.sum()), 'run')}</span></figcaption>"
        f"{stage_figure(cloud, stage, families, content.representative)}</figure>"
        for stage in cloud.stages
    )
    panels += _enlarged(content, cloud, families)
    shown = list(dict.fromkeys(families[label] for label in cloud.labels))
    out = (
        f" {counted(len(cloud.left_out), 'answer')} that lie apart at their stage are drawn, but have no say "
        "in the axes."
        if cloud.left_out
        else ""
    )
    return (
        f"<p>Each mark is the answer of one run: {len(cloud.names)} parameters, centred, divided by their "
        "scales and projected on the first two principal components of all stages together. All pictures "
        "share their axes; point at a mark to read its run. Answers beyond the axes stand at the edge, "
        f"fainter.{out}</p>\n"
        f'<div class="facts">\n{panels}\n</div>\n{family_key(shown)}'
        f"{_ringed(content)}{dispersion_table(cloud)}{apart_table(cloud)}"
        f"{component_table(cloud)}{deviation_table(cloud)}"
    )


def _enlarged(content: CampaignContent, cloud: ParameterCloud, families: Mapping[str, str]) -> str:
    """The last stage on axes of its own, where the common ones leave little of it to see."""
    last = cloud.stages[-1]
    if not last.answered.any():
        return ""
    (low, high), (own_low, own_high) = reach(cloud.stages), reach((last,))
    if float(((own_high - own_low) / (high - low)).max()) > ENLARGED:
        return ""
    return (
        f"\n<figure><figcaption><strong>{marked_up(last.name)}, enlarged</strong><span>axes of its own</span>"
        f"</figcaption>{stage_figure(cloud, last, families, content.representative, enlarged=True)}</figure>"
    )


def _ringed(content: CampaignContent) -> str:
    if not content.representative:
        return ""
    return (
        f'<p class="quiet">Ringed: <bdi>{marked_up(content.representative)}</bdi>, the representative.</p>\n'
    )
