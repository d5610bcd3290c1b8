"""MJCF, MuJoCo's description of robots, read with the line of everything that is wrong with it."""

from __future__ import annotations

from steelyard.robot.descriptions.mjcf.reader import load_mjcf

__all__ = ["load_mjcf"]
