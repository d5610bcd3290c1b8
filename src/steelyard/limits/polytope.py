"""The faces of a convex hull: corners, outward normals and directions of edges, also where it is flat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from steelyard.arrays import Array

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
