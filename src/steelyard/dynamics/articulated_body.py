"""Articulated inertias: what a body feels like when the joints beyond it give way (compiled).

The inertia of a body relates its acceleration and the wrench on it, both in its own frame,

    f = M d + C ω̇,    n = Cᵀ d + I ω̇,

and is kept as 21 numbers: M as xx, xy, xz, yy, yz, zz; C row by row; I as M.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.motion_pass import cross, to_parent

Six = tuple[float, float, float, float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]

ROUND_OFF = 64 * float(np.finfo(np.float64).eps)
"""A pivot smaller than this, relative to the inertia it was subtracted from, is rounding and not inertia."""


@kernel
def too_small(pivot: float, size: float) -> bool:
    """Whether a pivot is not positive, or is the rounding left of an inertia of the given size; NaN too."""
    return not pivot > ROUND_OFF * size


@kernel
def start_inertia(phi: Array, i: int, inertia: Array) -> None:
    """Write the inertia of body i alone: M = m 1, C = -[h]×."""
    inertia[i, 0] = inertia[i, 3] = inertia[i, 5] = phi[i, 0]
    inertia[i, 1] = inertia[i, 2] = inertia[i, 4] = 0.0
    inertia[i, 6] = inertia[i, 10] = inertia[i, 14] = 0.0
    inertia[i, 7], inertia[i, 8] = phi[i, 3], -phi[i, 2]
    inertia[i, 9], inertia[i, 11] = -phi[i, 3], phi[i, 1]
    inertia[i, 12], inertia[i, 13] = phi[i, 2], -phi[i, 1]
    inertia[i, 15], inertia[i, 16], inertia[i, 17] = phi[i, 4], phi[i, 5], phi[i, 7]
    inertia[i, 18], inertia[i, 19], inertia[i, 20] = phi[i, 6], phi[i, 8], phi[i, 9]


@kernel
def start_size(phi: Array, i: int, size: Array) -> None:
    """Write mass, first moments and trace of the inertia of body i alone."""
    size[i, 0], size[i, 1], size[i, 2], size[i, 3] = phi[i, 0], phi[i, 1], phi[i, 2], phi[i, 3]
    size[i, 4] = phi[i, 4] + phi[i, 6] + phi[i, 9]


@kernel
def add_size(R: Array, p: Array, size: Array, i: int, parent: int) -> None:
    """Add mass, first moments and trace of composite body i to its parent's, in the parent's frame."""
    m = size[i, 0]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    hx, hy, hz = to_parent(R, i, size[i, 1], size[i, 2], size[i, 3])
    size[parent, 0] += m
    size[parent, 1] += hx + m * px
    size[parent, 2] += hy + m * py
    size[parent, 3] += hz + m * pz
    moved = px * (2.0 * hx + m * px) + py * (2.0 * hy + m * py) + pz * (2.0 * hz + m * pz)
    size[parent, 4] += size[i, 4] + 2.0 * moved


@kernel
def axis_wrench(inertia: Array, i: int, s: Array, k: int) -> Six:
    """The wrench 𝓘 s that body i opposes to a unit acceleration along degree of freedom k."""
    lx, ly, lz, cx, cy, cz = s[k, 0], s[k, 1], s[k, 2], s[k, 3], s[k, 4], s[k, 5]
    X = inertia[i]
    return (
        X[0] * lx + X[1] * ly + X[2] * lz + X[6] * cx + X[7] * cy + X[8] * cz,
        X[1] * lx + X[3] * ly + X[4] * lz + X[9] * cx + X[10] * cy + X[11] * cz,
        X[2] * lx + X[4] * ly + X[5] * lz + X[12] * cx + X[13] * cy + X[14] * cz,
        X[6] * lx + X[9] * ly + X[12] * lz + X[15] * cx + X[16] * cy + X[17] * cz,
        X[7] * lx + X[10] * ly + X[13] * lz + X[16] * cx + X[18] * cy + X[19] * cz,
        X[8] * lx + X[11] * ly + X[14] * lz + X[17] * cx + X[19] * cy + X[20] * cz,
    )


@kernel
def turn(
    R: Array,
    i: int,
    xx: float,
    xy: float,
    xz: float,
    yx: float,
    yy: float,
    yz: float,
    zx: float,
    zy: float,
    zz: float,
) -> Nine:
    """R[i] X R[i]ᵀ of a matrix X given row by row."""
    ax, ay, az = to_parent(R, i, xx, yx, zx)
    bx, by, bz = to_parent(R, i, xy, yy, zy)
    cx, cy, cz = to_parent(R, i, xz, yz, zz)
    xx, xy, xz = to_parent(R, i, ax, bx, cx)
    yx, yy, yz = to_parent(R, i, ay, by, cy)
    zx, zy, zz = to_parent(R, i, az, bz, cz)
    return xx, xy, xz, yx, yy, yz, zx, zy, zz


@kernel
def add_articulated(
    R: Array, p: Array, inertia: Array, i: int, parent: int, U: Array, k: int, D: float
) -> None:
    r"""Add the inertia of body i, its joint k given way, to its parent's, moved to the parent's frame.

    With $M', C', I'$ the blocks of $\mathcal I - U U^T / D$ turned by R,
    $$M^P = M', \qquad C^P = C' - M'[p]_\times, \qquad I^P = I' + [p]_\times C^P + ([p]_\times C')^T.$$
    """
    X, Z = inertia[i], inertia[parent]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    fx, fy, fz, nx, ny, nz = U[k, 0], U[k, 1], U[k, 2], U[k, 3], U[k, 4], U[k, 5]
    g = 1.0 / D
    ux, uy, uz = g * fx, g * fy, g * fz
    xx, xy, xz = X[0] - ux * fx, X[1] - ux * fy, X[2] - ux * fz
    yy, yz, zz = X[3] - uy * fy, X[4] - uy * fz, X[5] - uz * fz
    mxx, mxy, mxz, _, myy, myz, _, _, mzz = turn(R, i, xx, xy, xz, xy, yy, yz, xz, yz, zz)
    xx, xy, xz = X[6] - ux * nx, X[7] - ux * ny, X[8] - ux * nz
    yx, yy, yz = X[9] - uy * nx, X[10] - uy * ny, X[11] - uy * nz
    zx, zy, zz = X[12] - uz * nx, X[13] - uz * ny, X[14] - uz * nz
    cxx, cxy, cxz, cyx, cyy, cyz, czx, czy, czz = turn(R, i, xx, xy, xz, yx, yy, yz, zx, zy, zz)
    ux, uy, uz = g * nx, g * ny, g * nz
    xx, xy, xz = X[15] - ux * nx, X[16] - ux * ny, X[17] - ux * nz
    yy, yz, zz = X[18] - uy * ny, X[19] - uy * nz, X[20] - uz * nz
    ixx, ixy, ixz, _, iyy, iyz, _, _, izz = turn(R, i, xx, xy, xz, xy, yy, yz, xz, yz, zz)
    # Rows of C^P: those of C' plus p × the rows of M'. Columns of [p] C: p × the columns of C.
    ux, uy, uz = cross(px, py, pz, mxx, mxy, mxz)
    dxx, dxy, dxz = cxx + ux, cxy + uy, cxz + uz
    ux, uy, uz = cross(px, py, pz, mxy, myy, myz)
    dyx, dyy, dyz = cyx + ux, cyy + uy, cyz + uz
    ux, uy, uz = cross(px, py, pz, mxz, myz, mzz)
    dzx, dzy, dzz = czx + ux, czy + uy, czz + uz
    Z[0] += mxx
    Z[1] += mxy
    Z[2] += mxz
    Z[3] += myy
    Z[4] += myz
    Z[5] += mzz
    Z[6] += dxx
    Z[7] += dxy
    Z[8] += dxz
    Z[9] += dyx
    Z[10] += dyy
    Z[11] += dyz
    Z[12] += dzx
    Z[13] += dzy
    Z[14] += dzz
    Z[15] += ixx + py * (dzx + czx) - pz * (dyx + cyx)
    Z[16] += ixy + py * dzy - pz * dyy + pz * cxx - px * czx
    Z[17] += ixz + py * dzz - pz * dyz + px * cyx - py * cxx
    Z[18] += iyy + pz * (dxy + cxy) - px * (dzy + czy)
    Z[19] += iyz + pz * dxz - px * dzz + px * cyy - py * cxy
    Z[20] += izz + px * (dyz + cyz) - py * (dxz + cxz)


@kernel
def give_way(inertia: Array, i: int, U: Array, k: int, D: float) -> None:
    """Let body i give way along degree of freedom k, in its own frame: 𝓘 - U Uᵀ / D."""
    X = inertia[i]
    for r in range(3):
        f, n = U[k, r] / D, U[k, r + 3] / D
        for c in range(3):
            X[6 + 3 * r + c] -= f * U[k, c + 3]
        for c in range(r, 3):
            at = 3 * r - (r * (r - 1)) // 2 + c - r
            X[at] -= f * U[k, c]
            X[15 + at] -= n * U[k, c + 3]


@kernel
def factor_inertia(inertia: Array, i: int, size: Array, L: Array) -> int:
    """Write the Cholesky factor of the inertia of body i into L (6, 6); return the row that fails, or -1."""
    X = inertia[i]
    L[0, 0], L[1, 0], L[1, 1], L[2, 0], L[2, 1], L[2, 2] = X[0], X[1], X[3], X[2], X[4], X[5]
    for r in range(3):
        for c in range(3):
            L[r + 3, c] = X[6 + 3 * c + r]
    L[3, 3], L[4, 3], L[4, 4], L[5, 3], L[5, 4], L[5, 5] = X[15], X[16], X[18], X[17], X[19], X[20]
    for r in range(6):
        for c in range(r + 1):
            x = L[r, c]
            for m in range(c):
                x -= L[r, m] * L[c, m]
            if c < r:
                L[r, c] = x / L[c, c]
            elif too_small(x, abs(size[i, 0 if r < 3 else 4])):
                return r
            else:
                L[r, r] = math.sqrt(x)
    return -1


@kernel
def solve_factored(L: Array, x: Array) -> None:
    """Overwrite x (6,) by the solution y of L Lᵀ y = x."""
    for r in range(6):
        for c in range(r):
            x[r] -= L[r, c] * x[c]
        x[r] /= L[r, r]
    for r in range(5, -1, -1):
        for c in range(r + 1, 6):
            x[r] -= L[c, r] * x[c]
        x[r] /= L[r, r]
