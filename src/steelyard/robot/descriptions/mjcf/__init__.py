"""MJCF, MuJoCo's description of robots, read with the line of everything that is wrong with it."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.robot.descriptions.mjcf.reader import load_mjcf

__all__ = ["load_mjcf"]

open_door(__name__)
