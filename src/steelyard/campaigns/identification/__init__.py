"""Identification campaigns: every motion at every sampling interval, through all stages, to one model.

`plan` makes the tasks, `robot_case` says what all of them are about, and the stages follow: `record`, `fit`,
`gather`. `reference` reads figures of somebody else, which no task sees and the page sets beside.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.campaigns.identification.fit import links_behind
    from steelyard.campaigns.identification.record import motion_of
    from steelyard.campaigns.identification.reference import (
        CampaignReference,
        ReferenceRun,
        campaign_reference,
    )
    from steelyard.campaigns.identification.robot_case import robot_case_of

__all__ = [
    "CampaignReference",
    "ReferenceRun",
    "campaign_reference",
    "links_behind",
    "motion_of",
    "robot_case_of",
]

open_door(__name__)
