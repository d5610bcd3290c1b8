"""A description that simulators load, from one that they do not, with every change listed."""

from steelyard.robot.repair.edits import Change
from steelyard.robot.repair.repair import REMEDIES, Repair, repair_file, repair_urdf

__all__ = ["REMEDIES", "Change", "Repair", "repair_file", "repair_urdf"]
