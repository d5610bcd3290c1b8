"""Xacro, the macro language of robot descriptions, expanded without running any of its text as a program."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.robot.descriptions.xacro.expansion import load_xacro

__all__ = ["load_xacro"]

open_door(__name__)
