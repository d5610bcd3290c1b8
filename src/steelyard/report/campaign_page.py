"""The page of a campaign: one self-contained HTML file, readable with scripts off."""

from __future__ import annotations

from steelyard.report.campaign_cloud_section import cloud_section
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_held_out_section import (
    as_report,
    command_section,
    held_out_section,
    torque_curves,
)
from steelyard.report.campaign_model_section import model_section
from steelyard.report.campaign_opening import campaign_opening
from steelyard.report.campaign_record_section import campaign_record_section
from steelyard.report.campaign_routing_section import routing_section
from steelyard.report.campaign_run_table import run_section
from steelyard.report.page import SCRIPTS
from steelyard.report.payload_page import STYLES
from steelyard.report.plot_data import plot_data
from steelyard.report.shell import page
from steelyard.report.verdict_sections import checks_section


def campaign_page(content: CampaignContent) -> str:
    """Write the page of one campaign.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    common = as_report(content)
    sections = {
        "Verdict": ("verdict", campaign_opening(content)),
        "Checks": ("checks", checks_section(common)),
        "Clouds": ("clouds", cloud_section(content)),
        "Routing": ("routing", routing_section(content)),
        "Representative": ("representative", model_section(content)),
        "Held-out motions": ("held-out", held_out_section(content)),
        "Torque": ("torque", torque_curves(content)),
        "Commands": ("commands", command_section(content)),
        "All runs": ("runs", run_section(content)),
        "Record": ("record", campaign_record_section(content)),
    }
    return page(
        f"{content.robot}: campaign {content.name}",
        sections,
        plot_data(common),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
