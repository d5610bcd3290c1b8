"""What stands around a robot: named shapes at fixed places."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import InputError
from steelyard.limits.shapes import Solid
from steelyard.pose import Pose


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A shape that does not move.

    Attributes:
        name: what to call it.
        shape: what it is.
        pose: X_BO, the shape's frame in the base frame of the robot.
    """

    name: str
    shape: Solid
    pose: Pose

    @property
    def title(self) -> str:
        """Its kind and name, such as `box 'table'`."""
        return f"{type(self.shape).__name__.lower()} '{self.name}'"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a robot must stay clear of.

    Attributes:
        obstacles: each with a name of its own.
    """

    obstacles: tuple[Obstacle, ...] = ()
    schema: int = 1

    def __post_init__(self) -> None:
        names = [obstacle.name for obstacle in self.obstacles]
        for k, name in enumerate(names):
            if not name.strip() or not name.isprintable():
                raise InputError(f"obstacle {k + 1} needs a name that can be printed.", place="scene")
            if name in names[:k]:
                raise InputError(
                    f"the name '{name}' is used twice.", place="scene", remedy="Rename one obstacle."
                )
