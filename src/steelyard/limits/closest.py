"""Closest points of segments and triangles: the closed forms distances are built from (compiled)."""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import kernel

_PARALLEL = 1e-12
"""Squared sine below which two segments count as parallel, and their ends are compared as well."""


@kernel
def perpendicular(x: float, y: float, z: float) -> tuple[float, float, float]:
    """A unit vector at right angles to a given vector; any unit vector where that one is zero."""
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        px, py, pz = 0.0, -z, y
    elif abs(y) <= abs(z):
        px, py, pz = z, 0.0, -x
    else:
        px, py, pz = -y, x, 0.0
    size = math.sqrt(px * px + py * py + pz * pz)
    if size == 0.0:
        return 0.0, 0.0, 1.0
    return px / size, py / size, pz / size


@kernel
def along_segment(points: Array, a: int, b: int, x: float, y: float, z: float) -> float:
    """Where, from 0 at points[a] to 1 at points[b], the segment comes closest to (x, y, z)."""
    ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    length = ux * ux + uy * uy + uz * uz
    if length == 0.0:
        return 0.0
    t: float = (ux * (x - points[a, 0]) + uy * (y - points[a, 1]) + uz * (z - points[a, 2])) / length
    return min(1.0, max(0.0, t))


@kernel
def between_segments(points: Array, a: int, b: int, c: int, d: int) -> tuple[float, float]:
    """Where the segments from points[a] to points[b] and from points[c] to points[d] come closest.

    Inside both where their common perpendicular meets both; otherwise at an end of one of them.
    """
    ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    vx, vy, vz = points[d, 0] - points[c, 0], points[d, 1] - points[c, 1], points[d, 2] - points[c, 2]
    rx, ry, rz = points[a, 0] - points[c, 0], points[a, 1] - points[c, 1], points[a, 2] - points[c, 2]
    uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    ur, vr = ux * rx + uy * ry + uz * rz, vx * rx + vy * ry + vz * rz
    det = uu * vv - uv * uv
    if det > _PARALLEL * uu * vv:
        s, t = (uv * vr - vv * ur) / det, (uu * vr - uv * ur) / det
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            return s, t
    best, best_s, best_t = math.inf, 0.0, 0.0
    for k in range(4):
        if k < 2:
            end = a if k == 0 else b
            s = float(k)
            t = along_segment(points, c, d, points[end, 0], points[end, 1], points[end, 2])
        else:
            end = c if k == 2 else d
            t = float(k - 2)
            s = along_segment(points, a, b, points[end, 0], points[end, 1], points[end, 2])
        x, y, z = rx + s * ux - t * vx, ry + s * uy - t * vy, rz + s * uz - t * vz
        size = x * x + y * y + z * z
        if size < best:
            best, best_s, best_t = size, s, t
    return best_s, best_t


@kernel
def weigh_segment(simplex: Array, i: int, j: int, column: int) -> None:
    """Write weights of the corners i and j whose mean is the segment's point closest to the origin."""
    t = along_segment(simplex, i, j, 0.0, 0.0, 0.0)
    simplex[i, column], simplex[j, column] = 1.0 - t, t


@kernel
def weigh_triangle(simplex: Array, i: int, j: int, k: int, column: int) -> None:
    """Write weights of three corners whose mean is the triangle's point closest to the origin.

    The plane's closest point where it lies inside; otherwise the best point of the three sides.
    """
    x, y, z = -simplex[i, 0], -simplex[i, 1], -simplex[i, 2]
    ux, uy, uz = simplex[j, 0] + x, simplex[j, 1] + y, simplex[j, 2] + z
    vx, vy, vz = simplex[k, 0] + x, simplex[k, 1] + y, simplex[k, 2] + z
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nn = nx * nx + ny * ny + nz * nz
    if nn > 0.0:
        b = ((y * vz - z * vy) * nx + (z * vx - x * vz) * ny + (x * vy - y * vx) * nz) / nn
        c = ((uy * z - uz * y) * nx + (uz * x - ux * z) * ny + (ux * y - uy * x) * nz) / nn
        if b >= 0.0 and c >= 0.0 and b + c <= 1.0:
            simplex[i, column], simplex[j, column], simplex[k, column] = 1.0 - b - c, b, c
            return
    least, best, first, last = math.inf, 0.0, i, j
    for side in range(3):
        a, b_ = (i, j) if side == 0 else ((j, k) if side == 1 else (k, i))
        t = along_segment(simplex, a, b_, 0.0, 0.0, 0.0)
        size = 0.0
        for d in range(3):
            size += (simplex[a, d] + t * (simplex[b_, d] - simplex[a, d])) ** 2
        if size < least:
            least, best, first, last = size, t, a, b_
    simplex[i, column] = simplex[j, column] = simplex[k, column] = 0.0
    simplex[first, column], simplex[last, column] = 1.0 - best, best
