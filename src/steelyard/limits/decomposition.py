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
from inspect import getfile

import numpy as np
import scipy

from steelyard.arrays import Array, IntArray
from steelyard.inertia import Mesh
from steelyard.kept import kept_arrays

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
_MANY = 500
"""Points from which on those that lie inside are sorted out before a hull is made."""
_SURE = 1e-9
"""How deep inside a point must lie to be left out, over the size of all."""
_BLOCK = 8192
"""Points that are looked at together, which bounds the memory of a large mesh."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """Points (n, 3) and triangles of them (k, 3), the volume of their hull, the best cut and what it saves.

    With the cut go the volumes of the hulls of what lies below it and above it.
    """

    points: Array
    triangles: IntArray
    volume: float
    saving: float
    axis: Array
    offset: float
    halves: tuple[float, float] = (0.0, 0.0)


def convex_pieces(mesh: Mesh, most: int = MOST_PIECES) -> list[Array]:
    """The points of pieces whose hulls together hold a mesh and what it encloses.

    Cuts of detailed meshes take seconds and are kept on disk (`steelyard.kept`).

    Args:
        mesh: the mesh.
        most: how many pieces.

    Returns:
        One array of points each, shape (n, 3), m; one alone where no cut is worth it, or it is not closed.
    """
    given = (mesh.vertices, mesh.faces, float(most))
    cut = kept_arrays("pieces", given, lambda: _cut(mesh, most), code=(__file__, getfile(Mesh)))
    return cut or [mesh.vertices]


def _cut(mesh: Mesh, most: int) -> list[Array]:
    """The points of pieces, none where the mesh is not cut."""
    if mesh.edge_defects().open:
        return []
    points, triangles = _used(mesh.vertices, mesh.faces)
    whole = _examined(points, triangles, _volume(points))
    pieces = [whole]
    while len(pieces) < most:
        k = int(np.argmax([piece.saving for piece in pieces]))
        chosen = pieces[k]
        if chosen.saving < WORTH * whole.volume:
            break
        pieces[k : k + 1] = [
            _examined(*_side(chosen, sign), volume)
            for sign, volume in zip((1.0, -1.0), chosen.halves, strict=True)
        ]
    if len(pieces) == 1:
        return []
    return [np.unique(_outer(piece.points), axis=0) for piece in pieces]


def _examined(points: Array, triangles: IntArray, volume: float) -> _Piece:
    """A piece, with the plane across its axes or those of its spread that leaves the smallest hulls.

    The plane is chosen by guessed volumes, and what it saves is then computed.

    Args:
        points: shape (n, 3), m.
        triangles: indices of them, shape (k, 3), dimensionless.
        volume: of their hull, m^3.
    """
    felt = points[triangles[:: max(1, len(triangles) // _FELT)]]
    corners = felt.reshape(-1, 3)
    reach = _WAYS_OUT @ corners.T
    least, axis, offset = _volume(corners[np.unique(reach.argmax(axis=1))]), np.zeros(3), 0.0
    if min(volume, least) == 0.0:
        return _Piece(points, triangles, volume, 0.0, axis, offset)
    principal = np.linalg.svd(corners - corners.mean(axis=0), full_matrices=False)[2]
    for way in (*np.eye(3), *principal):
        heights = corners @ way
        offsets = np.linspace(heights.min(), heights.max(), _OFFSETS + 2)[1:-1]
        for height, both in zip(offsets.tolist(), _felt_sides(felt, reach, way, offsets), strict=True):
            if both < least:
                least, axis, offset = both, way, height
    if not axis.any():
        return _Piece(points, triangles, volume, 0.0, axis, offset)
    height = points @ axis - offset
    rim = _crossings(points[triangles], height[triangles])
    below, above = (_volume(np.vstack([points[side], rim])) for side in (height <= 0.0, height >= 0.0))
    # A flat half has no volume and no thickness that other programs would see.
    saving = volume - below - above if min(below, above) > 0.0 else 0.0
    return _Piece(points, triangles, volume, saving, axis, offset, (below, above))


def _felt_sides(felt: Array, reach: Array, way: Array, offsets: Array) -> list[float]:
    """About the volumes of the hulls on both sides of planes across a direction, together.

    Of each side those points count that are furthest out in some directions. A point between two planes lies
    below all higher ones, so the furthest of each slice are found once, and those of a side by comparing
    slices.

    Args:
        felt: triangles, shape (k, 3, 3), m.
        reach: of their corners along the directions, shape (`_WAYS`, 3 k), m.
        way: of unit length, shape (3,), dimensionless.
        offsets: of the planes, rising, shape (p,), m.

    Returns:
        The volume for each plane, m^3.
    """
    points = felt.reshape(-1, 3)
    heights = points @ way
    # A point in a plane belongs to both of its sides.
    low = _furthest(reach, np.searchsorted(offsets, heights, "left"), len(offsets) + 1)
    high = _furthest(reach, np.searchsorted(offsets, heights, "right"), len(offsets) + 1)
    volumes = []
    for k, offset in enumerate(offsets.tolist()):
        rim = _crossings(felt, heights.reshape(-1, 3) - offset)
        volumes.append(
            sum(_felt_volume(points, reach, slices, rim) for slices in (low[: k + 1], high[k + 1 :]))
        )
    return volumes


def _furthest(reach: Array, slices: IntArray, count: int) -> IntArray:
    """The point of each slice that is furthest in each direction, shape (count, ways); -1 in an empty one."""
    order = np.argsort(slices, kind="stable")
    ends = np.searchsorted(slices[order], np.arange(count + 1))
    sorted_reach = reach[:, order]
    found = np.full((count, len(reach)), -1)
    for k in range(count):
        if ends[k] < ends[k + 1]:
            found[k] = order[ends[k] + sorted_reach[:, ends[k] : ends[k + 1]].argmax(axis=1)]
    return found


def _felt_volume(points: Array, reach: Array, slices: IntArray, rim: Array) -> float:
    """About the volume of the hull of slices and of a rim: that of those furthest out in some directions."""
    candidates = slices[slices[:, 0] >= 0]
    ways = np.arange(len(reach))
    out, chosen = np.full(len(reach), -np.inf), np.zeros((0, 3))
    if len(candidates):
        values = reach[ways, candidates]
        best = values.argmax(axis=0)
        out, chosen = values[best, ways], points[candidates[best, ways]]
    if len(rim):
        along = _WAYS_OUT @ rim.T
        furthest = along.argmax(axis=1)
        beyond = along[ways, furthest] > out
        chosen = np.where(beyond[:, None], rim[furthest], chosen) if len(chosen) else rim[furthest]
    return _volume(np.unique(chosen, axis=0))


def _volume(points: Array) -> float:
    """The volume of the hull of points; none where they are flat."""
    if len(points) < 4:
        return 0.0
    try:
        return float(scipy.spatial.ConvexHull(_outer(points)).volume)
    except scipy.spatial.QhullError:
        return 0.0


def _outer(points: Array) -> Array:
    """Points without those that surely lie inside the hull of the others, which Qhull would wade through."""
    if len(points) < _MANY:
        return points
    blocks = np.array_split(points, max(1, len(points) // _BLOCK))
    furthest = np.vstack([block[np.unique((_WAYS_OUT @ block.T).argmax(axis=1))] for block in blocks])
    frame = np.unique((_WAYS_OUT @ furthest.T).argmax(axis=1))
    try:
        planes = scipy.spatial.ConvexHull(furthest[frame]).equations
    except scipy.spatial.QhullError:
        return points
    sure = -_SURE * float(np.ptp(points, axis=0).max())
    kept = [(planes[:, :3] @ block.T + planes[:, 3:]).max(axis=0) > sure for block in blocks]
    outer: Array = points[np.concatenate(kept)]
    return outer


def _spread_ways() -> Array:
    k = np.arange(_WAYS) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / _WAYS), np.pi * (1.0 + np.sqrt(5.0)) * k
    return np.column_stack((np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)))


_WAYS_OUT = _spread_ways()


def _crossings(triangles: Array, height: Array) -> Array:
    """Where edges of triangles (k, 3, 3) whose corners have these heights (k, 3) have none, shape (n, 3)."""
    following, above = np.roll(triangles, -1, axis=1), np.roll(height, -1, axis=1)
    crossing = height * above < 0.0
    share = (height[crossing] / (height[crossing] - above[crossing]))[:, None]
    cut: Array = triangles[crossing] + share * (following[crossing] - triangles[crossing])
    return cut


def _side(piece: _Piece, sign: float) -> tuple[Array, IntArray]:
    """What of a piece lies at or below its cut, or above, as points and triangles; those crossed are cut."""
    points, triangles = piece.points, piece.triangles
    height = (points @ (sign * piece.axis) - sign * piece.offset)[triangles]
    below = height <= 0.0
    kept, fresh, count_fresh = [triangles[below.all(axis=1)]], [points], len(points)
    for count in (1, 2):
        crossed = triangles[below.sum(axis=1) == count]
        h = height[below.sum(axis=1) == count]
        # The corner that is alone on its side comes first.
        alone = np.argmax((h <= 0.0) == (count == 1), axis=1)
        order = (alone[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(crossed, order, axis=1).T
        x, y, z = np.take_along_axis(h, order, axis=1).T
        ab, ac = (points[a] + (x / (x - s))[:, None] * (points[p] - points[a]) for p, s in ((b, y), (c, z)))
        i = count_fresh + np.arange(len(a))
        j = i + len(a)
        fresh += [ab, ac]
        count_fresh += 2 * len(a)
        if count == 1:
            kept.append(np.column_stack([a, i, j]))
        else:
            kept += [np.column_stack([i, b, c]), np.column_stack([i, c, j])]
    return _used(np.vstack(fresh), np.vstack(kept))


def _used(points: Array, triangles: IntArray) -> tuple[Array, IntArray]:
    """The points that triangles have, and the triangles by their new indices."""
    used = np.zeros(len(points), dtype=bool)
    used[triangles] = True
    return points[used], (np.cumsum(used) - 1)[triangles]
