"""Identification campaigns: every motion at every sampling interval, through all stages, to one model.

`plan` makes the tasks, `robot_case` says what all of them are about, and the stages follow: `record`, `fit`,
`gather`.
"""

from steelyard.campaigns.identification.fit import links_behind
from steelyard.campaigns.identification.record import motion_of
from steelyard.campaigns.identification.robot_case import robot_case_of

__all__ = [
    "links_behind",
    "motion_of",
    "robot_case_of",
]
