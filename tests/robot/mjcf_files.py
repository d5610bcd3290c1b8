"""Robots of MJCF that a test writes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from steelyard.robot import Robot
from steelyard.robot.descriptions.mjcf.reader import load_mjcf


def robot_of_mjcf(text: bytes | str, name: str = "MJCF", *, snap: bool = False) -> Robot:
    """The robot of a text, read from a file with nothing beside it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_mjcf(path, snap=snap)
