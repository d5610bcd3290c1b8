"""ROS 2 bags without ROS: SQLite (`.db3`) and MCAP containers, and messages that tell of joints."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.recording.bags.alignment import bag_table
    from steelyard.recording.bags.folder import bag_files, bag_of

__all__ = ["bag_files", "bag_of", "bag_table"]

CONTAINERS = (".db3", ".mcap")
"""Kinds of files of a bag."""

open_door(__name__)
