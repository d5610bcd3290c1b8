"""The page of a motion."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.report.motion.content import Measure, SearchRecord, motion_content_of
    from steelyard.report.motion.page import motion_page

__all__ = [
    "Measure",
    "SearchRecord",
    "motion_content_of",
    "motion_page",
]

open_door(__name__)
