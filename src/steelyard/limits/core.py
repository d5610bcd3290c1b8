r"""Every shape as a core and a radius: the points within that radius of the convex hull of a few points.

A ball is a point with a radius, a capsule a segment with one, a box eight corners without. The signed
distance of two shapes is that of their cores less both radii, whether they are apart or one within the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.limits.polytope import polytope, zonotope_corners
from steelyard.limits.shapes import Hull, Solid, Zonotope
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Sphere

CYLINDER_SIDES = 16
CYLINDER_EXCESS = 1.0 / math.cos(math.pi / CYLINDER_SIDES) - 1.0
"""By how much of its radius the prism around a cylinder exceeds it, at the corners: 2 %."""


@dataclass(frozen=True, eq=False)
class Core:
    """A polytope and a radius around it; arrays are read-only.

    Attributes:
        points: corners, shape (n, 3), m.
        normals: outward unit normals of the faces, shape (f, 3), dimensionless.
        edges: unit directions of the edges, shape (e, 3), dimensionless.
        radius: how far the shape reaches beyond the polytope, m.
    """

    points: Array
    normals: Array
    edges: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        for name in ("points", "normals", "edges"):
            object.__setattr__(self, name, read_only(getattr(self, name).reshape(-1, 3)))

    @classmethod
    def around(cls, points: Array, radius: float = 0.0) -> Core:
        """The core that is the hull of points.

        Args:
            points: in any order, shape (n, 3), m.
            radius: how far the shape reaches beyond the hull, m.

        Returns:
            The core.
        """
        hull = polytope(points)
        return cls(hull.points, hull.normals, hull.edges, radius)

    def moved(self, pose: Pose) -> Core:
        """The same core at another place.

        Args:
            pose: X_AB, the core's frame B in A.

        Returns:
            The core in A.
        """
        R = pose.rotation
        return Core(pose.apply(self.points), self.normals @ R.T, self.edges @ R.T, self.radius)


def core_of(shape: Solid) -> Core:
    """The core of a shape, in the shape's frame.

    Every shape is exact but the cylinder: a prism of 16 sides stands around it, which holds all of it and
    exceeds it by 2 % of its radius at the prism's edges and by nothing at the middle of its sides and ends.

    Args:
        shape: the shape.

    Returns:
        Its core.
    """
    match shape:
        case Sphere(radius):
            return Core(np.zeros((1, 3)), np.empty((0, 3)), np.empty((0, 3)), radius)
        case Capsule(radius, length):
            ends = np.array([[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]])
            return Core(ends, np.empty((0, 3)), np.array([[0.0, 0.0, 1.0]]), radius)
        case Box(x, y, z):
            corners = np.array(list(product((-x / 2, x / 2), (-y / 2, y / 2), (-z / 2, z / 2))))
            return Core(corners, np.vstack([np.eye(3), -np.eye(3)]), np.eye(3))
        case Cylinder(radius, length):
            return Core.around(_prism(radius * (1.0 + CYLINDER_EXCESS), length))
        case Hull(points):
            return Core.around(points)
        case Zonotope(centre, generators):
            return Core.around(zonotope_corners(centre, generators))


def _prism(radius: float, length: float) -> Array:
    angles = 2.0 * np.pi * np.arange(CYLINDER_SIDES) / CYLINDER_SIDES
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    ends = [np.column_stack([ring, np.full(CYLINDER_SIDES, z)]) for z in (-length / 2, length / 2)]
    return np.vstack(ends)
