r"""A mesh cut into pieces whose convex hulls hold it more closely than one hull does.

An arm's link is often shaped like a dumb-bell or an L, and its hull fills the room between. A plane cuts the
surface in two; where the hulls of both parts together are much smaller than the hull of the whole, the cut is
kept, and so on with the parts.

**All of the solid is held.** A triangle that the plane crosses is cut into parts that go to either side, so
every point of the surface lies in the hull of its side. A point of the solid inside lies on one side too: the
solid's share of that half-space is bounded by the surface there and by its cross-section in the plane, and
the cross-section lies in the hull of its rim, which belongs to both sides. A surface with holes encloses
nothing, and something could enter: it is not cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from steelyard.arrays import Array
from steelyard.inertia import Mesh

MOST_PIECES = 6
"""Pieces a mesh is cut into: pairs, and with them the cost of every distance, grow with their square."""
WORTH = 0.015
"""Share of the whole hull's volume that a cut must save."""
_OFFSETS = 13
"""Planes that are tried across each direction."""
_WAYS = 64
"""Directions in which a piece is felt to guess the volume of its hull."""
_FELT = 2000
"""Triangles that are felt to choose a cut; all of them are cut."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """Triangles, shape (k, 3, 3), the volume of their hull, what the best cut saves of it, and that cut."""

    triangles: Array
    volume: float
    saving: float
    axis: Array
    offset: float


def convex_pieces(mesh: Mesh, most: int = MOST_PIECES) -> list[Array]:
    """The points of pieces whose hulls together hold a mesh and what it encloses.

    Args:
        mesh: the mesh.
        most: how many pieces.

    Returns:
        One array of points each, shape (n, 3), m; one alone where no cut is worth it, or it is not closed.
    """
    if mesh.edge_defects().open:
        return [mesh.vertices]
    whole = _examined(mesh.vertices[mesh.faces])
    pieces = [whole]
    while len(pieces) < most:
        k = int(np.argmax([piece.saving for piece in pieces]))
        if pieces[k].saving < WORTH * whole.volume:
            break
        sides = [
            _side(pieces[k].triangles, sign * pieces[k].axis, sign * pieces[k].offset) for sign in (1.0, -1.0)
        ]
        pieces[k : k + 1] = [_examined(side) for side in sides]
    if len(pieces) == 1:
        return [mesh.vertices]
    return [np.unique(piece.triangles.reshape(-1, 3), axis=0) for piece in pieces]


def _examined(triangles: Array) -> _Piece:
    """A piece, with the plane across its axes or those of its spread that leaves the smallest hulls.

    The plane is chosen by guessed volumes, and what it saves is then computed.
    """
    volume = _volume(triangles.reshape(-1, 3))
    felt = triangles[:: max(1, len(triangles) // _FELT)]
    points = felt.reshape(-1, 3)
    least, axis, offset = _felt_volume(points), np.zeros(3), 0.0
    if min(volume, least) == 0.0:
        return _Piece(triangles, volume, 0.0, axis, offset)
    principal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    for way in (*np.eye(3), *principal):
        heights = points @ way
        for height in np.linspace(heights.min(), heights.max(), _OFFSETS + 2)[1:-1].tolist():
            both = sum(_felt_volume(_points_below(felt, sign * way, sign * height)) for sign in (1.0, -1.0))
            if both < least:
                least, axis, offset = both, way, height
    halves = [_volume(_points_below(triangles, sign * axis, sign * offset)) for sign in (1.0, -1.0)]
    # A flat half has no volume and no thickness that other programs would see.
    saving = volume - sum(halves) if axis.any() and min(halves) > 0.0 else 0.0
    return _Piece(triangles, volume, saving, axis, offset)


def _volume(points: Array) -> float:
    """The volume of the hull of points; none where they are flat."""
    if len(points) < 4:
        return 0.0
    try:
        return float(scipy.spatial.ConvexHull(points).volume)
    except scipy.spatial.QhullError:
        return 0.0


def _felt_volume(points: Array) -> float:
    """About the volume of the hull of points: that of those furthest out in some directions."""
    if not len(points):
        return 0.0
    return _volume(points[np.unique((points @ _WAYS_OUT.T).argmax(axis=0))])


def _spread_ways() -> Array:
    k = np.arange(_WAYS) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / _WAYS), np.pi * (1.0 + np.sqrt(5.0)) * k
    return np.column_stack((np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)))


_WAYS_OUT = _spread_ways()


def _points_below(triangles: Array, axis: Array, offset: float) -> Array:
    """Corners at or below a plane, and where edges cross it."""
    height = triangles @ axis - offset
    following, above = np.roll(triangles, -1, axis=1), np.roll(height, -1, axis=1)
    crossing = height * above < 0.0
    share = (height[crossing] / (height[crossing] - above[crossing]))[:, None]
    cut = triangles[crossing] + share * (following[crossing] - triangles[crossing])
    return np.vstack([triangles[height <= 0.0], cut])


def _side(triangles: Array, axis: Array, offset: float) -> Array:
    """What of triangles lies at or below a plane, as triangles; those crossed are cut."""
    height = triangles @ axis - offset
    below = height <= 0.0
    kept = [triangles[below.all(axis=1)]]
    for count in (1, 2):
        crossed = triangles[below.sum(axis=1) == count]
        h = height[below.sum(axis=1) == count]
        # The corner that is alone on its side comes first.
        alone = np.argmax((h <= 0.0) == (count == 1), axis=1)
        order = (alone[:, None] + np.arange(3)) % 3
        (a, b, c), (x, y, z) = (
            np.moveaxis(np.take_along_axis(v, o, axis=1), 1, 0)
            for v, o in ((crossed, order[:, :, None]), (h, order))
        )
        ab, ac = (a + (x / (x - s))[:, None] * (p - a) for p, s in ((b, y), (c, z)))
        if count == 1:
            kept.append(np.stack([a, ab, ac], axis=1))
        else:
            kept += [np.stack([ab, b, c], axis=1), np.stack([ab, c, ac], axis=1)]
    return np.vstack(kept)
