"""Identification campaigns: every motion at every sampling interval, through all stages, to one model."""

from steelyard.campaign.identification.record import motion_of
from steelyard.campaign.identification.refine import links_behind
from steelyard.campaign.identification.subject import subject_of

__all__ = [
    "links_behind",
    "motion_of",
    "subject_of",
]
