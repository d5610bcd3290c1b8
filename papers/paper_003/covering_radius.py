"""How large balls must be to hold a convex hull: exactly, not at samples."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.limits.shapes import FLAT

THIN = 1e-4
"""Half the thickness that a flat hull is given, relative to its size: a body has some."""
ROUND_OFF = 1e-9
SAME_PLACE = 1e-6
"""Distance, relative to the hull's size, below which two centres are one."""


def covering_radius(centres: ArrayLike, points: ArrayLike) -> float:
    r"""The smallest radius at which balls hold the whole convex hull of points.

    $$r = \max_{x \in H} \min_k |x - c_k|$$

    A ball whose centre is nearest to x for every x of a convex cell (Voronoi's, cut by the hull) is furthest
    from one of the cell's corners, for the distance is convex. So the corners of all cells are looked at.
    Points alone would not do: between two clusters the hull holds points that are far from both.

    Args:
        centres: c, inside the hull, shape (K, 3), m.
        points: in any order, shape (n, 3), m; a flat hull is made 1e-4 of its size thick.

    Returns:
        The radius, m.
    """
    c = checked("centres", centres, ("K", 3))
    hull = scipy.spatial.ConvexHull(_solid(checked("points", points, ("n", 3))))
    inside = hull.points[hull.vertices].mean(axis=0)
    faces = np.unique(hull.equations, axis=0)
    size = float(np.ptp(hull.points, axis=0).max())
    largest = 0.0
    for own in c:
        others, lengths = c - own, np.linalg.norm(c - own, axis=1)
        # Itself, and others at the same place: a cell that they do not bound is too large, never too small.
        others, lengths = others[lengths > SAME_PLACE * size], lengths[lengths > SAME_PLACE * size]
        # Positions from here on are about the centre: those as near to it as to another lie below a bisector.
        bisectors = np.column_stack([others / lengths[:, None], -0.5 * lengths])
        shifted = np.column_stack([faces[:, :3], faces[:, 3] + faces[:, :3] @ own])
        # From the centre, which may be a corner of the hull, half the way towards the inside or a bisector.
        towards = inside - own
        speeds = np.maximum(bisectors[:, :3] @ towards, 0.0)
        share = 0.5 / max(1.0, float((speeds / (0.5 * lengths)).max(initial=0.0)))
        cell = scipy.spatial.HalfspaceIntersection(np.vstack([shifted, bisectors]), share * towards)
        largest = max(largest, float(np.linalg.norm(cell.intersections, axis=1).max()))
    return (1.0 + ROUND_OFF) * largest


def _solid(points: Array) -> Array:
    """The points, and where they span no volume the same on both sides of them."""
    spread = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(np.vstack([spread, np.zeros((3, 3))]), full_matrices=False)
    size = float(np.linalg.norm(spread, axis=1).max()) or 1.0
    for axis in axes[sizes <= FLAT * max(sizes[0], FLAT)]:
        points = np.vstack([points - THIN * size * axis, points + THIN * size * axis])
    return points
