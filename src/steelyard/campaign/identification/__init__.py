"""Identification campaigns: every motion at every sampling interval, through all stages, to one model."""

from steelyard.campaign.identification.fit import links_behind
from steelyard.campaign.identification.record import motion_of
from steelyard.campaign.identification.robot_case import robot_case_of

__all__ = [
    "links_behind",
    "motion_of",
    "robot_case_of",
]
