"""Where dumbbells are taken up and placed, and what stands in the way.

The paper states how far the platform is from the robot, and that one obstacle is low, the other high. All
other places and sizes are chosen here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from paper_000.dumbbells import DUMBBELLS, Dumbbell
from paper_000.poses import joints_at, pointing_down
from steelyard.arrays import Array
from steelyard.limits import Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box

LIFTED = (0.0, 0.45, 0.22)
"""Where the grasp is after a dumbbell was taken up, at the robot's side, m."""
PLATFORM_HEIGHT = 0.06
"""m."""
HOVER = 0.02
"""How far above its place a dumbbell is let go, m."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """One of the paper's three experiments.

    Attributes:
        name: as the paper calls it.
        dumbbells: what is carried, in this order.
        place: where the grasp ends, or the foot of the stack, m.
        azimuth: of the arm there, rad.
        obstacles: what stands still from the beginning.
        distance: how far everything must stay apart on a motion, m.
        stacked: whether each dumbbell is put onto the one before.
    """

    name: str
    dumbbells: tuple[Dumbbell, ...]
    place: tuple[float, float, float]
    azimuth: float
    obstacles: tuple[Obstacle, ...]
    distance: float
    stacked: bool

    @cached_property
    def start(self) -> Array:
        """Joint positions with a dumbbell lifted, shape (nv,), rad."""
        return joints_at(pointing_down(LIFTED, pi / 2.0), pi / 2.0)

    def target(self, dumbbell: Dumbbell) -> Pose:
        """Where the grasp must end.

        Args:
            dumbbell: the one that is carried.

        Returns:
            Pose of the grasp in the base frame.
        """
        x, y, z = self.place
        if self.stacked:
            z += self._stack_below(dumbbell) + 0.5 * dumbbell.height + HOVER
        return pointing_down((x, y, z), self.azimuth)

    def end(self, dumbbell: Dumbbell) -> Array:
        """Joint positions there, shape (nv,), rad."""
        return joints_at(self.target(dumbbell), self.azimuth)

    def scene(self, dumbbell: Dumbbell) -> Scene:
        """What stands around the arm while it carries a dumbbell, those placed before included.

        Args:
            dumbbell: the one that is carried.

        Returns:
            The scene.
        """
        placed = []
        if self.stacked:
            x, y, z = self.place
            for other in self.dumbbells[: self.dumbbells.index(dumbbell)]:
                middle = (x, y, z + self._stack_below(other) + 0.5 * other.height)
                turned = Pose.from_rpy((0.0, 0.0, self.azimuth), middle)
                placed.append(Obstacle(f"{other.pounds} lb", other.hull, turned))
        return Scene((*self.obstacles, *placed))

    def _stack_below(self, dumbbell: Dumbbell) -> float:
        return sum(other.height for other in self.dumbbells[: self.dumbbells.index(dumbbell)])


def _box(
    name: str, size: tuple[float, float, float], middle: tuple[float, float], bottom: float = 0.0
) -> Obstacle:
    x, y = middle
    return Obstacle(name, Box(*size), Pose(np.eye(3), np.array([x, y, bottom + 0.5 * size[2]])))


_TABLE = _box("table", (1.6, 1.6, 0.04), (0.0, 0.0), bottom=-0.04)


def _stacking(name: str, ahead: float, obstacle: Obstacle) -> Experiment:
    platform = _box("platform", (0.12, 0.26, PLATFORM_HEIGHT), (ahead, 0.0))
    place = (ahead, 0.0, PLATFORM_HEIGHT)
    return Experiment(name, DUMBBELLS, place, 0.0, (_TABLE, platform, obstacle), 0.01, True)


LOW = _stacking("a", 0.25, _box("low obstacle", (0.12, 0.12, 0.22), (0.3, 0.3)))
"""Experiment (a): the platform 0.25 m in front of the robot, a low obstacle in the way."""
HIGH = _stacking("b", 0.50, _box("high obstacle", (0.12, 0.12, 0.40), (0.4, 0.36)))
"""Experiment (b): the platform 0.50 m in front of the robot, a high obstacle in the way."""
NARROW = Experiment(
    "c",
    (DUMBBELLS[-1],),
    (0.5, 0.0, 0.25),
    0.0,
    (
        _TABLE,
        _box("post", (0.12, 0.12, 0.40), (0.4, 0.36)),
        _box("wall", (0.04, 0.30, 0.30), (0.58, 0.0)),
        _box("shelf", (0.30, 0.04, 0.19), (0.35, 0.16)),
    ),
    0.005,
    False,
)
"""Experiment (c): the heaviest dumbbell along a path close to obstacles."""
EXPERIMENTS = {each.name: each for each in (LOW, HIGH, NARROW)}
