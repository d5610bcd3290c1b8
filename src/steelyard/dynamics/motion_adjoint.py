"""From the leaves to the base: derivatives in the bodies' motion become those in q, v and a (compiled)."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.motion_pass import cross, to_parent
from steelyard.dynamics.tree import Tree


@kernel
def motion_adjoint(
    tree: Tree,
    v: Array,
    a: Array,
    R: Array,
    p: Array,
    w: Array,
    A: Array,
    w_bar: Array,
    A_bar: Array,
    twist_bar: Array,
    q_bar: Array,
    v_bar: Array,
    a_bar: Array,
) -> None:
    r"""Reverse `motion_pass`, from the leaves to the base, and write the derivatives in q, v and a.

    With primes for what the parent's motion gives a body before its joint moves ($\omega' = R^T\omega_p$,
    $\dot\omega' = R^T\dot\omega_p$, and $d'$ likewise), a twist s of the body changes them by
    $\omega' \times s_a$, $\dot\omega' \times s_a$ and
    $d' \times s_a + \dot\omega' \times s_l + \omega' \times (\omega' \times s_l)$.
    """
    s = tree.subspace
    for i in range(tree.parent.size - 1, -1, -1):
        first, last, parent = tree.first_dof[i], tree.first_dof[i + 1], tree.parent[i]
        ux = uy = uz = ox = oy = oz = 0.0
        jx = jy = jz = kx = ky = kz = 0.0
        for k in range(first, last):
            ux += s[k, 0] * v[k]
            uy += s[k, 1] * v[k]
            uz += s[k, 2] * v[k]
            ox += s[k, 3] * v[k]
            oy += s[k, 4] * v[k]
            oz += s[k, 5] * v[k]
            jx += s[k, 0] * a[k]
            jy += s[k, 1] * a[k]
            jz += s[k, 2] * a[k]
            kx += s[k, 3] * a[k]
            ky += s[k, 4] * a[k]
            kz += s[k, 5] * a[k]
        wx, wy, wz = w[i, 0] - ox, w[i, 1] - oy, w[i, 2] - oz
        tx, ty, tz = 2.0 * wx + ox, 2.0 * wy + oy, 2.0 * wz + oz
        ex, ey, ez = cross(tx, ty, tz, ux, uy, uz)
        dx, dy, dz = A[i, 0] - ex - jx, A[i, 1] - ey - jy, A[i, 2] - ez - jz
        ex, ey, ez = cross(wx, wy, wz, ox, oy, oz)
        bx, by, bz = A[i, 3] - ex - kx, A[i, 4] - ey - ky, A[i, 5] - ez - kz
        Wx, Wy, Wz = w_bar[i, 0], w_bar[i, 1], w_bar[i, 2]
        Dx, Dy, Dz = A_bar[i, 0], A_bar[i, 1], A_bar[i, 2]
        Bx, By, Bz = A_bar[i, 3], A_bar[i, 4], A_bar[i, 5]
        # Through the joint's own velocity (u, o): v, and back to ω'.
        ex, ey, ez = cross(ux, uy, uz, Dx, Dy, Dz)
        fx, fy, fz = cross(Bx, By, Bz, wx, wy, wz)
        gx, gy, gz = cross(Dx, Dy, Dz, tx, ty, tz)
        hx, hy, hz = Wx + ex + fx, Wy + ey + fy, Wz + ez + fz
        for k in range(first, last):
            v_bar[k] = s[k, 0] * gx + s[k, 1] * gy + s[k, 2] * gz + s[k, 3] * hx + s[k, 4] * hy + s[k, 5] * hz
            a_bar[k] = s[k, 0] * Dx + s[k, 1] * Dy + s[k, 2] * Dz + s[k, 3] * Bx + s[k, 4] * By + s[k, 5] * Bz
        fx, fy, fz = cross(ox, oy, oz, Bx, By, Bz)
        Wx, Wy, Wz = Wx + 2.0 * ex + fx, Wy + 2.0 * ey + fy, Wz + 2.0 * ez + fz
        # Through the body's pose: q.
        ex, ey, ez = cross(Wx, Wy, Wz, wx, wy, wz)
        fx, fy, fz = cross(Bx, By, Bz, bx, by, bz)
        gx, gy, gz = cross(Dx, Dy, Dz, dx, dy, dz)
        ox, oy, oz = (
            twist_bar[i, 3] + ex + fx + gx,
            twist_bar[i, 4] + ey + fy + gy,
            twist_bar[i, 5] + ez + fz + gz,
        )
        ex, ey, ez = cross(wx, wy, wz, Dx, Dy, Dz)
        ex, ey, ez = cross(wx, wy, wz, ex, ey, ez)
        fx, fy, fz = cross(Dx, Dy, Dz, bx, by, bz)
        ux, uy, uz = twist_bar[i, 0] + ex + fx, twist_bar[i, 1] + ey + fy, twist_bar[i, 2] + ez + fz
        for k in range(first, last):
            q_bar[k] = s[k, 0] * ux + s[k, 1] * uy + s[k, 2] * uz + s[k, 3] * ox + s[k, 4] * oy + s[k, 5] * oz
        if parent < 0:
            continue
        px, py, pz = p[i, 0], p[i, 1], p[i, 2]
        wx, wy, wz = w[parent, 0], w[parent, 1], w[parent, 2]
        Wx, Wy, Wz = to_parent(R, i, Wx, Wy, Wz)
        Dx, Dy, Dz = to_parent(R, i, Dx, Dy, Dz)
        Bx, By, Bz = to_parent(R, i, Bx, By, Bz)
        ex, ey, ez = cross(px, py, pz, Dx, Dy, Dz)
        wd = wx * Dx + wy * Dy + wz * Dz
        wp = wx * px + wy * py + wz * pz
        pd = 2.0 * (px * Dx + py * Dy + pz * Dz)
        w_bar[parent, 0] += Wx + px * wd + Dx * wp - wx * pd
        w_bar[parent, 1] += Wy + py * wd + Dy * wp - wy * pd
        w_bar[parent, 2] += Wz + pz * wd + Dz * wp - wz * pd
        A_bar[parent, 0] += Dx
        A_bar[parent, 1] += Dy
        A_bar[parent, 2] += Dz
        A_bar[parent, 3] += Bx + ex
        A_bar[parent, 4] += By + ey
        A_bar[parent, 5] += Bz + ez
