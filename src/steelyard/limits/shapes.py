"""Shapes of a scene beyond those of a robot: hulls of points, and zonotopes."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.robot import Box, Capsule, Cylinder, Sphere

MOST_POINTS = 4096
"""Points a hull may be given by."""
MOST_GENERATORS = 32
"""Generators a zonotope may have: its vertices grow with the square of their number."""


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points; a point, a segment or a flat polygon where they span no more.

    Attributes:
        points: its points, in any order, also inner ones, shape (n, 3), m.
    """

    points: Array

    def __post_init__(self) -> None:
        points = checked("points", self.points, ("n", 3))
        if not 1 <= len(points) <= MOST_POINTS:
            raise InputError(
                f"a hull needs 1 to {MOST_POINTS} points, got {len(points)}.",
                place="points",
                remedy="Leave inner points out.",
            )
        object.__setattr__(self, "points", read_only(points))


@dataclass(frozen=True, eq=False)
class Zonotope:
    r"""The points $c + \sum_k t_k g_k$ with every $|t_k| \le 1$.

    Attributes:
        centre: c, shape (3,), m.
        generators: g, one per row, shape (m, 3), m.
    """

    centre: Array
    generators: Array

    def __post_init__(self) -> None:
        generators = checked("generators", self.generators, ("m", 3))
        if len(generators) > MOST_GENERATORS:
            raise InputError(
                f"a zonotope may have {MOST_GENERATORS} generators, got {len(generators)}.",
                place="generators",
                remedy="Merge the smallest into a box around them.",
            )
        object.__setattr__(self, "centre", read_only(checked("centre", self.centre, (3,))))
        object.__setattr__(self, "generators", read_only(generators))


Solid = Sphere | Box | Cylinder | Capsule | Hull | Zonotope
"""Every shape whose clearance can be computed."""
