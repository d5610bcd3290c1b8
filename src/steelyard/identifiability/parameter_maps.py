r"""How ten inertial parameters enter momentum and move with a body, for one body (compiled).

A body with parameters π has the bilinear form of two velocities (u, ω) and (l, c)

$$M(v, \phi) \cdot \pi = v^T \mathcal I(\pi)\,\phi
  = m\,(u \cdot l) + h \cdot (u \times c + l \times \omega) + \omega \cdot I c,$$

and when it moves along a twist (l, c) its parameters in the frame it left change at the rate A(Φ) π,

$$\dot m = 0, \qquad \dot h = c \times h + m\,l, \qquad
  \dot I = [c]_\times I - I [c]_\times + 2\,(l \cdot h)\,1 - l h^T - h l^T.$$

The functions here apply the transposes, which carry coefficients of parameters (paper 002, (36), (40), (42)).
Parameters come in the order m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
"""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.motion_pass import cross, to_child


@kernel
def bilinear_form(v: Array, at: int, twist: Array, out: Array, out_at: int) -> None:
    """Write M(v, φ) for the velocity v[at : at + 6] and a twist (6,) into out[out_at : out_at + 10]."""
    ux, uy, uz, wx, wy, wz = v[at], v[at + 1], v[at + 2], v[at + 3], v[at + 4], v[at + 5]
    lx, ly, lz, cx, cy, cz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    ax, ay, az = cross(ux, uy, uz, cx, cy, cz)
    bx, by, bz = cross(lx, ly, lz, wx, wy, wz)
    out[out_at] = ux * lx + uy * ly + uz * lz
    out[out_at + 1], out[out_at + 2], out[out_at + 3] = ax + bx, ay + by, az + bz
    out[out_at + 4] = wx * cx
    out[out_at + 5] = wx * cy + wy * cx
    out[out_at + 6] = wy * cy
    out[out_at + 7] = wx * cz + wz * cx
    out[out_at + 8] = wy * cz + wz * cy
    out[out_at + 9] = wz * cz


@kernel
def turn_velocity(v: Array, at: int, twist: Array, out: Array) -> None:
    """Write Φ × v = (c × u + l × ω, c × ω) into out[at : at + 6]."""
    lx, ly, lz, cx, cy, cz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    ax, ay, az = cross(cx, cy, cz, v[at], v[at + 1], v[at + 2])
    bx, by, bz = cross(lx, ly, lz, v[at + 3], v[at + 4], v[at + 5])
    out[at + 3], out[at + 4], out[at + 5] = cross(cx, cy, cz, v[at + 3], v[at + 4], v[at + 5])
    out[at], out[at + 1], out[at + 2] = ax + bx, ay + by, az + bz


@kernel
def turn_coefficients(k: Array, at: int, twist: Array, out: Array) -> None:
    r"""Write Aᵀ k into out[at : at + 10], for the coefficients k[at : at + 10].

    With the coefficients of I as a symmetric matrix S (halves off the diagonal), $k \cdot \pi =
    k_m m + k_h \cdot h + \langle S, I\rangle$ and

    $$(A^T k)_m = k_h \cdot l, \qquad (A^T k)_h = k_h \times c + 2\,(\operatorname{tr} S\,l - S l), \qquad
      S' = S [c]_\times - [c]_\times S.$$
    """
    lx, ly, lz, cx, cy, cz = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
    hx, hy, hz = k[at + 1], k[at + 2], k[at + 3]
    xx, yy, zz = k[at + 4], k[at + 6], k[at + 9]
    xy, xz, yz = 0.5 * k[at + 5], 0.5 * k[at + 7], 0.5 * k[at + 8]
    ax, ay, az = cross(hx, hy, hz, cx, cy, cz)
    trace = xx + yy + zz
    out[at] = hx * lx + hy * ly + hz * lz
    out[at + 1] = ax + 2.0 * (trace * lx - xx * lx - xy * ly - xz * lz)
    out[at + 2] = ay + 2.0 * (trace * ly - xy * lx - yy * ly - yz * lz)
    out[at + 3] = az + 2.0 * (trace * lz - xz * lx - yz * ly - zz * lz)
    # S' is symmetric; [c]× has the rows (0, -cz, cy), (cz, 0, -cx), (-cy, cx, 0).
    out[at + 4] = 2.0 * (xy * cz - xz * cy)
    out[at + 6] = 2.0 * (yz * cx - xy * cz)
    out[at + 9] = 2.0 * (xz * cy - yz * cx)
    out[at + 5] = 2.0 * (xz * cx - yz * cy + (yy - xx) * cz)
    out[at + 7] = 2.0 * (yz * cz - xy * cx + (xx - zz) * cy)
    out[at + 8] = 2.0 * (xy * cy - xz * cz + (zz - yy) * cx)


@kernel
def turn(x: Array, at: int, size: int, twist: Array, out: Array) -> None:
    """Write the rate of a velocity (size 6) or of coefficients (size 10) along a twist into out, at `at`."""
    if size == 6:
        turn_velocity(x, at, twist, out)
    else:
        turn_coefficients(x, at, twist, out)


@kernel
def move_velocity(R: Array, p: Array, i: int, v: Array, out: Array, at: int) -> None:
    """Write the velocity v (6,) of the parent's frame, seen by body i, into out[at : at + 6]."""
    ax, ay, az = cross(v[3], v[4], v[5], p[i, 0], p[i, 1], p[i, 2])
    out[at], out[at + 1], out[at + 2] = to_child(R, i, v[0] + ax, v[1] + ay, v[2] + az)
    out[at + 3], out[at + 4], out[at + 5] = to_child(R, i, v[3], v[4], v[5])


@kernel
def move_coefficients(R: Array, p: Array, i: int, k: Array, out: Array, at: int) -> None:
    r"""Write Bᵀ k into out[at : at + 10]: what coefficients k (10,) of the parent ask of body i.

    $$(B^T k)_h = R^T\big(k_h + 2\,(\operatorname{tr} S\,p - S p)\big), \qquad S' = R^T S R, \qquad
      (B^T k)_m = k_m + k_h \cdot p + \operatorname{tr} S\,|p|^2 - p^T S p.$$
    """
    xx, yy, zz = k[4], k[6], k[9]
    xy, xz, yz = 0.5 * k[5], 0.5 * k[7], 0.5 * k[8]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    trace = xx + yy + zz
    sx, sy, sz = xx * px + xy * py + xz * pz, xy * px + yy * py + yz * pz, xz * px + yz * py + zz * pz
    out[at] = k[0] + k[1] * px + k[2] * py + k[3] * pz
    out[at] += trace * (px * px + py * py + pz * pz) - (px * sx + py * sy + pz * sz)
    out[at + 1], out[at + 2], out[at + 3] = to_child(
        R,
        i,
        k[1] + 2.0 * (trace * px - sx),
        k[2] + 2.0 * (trace * py - sy),
        k[3] + 2.0 * (trace * pz - sz),
    )
    # Columns of S R, then Rᵀ (S R).
    for c in range(3):
        ax, ay, az = to_child(
            R,
            i,
            xx * R[i, 0, c] + xy * R[i, 1, c] + xz * R[i, 2, c],
            xy * R[i, 0, c] + yy * R[i, 1, c] + yz * R[i, 2, c],
            xz * R[i, 0, c] + yz * R[i, 1, c] + zz * R[i, 2, c],
        )
        if c == 0:
            out[at + 4], out[at + 5], out[at + 7] = ax, 2.0 * ay, 2.0 * az
        elif c == 1:
            out[at + 6], out[at + 8] = ay, 2.0 * az
        else:
            out[at + 9] = az
