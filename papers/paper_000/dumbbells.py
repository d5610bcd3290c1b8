"""The five dumbbells: two hexagonal heads of cast iron on a steel handle, held at its middle.

The paper states their weights alone. Here the handle is one for all, and the heads are as large as their mass
needs, with a length of 0.75 of their width across flats, about that of dumbbells on the market.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt

import numpy as np

from steelyard.inertia import Body, cylinder
from steelyard.pose import Pose
from steelyard.robot import Box, Cylinder, Geometry

POUND = 0.45359237
"""kg."""
POUNDS = (4, 5, 6, 7, 8)
HANDLE_RADIUS, HANDLE_LENGTH = 0.0125, 0.11
"""m."""
STEEL, IRON = 7850.0, 7100.0
"""kg/m³."""
SLENDERNESS = 0.75
"""Length of a head over its width across flats."""
_ALONG_Y = Pose.from_rpy((-pi / 2.0, 0.0, 0.0))


@dataclass(frozen=True)
class Dumbbell:
    """A hexagonal dumbbell in a frame in its middle: handle along y, resting on flats below and above in z.

    Attributes:
        pounds: its weight, lb.
    """

    pounds: int

    @property
    def mass(self) -> float:
        """Its mass, kg."""
        return self.pounds * POUND

    @cached_property
    def height(self) -> float:
        """Width of the heads across flats, which is its height as it lies, m."""
        volume = 0.5 * (self.mass - self._handle.mass) / IRON
        return float((volume / (0.5 * sqrt(3.0) * SLENDERNESS)) ** (1.0 / 3.0))

    @property
    def width(self) -> float:
        """Width of the heads across corners, m."""
        return 2.0 * self.height / sqrt(3.0)

    @property
    def length(self) -> float:
        """From one end to the other, m."""
        return HANDLE_LENGTH + 2.0 * SLENDERNESS * self.height

    @cached_property
    def body(self) -> Body:
        """Its inertia."""
        return self._handle + self._head(-1.0) + self._head(1.0)

    @cached_property
    def shapes(self) -> tuple[Geometry, ...]:
        """The handle, and a box around each head."""
        box = Box(self.width, SLENDERNESS * self.height, self.height)
        heads = [Geometry(box, Pose(np.eye(3), np.array([0.0, y, 0.0]))) for y in (-self._off, self._off)]
        return (Geometry(Cylinder(HANDLE_RADIUS, HANDLE_LENGTH), _ALONG_Y), *heads)

    @property
    def hull(self) -> Box:
        """A box around all of it."""
        return Box(self.width, self.length, self.height)

    @property
    def _handle(self) -> Body:
        return cylinder(HANDLE_RADIUS, HANDLE_LENGTH, density=STEEL).moved(_ALONG_Y)

    @property
    def _off(self) -> float:
        """From the middle to that of a head, m."""
        return 0.5 * (HANDLE_LENGTH + SLENDERNESS * self.height)

    def _head(self, side: float) -> Body:
        m, across, along = 0.5 * (self.mass - self._handle.mass), self.height, SLENDERNESS * self.height
        # A regular hexagon of side s has second moments 5 s²/24 per unit mass about either axis.
        second = 5.0 / 24.0 * across**2 / 3.0
        lateral = m * (second + along**2 / 12.0)
        return Body(m, np.array([0.0, side * self._off, 0.0]), np.diag([lateral, 2.0 * m * second, lateral]))


DUMBBELLS = tuple(Dumbbell(pounds) for pounds in POUNDS)
"""In the order in which they are stacked."""
