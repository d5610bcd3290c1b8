"""The signed distance of two shapes: closest points, Gilbert, Johnson and Keerthi, depth of overlaps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, keep_read_only
from steelyard.compiled import kernel
from steelyard.limits.shapes import Cores, Solid, core_of, pack
from steelyard.pose import Pose

# Closest points of segments and triangles: the closed forms distances are built from (compiled).

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


# Distance of two polytopes that do not touch: Gilbert, Johnson and Keerthi's walk over simplices (compiled).
#
# The difference of the polytopes, all a - b, holds the origin exactly where they overlap; otherwise its point
# v closest to the origin is the shortest way from one to the other. A simplex of at most four of its corners
# is led there. At every step |v| bounds the distance from above and v·w/|v| from below, w being the corner
# that lies furthest towards the origin; the walk ends when both agree to round-off.

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


# How deep two polytopes overlap, exactly: the shortest shift that parts them (compiled).
#
# $$d = \max_{|n| = 1} \Bigl( \min_{a \in A} n \cdot a - \max_{b \in B} n \cdot b \Bigr)$$
#
# is negative where they overlap, and its best n is the normal of a face of their difference: of a face of one
# of them, or at right angles to an edge of each. All of these are tried.

_SLANTED = 1e-9
"""Sine below which two edges count as parallel and have no common normal worth trying."""
_ROUND_OFF = 1e-12


@kernel
def overlap_depth(
    points: Array,
    a0: int,
    a1: int,
    b0: int,
    b1: int,
    normals_a: Array,
    normals_b: Array,
    edges_a: Array,
    edges_b: Array,
    out: Array,
) -> float:
    """The signed distance of two polytopes that overlap or touch; normals and edges in the points' frame.

    One of them has a face at least: between two segments or points there is a closed form.

    Writes the unit vector along which the first must move, and the points of both that would touch last, into
    out (9,).
    """
    best = -math.inf
    for k in range(len(normals_b)):
        x, y, z = normals_b[k, 0], normals_b[k, 1], normals_b[k, 2]
        gap = _gap(points, a0, a1, b0, b1, x, y, z)
        if gap > best:
            best = gap
            a = furthest(points, a0, a1, -x, -y, -z)
            out[0], out[1], out[2] = x, y, z
            for c in range(3):
                out[3 + c] = points[a, c]
                out[6 + c] = points[a, c] - gap * out[c]
    for k in range(len(normals_a)):
        x, y, z = -normals_a[k, 0], -normals_a[k, 1], -normals_a[k, 2]
        gap = _gap(points, a0, a1, b0, b1, x, y, z)
        if gap > best:
            best = gap
            b = furthest(points, b0, b1, x, y, z)
            out[0], out[1], out[2] = x, y, z
            for c in range(3):
                out[6 + c] = points[b, c]
                out[3 + c] = points[b, c] + gap * out[c]
    for i in range(len(edges_a)):
        ux, uy, uz = edges_a[i, 0], edges_a[i, 1], edges_a[i, 2]
        for j in range(len(edges_b)):
            vx, vy, vz = edges_b[j, 0], edges_b[j, 1], edges_b[j, 2]
            x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            sine = math.sqrt(x * x + y * y + z * z)
            if sine < _SLANTED:
                continue
            x, y, z = x / sine, y / sine, z / sine
            low_a, high_a = _span(points, a0, a1, x, y, z)
            low_b, high_b = _span(points, b0, b1, x, y, z)
            if low_b - high_a > low_a - high_b:
                gap, x, y, z = low_b - high_a, -x, -y, -z
            else:
                gap = low_a - high_b
            # A face's edges have its normal too, up to round-off: the face, tried first, keeps its points.
            if gap > best + _ROUND_OFF * abs(best):
                best = gap
                _touching_edges(points, a0, a1, b0, b1, x, y, z, edges_a[i], edges_b[j], out)
    return best


@kernel
def _span(points: Array, start: int, end: int, x: float, y: float, z: float) -> tuple[float, float]:
    low, high = math.inf, -math.inf
    for i in range(start, end):
        along = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
        low, high = min(low, along), max(high, along)
    return low, high


@kernel
def _gap(points: Array, a0: int, a1: int, b0: int, b1: int, x: float, y: float, z: float) -> float:
    return _span(points, a0, a1, x, y, z)[0] - _span(points, b0, b1, x, y, z)[1]


@kernel
def _touching_edges(
    points: Array,
    a0: int,
    a1: int,
    b0: int,
    b1: int,
    x: float,
    y: float,
    z: float,
    u: Array,
    v: Array,
    out: Array,
) -> None:
    """The common perpendicular of the two edges' lines, which runs along (x, y, z)."""
    a, b = furthest(points, a0, a1, -x, -y, -z), furthest(points, b0, b1, x, y, z)
    uv = ur = vr = 0.0
    for c in range(3):
        r = points[a, c] - points[b, c]
        uv += u[c] * v[c]
        ur += u[c] * r
        vr += v[c] * r
    det = 1.0 - uv * uv
    s, t = (uv * vr - ur) / det, (vr - uv * ur) / det
    out[0], out[1], out[2] = x, y, z
    for c in range(3):
        out[3 + c] = points[a, c] + s * u[c]
        out[6 + c] = points[b, c] + t * v[c]


# The signed distance of two shapes, with the points and the direction it is measured at.
#
# $$d(A, B) = \max_{|n| = 1} \Bigl( \min_{a \in A} n \cdot a - \max_{b \in B} n \cdot b \Bigr)$$
#
# is one definition for all cases. Apart, it is the distance of the closest points; overlapping, it is
# negative and its size is the shortest translation that parts the shapes. It is continuous, symmetric in the
# two, and a radius added to one of them lowers it by exactly that radius.

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
        keep_read_only(self, "normal", "first", "second")


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
