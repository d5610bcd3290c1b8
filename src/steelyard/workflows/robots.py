"""List the robots that ship with the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.progress import Progress
from steelyard.workflows.options import workflow

if TYPE_CHECKING:
    from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class ShippedRobot:
    """A robot of the zoo.

    Attributes:
        name: what it is called where a robot is asked for.
        summary: what it is, in words.
        robot: the robot.
        sources: where its numbers come from, by what they are.
    """

    name: str
    summary: str
    robot: Robot = field(repr=False)
    sources: Mapping[str, str] = field(repr=False)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of its joints."""
        return self.robot.joint_names

    @property
    def mass(self) -> float:
        """What it weighs, kg."""
        return self.robot.mass


@dataclass(frozen=True, eq=False, repr=False)
class RobotCatalogue:
    """The robots of the zoo.

    Attributes:
        entries: the robots, in their order.
    """

    entries: tuple[ShippedRobot, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the robots are called."""
        return tuple(entry.name for entry in self.entries)

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        return {
            "robots": [
                {
                    "name": entry.name,
                    "summary": entry.summary,
                    "joints": list(entry.joints),
                    "mass": entry.mass,
                    "sources": dict(entry.sources),
                }
                for entry in self.entries
            ]
        }

    def __iter__(self) -> Iterator[ShippedRobot]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> Robot:
        return {entry.name: entry.robot for entry in self.entries}[name]

    def __repr__(self) -> str:
        return f"<RobotCatalogue of {len(self)} robots: {', '.join(self.names)}>"

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        return "\n".join(
            f"{entry.name:<{width}}  {entry.robot.nv:>2} joints {entry.mass:>6.3g} kg  {entry.summary}"
            for entry in self.entries
        )


@workflow
def robots(*, progress: Progress | None = None) -> RobotCatalogue:
    """List the robots that ship with the package, and where their numbers come from.

    Args:
        progress: told what is done.

    Returns:
        The robots with their sources.
    """
    from steelyard.zoo import ZOO

    return RobotCatalogue(
        tuple(ShippedRobot(name, entry.summary, entry.build(), entry.sources) for name, entry in ZOO.items())
    )
