"""Fewer corners for the hull of a mesh, thickened so that nothing of it is left outside."""

from __future__ import annotations

import numpy as np
import scipy

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.limits.core import Core
from steelyard.limits.gjk import COLUMNS, CORNERS, walk_apart
from steelyard.limits.polytope import FLAT, hull_corners, polytope

MOST_CORNERS = 48
"""Corners a mesh keeps: each one more costs a step of the search in every distance."""

MANY, _BLOCK = 2048, 32
"""Corners of a hull among which all are looked at for the furthest, and directions that are looked along at a
time where there are more."""


def covering_core(points: Array, most: int = MOST_CORNERS) -> Core:
    """A core that holds every one of many points.

    Where their hull has more corners than allowed, those furthest out are kept one after the other, and the
    radius is the largest distance of the others to the hull of these: the core reaches nowhere further than
    its radius beyond the hull of the points.

    Args:
        points: in any order, shape (n, 3), m.
        most: corners to keep, at least 4.

    Returns:
        The core; its radius is zero where nothing had to be left out.
    """
    corners = hull_corners(points)
    if len(corners) <= most:
        return Core.around(corners)
    candidates = _outermost(corners) if len(corners) > MANY else corners
    kept = _far_corners(candidates)
    while len(kept) < min(most, len(candidates)):
        beyond = _beyond(candidates[kept], candidates)
        beyond[kept] = -np.inf
        kept.append(int(beyond.argmax()))
    core = Core.around(candidates[kept])
    room = np.vstack([core.points, np.zeros((1, 3))])
    return Core(core.points, core.normals, core.edges, _furthest_outside(corners, room))


def _outermost(corners: Array) -> Array:
    """Those of many corners that lie furthest out in one of `MANY` directions, which are spread evenly.

    What is left out widens the core's radius, as whatever else it does not keep.
    """
    k = np.arange(MANY) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / MANY), np.pi * (1.0 + np.sqrt(5.0)) * k
    ways = np.column_stack((np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)))
    found = [(corners @ block.T).argmax(axis=0) for block in np.split(ways, MANY // _BLOCK)]
    outermost: Array = corners[np.unique(np.concatenate(found))]
    return outermost


def _far_corners(corners: Array) -> list[int]:
    """Up to four corners that span what all span: each lies furthest from the span of those before."""
    kept = [int(np.linalg.norm(corners - corners.mean(axis=0), axis=1).argmax())]
    left = corners - corners[kept[0]]
    size = float(np.linalg.norm(left, axis=1).max())
    for _ in range(3):
        lengths = np.linalg.norm(left, axis=1)
        furthest = int(lengths.argmax())
        if lengths[furthest] <= FLAT * size:
            break
        kept.append(furthest)
        way = left[furthest] / lengths[furthest]
        left = left - np.outer(left @ way, way)
    return kept


def _beyond(kept: Array, points: Array) -> Array:
    """How far points lie beyond the nearest face of the hull of some; in its plane where that is flat."""
    if len(polytope(kept).normals) <= 2:
        spread = kept - kept.mean(axis=0)
        axes = np.linalg.svd(spread, full_matrices=True)[2][:2]
        kept, points = spread @ axes.T, (points - kept.mean(axis=0)) @ axes.T
    planes = scipy.spatial.ConvexHull(kept).equations
    return np.asarray((points @ planes[:, :-1].T + planes[:, -1]).max(axis=1))


@kernel
def _furthest_outside(points: Array, room: Array) -> float:
    """Largest distance of points (n, 3) to the hull of all but the last row of room (c + 1, 3)."""
    simplex, owners = np.empty((CORNERS, COLUMNS)), np.empty((CORNERS, 2), np.int64)
    out = np.empty(9)
    last, largest = len(room) - 1, 0.0
    for n in range(len(points)):
        room[last] = points[n]
        largest = max(largest, walk_apart(room, last, last + 1, 0, last, simplex, owners, out))
    return largest
