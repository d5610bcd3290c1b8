"""URDF, the description of robots in ROS, read with the line of everything that is wrong with it."""

from steelyard.robot.urdf.reader import load_urdf, parse_urdf, robot_from_urdf_element

__all__ = [
    "load_urdf",
    "parse_urdf",
    "robot_from_urdf_element",
]
