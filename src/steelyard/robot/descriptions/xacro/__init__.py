"""Xacro, the macro language of robot descriptions, expanded without running any of its text as a program."""

from __future__ import annotations

from steelyard.robot.descriptions.xacro.expansion import expand_xacro, load_xacro, uses_xacro

__all__ = ["expand_xacro", "load_xacro", "uses_xacro"]
