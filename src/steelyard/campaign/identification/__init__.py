"""Identification campaigns: every motion at every sampling interval, through all stages, to one model."""

from steelyard.campaign.identification.record import motion_of
from steelyard.campaign.identification.subject import Subject, subject_of

__all__ = ["Subject", "motion_of", "subject_of"]
