"""Distance of two polytopes that do not touch: Gilbert, Johnson and Keerthi's walk over simplices (compiled).

The difference of the polytopes, all a - b, holds the origin exactly where they overlap; otherwise its point
v closest to the origin is the shortest way from one to the other. A simplex of at most four of its corners is
led there. At every step |v| bounds the distance from above and v·w/|v| from below, w being the corner that
lies furthest towards the origin; the walk ends when both agree to round-off.
"""

from __future__ import annotations

import math

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.limits.closest import weigh_segment, weigh_triangle

_STEPS = 200
_AGREE = 1e-14
"""Relative gap between the two bounds on the squared distance at which the walk ends."""
_TOUCH = 1e-10
"""Distance, relative to the size of the simplex, below which the polytopes count as touching."""


CORNERS = 4
COLUMNS = 5
"""Columns of a simplex: x, y, z of a corner a - b, its weight, and a weight on trial."""
_WEIGHT, _TRIAL = 3, 4


@kernel
def furthest(points: Array, start: int, end: int, x: float, y: float, z: float) -> int:
    """Which of points[start:end] lies furthest along a direction."""
    best, at = -math.inf, start
    for i in range(start, end):
        along = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
        if along > best:
            best, at = along, i
    return at


@kernel
def walk_apart(
    points: Array, a0: int, a1: int, b0: int, b1: int, simplex: Array, owners: IntArray, out: Array
) -> float:
    """Distance of the hulls of points[a0:a1] and points[b0:b1], or -1 where they overlap or touch.

    Writes the unit vector from the second to the first, and the closest points of both, into out (9,).
    The simplex (CORNERS, COLUMNS) and the indices (CORNERS, 2) of a and b it is made of are scratch.
    """
    count = 1
    owners[0, 0], owners[0, 1], simplex[0, _WEIGHT] = a0, b0, 1.0
    for c in range(3):
        simplex[0, c] = points[a0, c] - points[b0, c]
    before = math.inf
    for _ in range(_STEPS):
        x = y = z = size = 0.0
        for k in range(count):
            px, py, pz, weight = simplex[k, 0], simplex[k, 1], simplex[k, 2], simplex[k, _WEIGHT]
            x, y, z = x + weight * px, y + weight * py, z + weight * pz
            size = max(size, px * px + py * py + pz * pz)
        now = x * x + y * y + z * z
        if now <= _TOUCH * _TOUCH * size:
            return -1.0
        if now >= before:
            break
        before = now
        _write(points, simplex, owners, count, x, y, z, out)
        a = furthest(points, a0, a1, -x, -y, -z)
        b = furthest(points, b0, b1, x, y, z)
        wx, wy, wz = points[a, 0] - points[b, 0], points[a, 1] - points[b, 1], points[a, 2] - points[b, 2]
        if now - (x * wx + y * wy + z * wz) <= _AGREE * now:
            break
        known = False
        for k in range(count):
            known = known or (owners[k, 0] == a and owners[k, 1] == b)
        if known:
            break
        simplex[count, 0], simplex[count, 1], simplex[count, 2] = wx, wy, wz
        owners[count, 0], owners[count, 1] = a, b
        count += 1
        if count == 2:
            weigh_segment(simplex, 0, 1, _WEIGHT)
        elif count == 3:
            weigh_triangle(simplex, 0, 1, 2, _WEIGHT)
        elif not _weigh_tetrahedron(simplex):
            return -1.0
        count = _shrink(simplex, owners, count)
    return math.sqrt(before)


@kernel
def _write(
    points: Array, simplex: Array, owners: IntArray, count: int, x: float, y: float, z: float, out: Array
) -> None:
    size = math.sqrt(x * x + y * y + z * z)
    out[0], out[1], out[2] = x / size, y / size, z / size
    for c in range(3):
        out[3 + c] = out[6 + c] = 0.0
        for k in range(count):
            out[3 + c] += simplex[k, _WEIGHT] * points[owners[k, 0], c]
            out[6 + c] += simplex[k, _WEIGHT] * points[owners[k, 1], c]


@kernel
def _shrink(simplex: Array, owners: IntArray, count: int) -> int:
    """Drop the corners without weight; returns how many are left."""
    kept = 0
    for k in range(count):
        if simplex[k, _WEIGHT] > 0.0:
            for c in range(4):
                simplex[kept, c] = simplex[k, c]
            owners[kept, 0], owners[kept, 1] = owners[k, 0], owners[k, 1]
            kept += 1
    return kept


@kernel
def _weigh_tetrahedron(simplex: Array) -> bool:
    """Weights of the point of four corners closest to the origin; False where the origin lies among them."""
    best, outside = math.inf, False
    for opposite in range(4):
        i, j, k = (opposite + 1) % 4, (opposite + 2) % 4, (opposite + 3) % 4
        x, y, z = simplex[i, 0], simplex[i, 1], simplex[i, 2]
        ux, uy, uz = simplex[j, 0] - x, simplex[j, 1] - y, simplex[j, 2] - z
        vx, vy, vz = simplex[k, 0] - x, simplex[k, 1] - y, simplex[k, 2] - z
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        origin = -(nx * x + ny * y + nz * z)
        inside = nx * (simplex[opposite, 0] - x) + ny * (simplex[opposite, 1] - y)
        inside += nz * (simplex[opposite, 2] - z)
        if origin * inside > 0.0:
            continue
        # The origin lies beyond this face, or the tetrahedron is flat and the sign says nothing.
        outside = True
        simplex[opposite, _TRIAL] = 0.0
        weigh_triangle(simplex, i, j, k, _TRIAL)
        size = 0.0
        for c in range(3):
            size += (
                simplex[i, _TRIAL] * simplex[i, c]
                + simplex[j, _TRIAL] * simplex[j, c]
                + simplex[k, _TRIAL] * simplex[k, c]
            ) ** 2
        if size < best:
            best = size
            for c in range(4):
                simplex[c, _WEIGHT] = simplex[c, _TRIAL]
    return outside
