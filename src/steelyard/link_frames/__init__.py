"""Frames on the links to state a reduction in: the description's own, or modified Denavit-Hartenberg."""

from steelyard.link_frames.frames import LinkFrames, urdf_frames
from steelyard.link_frames.modified_dh import modified_dh_frames

__all__ = [
    "LinkFrames",
    "modified_dh_frames",
    "urdf_frames",
]
