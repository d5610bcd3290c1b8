r"""Every shape as a core and a radius: the points within that radius of the convex hull of a few points.

A ball is a point with a radius, a capsule a segment with one, a box eight corners without. The signed
distance of two shapes is that of their cores less both radii, whether they are apart or one within the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy

from steelyard.arrays import Array, IntArray, checked, keep_checked, read_only
from steelyard.errors import InputError
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Sphere

# Shapes of a scene beyond those of a robot: hulls of points, and zonotopes.

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
        keep_checked(self, (3,), "centre")
        object.__setattr__(self, "generators", read_only(generators))


Solid = Sphere | Box | Cylinder | Capsule | Hull | Zonotope
"""Every shape whose clearance can be computed."""


# The faces of a convex hull: corners, outward normals and directions of edges, also where it is flat.

FLAT = 1e-9
"""Extent, relative to the largest one, below which points count as lying in a plane or on a line."""
SAME = 1e-9
"""Difference below which two unit vectors count as one."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """What the distance of two polytopes depends on.

    Attributes:
        points: its corners, shape (n, 3), m.
        normals: outward unit normals of its faces, both of a flat one, shape (f, 3), dimensionless.
        edges: directions of its edges, each once whatever its sign, shape (e, 3), dimensionless.
    """

    points: Array
    normals: Array
    edges: Array


def polytope(points: Array) -> Polytope:
    """The convex hull of points.

    Args:
        points: at least one, in any order, shape (n, 3), m.

    Returns:
        Its corners, normals and edges; corners that lie within 1e-9 of its size of a flat hull are moved
        nowhere, only left out or kept.
    """
    spread = points - points.mean(axis=0)
    # All three axes, also of one or two points; of many, the left side would be a matrix of n by n.
    _, sizes, axes = np.linalg.svd(spread, full_matrices=len(spread) < 3)
    size = float(np.abs(spread).max(initial=0.0))
    if size == 0.0:
        return Polytope(points[:1], np.empty((0, 3)), np.empty((0, 3)))
    rank = int((sizes > FLAT * sizes[0]).sum())
    if rank == 1:
        along = spread @ axes[0]
        return Polytope(points[[along.argmin(), along.argmax()]], np.empty((0, 3)), axes[:1])
    if rank == 2:
        corners = points[scipy.spatial.ConvexHull(spread @ axes[:2].T).vertices]
        sides = np.roll(corners, -1, axis=0) - corners
        return Polytope(corners, np.array([axes[2], -axes[2]]), _directions(sides))
    hull = scipy.spatial.ConvexHull(spread)
    normals = hull.equations[:, :3]
    edges = []
    for k in range(3):
        # The triangles of a flat face share its normal; the lines between them are no edges.
        bent = np.abs(normals[hull.neighbors[:, k]] - normals).max(axis=1) > SAME
        ends = np.delete(hull.simplices, k, axis=1)[bent]
        edges.append(points[ends[:, 1]] - points[ends[:, 0]])
    return Polytope(points[hull.vertices], _distinct(normals), _directions(np.vstack(edges)))


def hull_corners(points: Array) -> Array:
    """The corners of the convex hull alone, which is all that is needed of a mesh of many points.

    Args:
        points: at least one, in any order, shape (n, 3), m.

    Returns:
        The corners, shape (k, 3), m.
    """
    spread = points - points.mean(axis=0)
    sizes = np.linalg.svd(spread, compute_uv=False)
    if len(points) < 4 or sizes[2] <= FLAT * sizes[0]:
        return polytope(points).points
    corners: Array = points[scipy.spatial.ConvexHull(spread).vertices]
    return corners


def zonotope_corners(centre: Array, generators: Array) -> Array:
    """The corners of a zonotope, by adding one generator after the other.

    Args:
        centre: shape (3,), m.
        generators: shape (m, 3), m.

    Returns:
        The corners, shape (n, 3), m.
    """
    points = centre[None]
    for generator in generators:
        points = polytope(np.vstack([points - generator, points + generator])).points
    return points


def _directions(vectors: Array) -> Array:
    """Unit vectors along the given ones, each line once."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    first = np.argmax(np.abs(units) > 0.5, axis=1)  # some component of a unit vector exceeds 0.577
    return _distinct(units * np.sign(units[np.arange(len(units)), first])[:, None])


def _distinct(units: Array) -> Array:
    """Each vector once; a pair that rounds to either side of a digit may stay, which only costs time."""
    return units[np.unique(np.round(units / SAME), axis=0, return_index=True)[1]].reshape(-1, 3)


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


# The cores of many shapes in flat arrays, the form compiled kernels read.


class Cores(NamedTuple):
    """Cores one after the other, each in the frame of the link that carries it; -1 is the base.

    Attributes:
        link: which link carries each core, shape (S,), dimensionless.
        radius: of each core, shape (S,), m.
        start: where each core's corners start, shape (S + 1,), dimensionless.
        points: corners, shape (n, 3), m.
        normal_start: where each core's normals start, shape (S + 1,), dimensionless.
        normals: of faces, shape (f, 3), dimensionless.
        edge_start: where each core's edges start, shape (S + 1,), dimensionless.
        edges: directions of edges, shape (e, 3), dimensionless.
    """

    link: IntArray
    radius: Array
    start: IntArray
    points: Array
    normal_start: IntArray
    normals: Array
    edge_start: IntArray
    edges: Array


def pack(links: Sequence[int], cores: Sequence[Core]) -> Cores:
    """Put cores one after the other.

    Args:
        links: index of the link that carries each core, -1 for the base.
        cores: each in the frame of its link.

    Returns:
        The arrays, read-only.
    """
    return Cores(
        read_only(np.array(links, dtype=np.int64)),
        read_only(np.array([core.radius for core in cores], dtype=np.float64)),
        *_stacked([core.points for core in cores]),
        *_stacked([core.normals for core in cores]),
        *_stacked([core.edges for core in cores]),
    )


def _stacked(arrays: Sequence[Array]) -> tuple[IntArray, Array]:
    starts = np.cumsum([0, *(len(array) for array in arrays)], dtype=np.int64)
    return read_only(starts), read_only(np.concatenate([np.empty((0, 3)), *arrays]))
