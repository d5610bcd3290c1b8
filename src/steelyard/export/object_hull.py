"""The convex hull of an object: closed, facing outwards, with no more corners than a simulator can bear."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.inertia import Mesh

MOST_CORNERS = 256
"""Corners of a hull that touches: every contact searches them at every step."""
_CHUNK = 2048  # points at a time, which bounds the memory of a large mesh


def convex_hull(points: ArrayLike) -> Mesh:
    """The convex hull of points as a closed mesh whose faces point outwards.

    Args:
        points: in any order, shape (n, 3), m.

    Returns:
        The hull; its vertices are those points that are its corners.

    Raises:
        InputError: the points lie in a plane.
    """
    cloud = checked("points", points, ("n", 3))
    try:
        hull = ConvexHull(cloud - cloud.mean(axis=0))
    except (QhullError, ValueError) as error:
        raise InputError("lies in a plane, so that it has no convex hull.", place="points") from error
    inwards = (_normals(cloud[hull.simplices]) * hull.equations[:, :3]).sum(axis=1) < 0.0
    faces = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    kept, places = np.unique(faces, return_inverse=True)
    return Mesh(cloud[kept], places.reshape(faces.shape))


def thinned_hull(hull: Mesh, most: int = MOST_CORNERS) -> Mesh:
    """A hull with fewer corners, none of it outside the given one.

    Kept are the corners that reach furthest in evenly spread directions, seen in a frame in which the hull is
    as wide along every axis.

    Args:
        hull: a convex mesh.
        most: corners it may keep, at least 16.

    Returns:
        The hull of the corners that are kept; the given one where it has few enough.
    """
    if len(hull.vertices) <= most:
        return hull
    # A spiral from pole to pole whose turns are a golden section apart covers the sphere evenly.
    k = np.arange(most)
    z, turn = 1.0 - (2.0 * k + 1.0) / most, np.pi * (3.0 - np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z**2)
    directions = np.column_stack((r * np.cos(turn), r * np.sin(turn), z))
    spread = hull.vertices - hull.vertices.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1]
    along = spread @ axes
    along /= along.max(axis=0) - along.min(axis=0)
    furthest = [int((along @ direction).argmax()) for direction in directions]
    return convex_hull(hull.vertices[np.unique(furthest)])


def heights(hull: Mesh, points: Array) -> Array:
    """How far points lie in front of the face of a hull that they are most in front of.

    Args:
        hull: a convex mesh whose faces point outwards.
        points: shape (n, 3), m.

    Returns:
        The heights, not positive inside, shape (n,), m.
    """
    corners = hull.vertices[hull.faces]
    normals = _normals(corners)
    areas = np.linalg.norm(normals, axis=1)
    solid = areas > 1e-12 * areas.max()  # a sliver of a triangulated face has no direction
    units = normals[solid] / areas[solid, None]
    offsets = (units * corners[solid, 0]).sum(axis=1)
    parts = np.array_split(points, max(1, len(points) // _CHUNK))
    return np.concatenate([(part @ units.T - offsets).max(axis=1) for part in parts])


def _normals(corners: Array) -> Array:
    """Twice the area of triangles (k, 3, 3) along their normal, shape (k, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
