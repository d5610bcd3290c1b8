"""MJCF, MuJoCo's description of robots, read with the line of everything that is wrong with it."""

from steelyard.robot.mjcf.reader import load_mjcf, parse_mjcf

__all__ = [
    "load_mjcf",
    "parse_mjcf",
]
