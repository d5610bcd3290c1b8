"""Xacro, the macro language of robot descriptions, expanded without running any of its text as a program."""

from steelyard.robot.xacro.reader import expand_xacro, load_xacro, uses_xacro

__all__ = [
    "expand_xacro",
    "load_xacro",
    "uses_xacro",
]
