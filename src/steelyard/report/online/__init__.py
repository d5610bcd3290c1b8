"""The page of a robot that learns while it moves, live and afterwards."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.report.online.content import online_content_of, online_head_of
    from steelyard.report.online.live import LiveObserver, LiveView
    from steelyard.report.online.page import online_page

__all__ = ["LiveObserver", "LiveView", "online_content_of", "online_head_of", "online_page"]

open_door(__name__)
