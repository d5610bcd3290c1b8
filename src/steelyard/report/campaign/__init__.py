"""The page of a campaign."""

from steelyard.report.campaign.content import CampaignContent, campaign_content_of
from steelyard.report.campaign.page import campaign_page, campaign_summary

__all__ = [
    "CampaignContent",
    "campaign_content_of",
    "campaign_page",
    "campaign_summary",
]
