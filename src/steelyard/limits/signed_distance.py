r"""The signed distance of two shapes, with the points and the direction it is measured at.

$$d(A, B) = \max_{|n| = 1} \Bigl( \min_{a \in A} n \cdot a - \max_{b \in B} n \cdot b \Bigr)$$

is one definition for all cases. Apart, it is the distance of the closest points; overlapping, it is negative
and its size is the shortest translation that parts the shapes. It is continuous, symmetric in the two, and a
radius added to one of them lowers it by exactly that radius.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.compiled import kernel
from steelyard.limits.closest import between_segments, perpendicular
from steelyard.limits.core import core_of
from steelyard.limits.gjk import COLUMNS, CORNERS, walk_apart
from steelyard.limits.overlap import overlap_depth
from steelyard.limits.packed import Cores, pack
from steelyard.limits.shapes import Solid
from steelyard.pose import Pose

_CROSSING = 1e-12
"""Distance, relative to the length of two segments, below which they cross."""


@dataclass(frozen=True, eq=False)
class Separation:
    """How two shapes stand to each other; arrays are read-only.

    Attributes:
        distance: positive apart, negative overlapping, m.
        normal: unit vector from the second towards the first, shape (3,), dimensionless.
        first: the point of the first's surface it is measured at, shape (3,), m.
        second: the point of the second's surface, `first - distance * normal`, shape (3,), m.
    """

    distance: float
    normal: Array
    first: Array
    second: Array

    def __post_init__(self) -> None:
        for name in ("normal", "first", "second"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def separation(first: Solid, first_pose: Pose, second: Solid, second_pose: Pose) -> Separation:
    """The signed distance of two shapes in one frame; a cylinder is taken as the prism of `core_of`.

    Args:
        first: a shape.
        first_pose: its frame in the common one.
        second: another shape.
        second_pose: its frame in the common one.

    Returns:
        The separation, in the common frame.
    """
    cores = pack((-1, -1), (core_of(first).moved(first_pose), core_of(second).moved(second_pose)))
    out = np.empty(9)
    simplex, owners = np.empty((CORNERS, COLUMNS)), np.empty((CORNERS, 2), dtype=np.int64)
    a0, a1, b1 = cores.start
    gap = apart(cores.points, a0, a1, a1, b1, simplex, owners, out)
    if gap < 0.0:
        gap = overlapping(cores, 0, 1, cores.points, np.eye(3)[None], out)
    r, s = cores.radius
    return Separation(float(gap - r - s), out[:3], out[3:6] - r * out[:3], out[6:] + s * out[:3])


@kernel
def apart(
    points: Array, a0: int, a1: int, b0: int, b1: int, simplex: Array, owners: IntArray, out: Array
) -> float:
    """Distance of the hulls of points[a0:a1] and points[b0:b1], or -1 where it takes `overlapping` to tell.

    Writes the unit vector from the second to the first and the points of both it is measured at into out
    (9,); simplex and owners are the scratch of `walk_apart`.
    """
    if a1 - a0 <= 2 and b1 - b0 <= 2:
        return _segments(points, a0, a1 - 1, b0, b1 - 1, out)
    return walk_apart(points, a0, a1, b0, b1, simplex, owners, out)


@kernel
def overlapping(cores: Cores, s: int, t: int, points: Array, R_0: Array, out: Array) -> float:
    """Signed distance of the cores s and t that overlap or touch, their corners given in the base frame.

    R_0 (nb + 1, 3, 3) turns each link's axes to the base's, its last entry being the base's own. Writes into
    out (9,) what `apart` does.
    """
    i, j = cores.link[s], cores.link[t]
    return overlap_depth(
        points,
        cores.start[s],
        cores.start[s + 1],
        cores.start[t],
        cores.start[t + 1],
        _turned(cores.normals, cores.normal_start, s, R_0[i]),
        _turned(cores.normals, cores.normal_start, t, R_0[j]),
        _turned(cores.edges, cores.edge_start, s, R_0[i]),
        _turned(cores.edges, cores.edge_start, t, R_0[j]),
        out,
    )


@kernel
def _turned(vectors: Array, start: IntArray, s: int, R: Array) -> Array:
    turned = np.empty((start[s + 1] - start[s], 3))
    for k in range(len(turned)):
        for r in range(3):
            turned[k, r] = 0.0
            for c in range(3):
                turned[k, r] += R[r, c] * vectors[start[s] + k, c]
    return turned


@kernel
def _segments(points: Array, a: int, b: int, c: int, d: int, out: Array) -> float:
    """Distance of two segments, or of points where both ends are the same; crossing ones have none."""
    s, t = between_segments(points, a, b, c, d)
    gap = 0.0
    for k in range(3):
        out[3 + k] = points[a, k] + s * (points[b, k] - points[a, k])
        out[6 + k] = points[c, k] + t * (points[d, k] - points[c, k])
        out[k] = out[3 + k] - out[6 + k]
        gap += out[k] * out[k]
    gap = math.sqrt(gap)
    ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    vx, vy, vz = points[d, 0] - points[c, 0], points[d, 1] - points[c, 1], points[d, 2] - points[c, 2]
    # Between segments that cross, what is left of the gap is round-off and points nowhere.
    if gap > _CROSSING * (abs(ux) + abs(uy) + abs(uz) + abs(vx) + abs(vy) + abs(vz)):
        out[0], out[1], out[2] = out[0] / gap, out[1] / gap, out[2] / gap
        return gap
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = math.sqrt(x * x + y * y + z * z)
    if size > 0.0:
        out[0], out[1], out[2] = x / size, y / size, z / size
    else:
        out[0], out[1], out[2] = perpendicular(ux + vx, uy + vy, uz + vz)
    return gap
