"""ROS 2 bags without ROS: SQLite (`.db3`) and MCAP containers of joint states."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.recording.bags.alignment import joint_state_table
    from steelyard.recording.bags.folder import bag_files, bag_of

__all__ = ["bag_files", "bag_of", "joint_state_table"]

CONTAINERS = (".db3", ".mcap")
"""Kinds of files of a bag."""

open_door(__name__)
