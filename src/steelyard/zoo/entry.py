"""One robot of the zoo: how to build it and where each of its numbers comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from steelyard.robot import Robot


@dataclass(frozen=True)
class ZooEntry:
    """A robot that ships with the package.

    Attributes:
        name: what to call it on the command line.
        summary: what it is, in one line.
        sources: for each group of numbers, where they come from; `assumed` says that nobody published them.
        build: makes the robot.
    """

    name: str
    summary: str
    sources: Mapping[str, str]
    build: Callable[[], Robot]
