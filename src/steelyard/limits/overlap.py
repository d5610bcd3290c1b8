r"""How deep two polytopes overlap, exactly: the shortest shift that parts them (compiled).

$$d = \max_{|n| = 1} \Bigl( \min_{a \in A} n \cdot a - \max_{b \in B} n \cdot b \Bigr)$$

is negative where they overlap, and its best n is the normal of a face of their difference: of a face of one
of them, or at right angles to an edge of each. All of these are tried.
"""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.limits.gjk import furthest

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
