"""The page of a campaign."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.report.campaign.content import CampaignContent, campaign_content_of
    from steelyard.report.campaign.page import campaign_page, campaign_summary

__all__ = [
    "CampaignContent",
    "campaign_content_of",
    "campaign_page",
    "campaign_summary",
]

open_door(__name__)
