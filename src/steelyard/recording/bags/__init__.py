"""ROS 2 bags without ROS: SQLite (`.db3`) and MCAP containers of joint states."""

from steelyard.recording.bags.alignment import joint_state_table
from steelyard.recording.bags.folder import DECODERS, bag_files, bag_of

__all__ = [
    "DECODERS",
    "bag_files",
    "bag_of",
    "joint_state_table",
]
