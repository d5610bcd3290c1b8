"""Gradient of weighted regressor entries in position, velocity and acceleration: a reverse pass (compiled).

The ten columns of body i in the torque row of degree of freedom k, weighted by ten numbers that fill the
symmetric P (4, 4) as a body's parameters fill its pseudo-inertia, are one product

    ⟨T P, K⟩,    T = ([c]×  l),    K = ([ω̇]× + [ω]×[ω]×  d),

of the axis' velocity field T and the body's acceleration field K, both (3, 4). Its derivatives are T P and
K P, linear in the weights, and flow back to the base: wrenches through the axes, the rest through the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, keep_views, read_only_view
from steelyard.compiled import kernel
from steelyard.dynamics.batch import belongs, gathered, states
from steelyard.dynamics.friction import add_friction_gradient, refuse_load
from steelyard.dynamics.motion_pass import cross, motion_pass, motion_scratch, to_parent
from steelyard.dynamics.regressor import axes_in_bodies, wants_straight_line
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# From the leaves to the base: derivatives in the bodies' motion become those in q, v and a (compiled).


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


@dataclass(frozen=True, eq=False)
class Gradient:
    """Derivatives of a sum over samples in the motion at each sample; arrays are read-only.

    Attributes:
        q: in the positions, shape (N, nv), SI; along the body's twist where a joint floats.
        v: in the velocities, shape (N, nv), SI.
        a: in the accelerations, shape (N, nv), SI.
    """

    q: Array
    v: Array
    a: Array

    def __post_init__(self) -> None:
        keep_views(self, "q", "v", "a")


def regressor_adjoint(
    robot: Robot,
    layout: Layout,
    weights: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    code: str = "auto",
) -> Gradient:
    r"""Gradient of $\langle G, Y(q, v, a)\rangle = \sum_{nkc} G_{nkc}\,Y_{nkc}$, Y the `torque_regressor`.

    With $G = \partial f / \partial Y$ it is the gradient of any function f of the regressor. Coulomb friction
    counts with sign(v), whose derivative is zero wherever it exists; at rest, where Stribeck and asymmetric
    friction have none either, theirs counts as zero too. Along a floating joint's degrees of freedom the
    derivative in q is taken while v and a keep their components in the moving frame. Weights of entries that
    are zero for every motion (a link and a joint that does not carry it) do not matter.

    Args:
        robot: the robot.
        layout: the order of the columns.
        weights: G, shape (N, nv, p), SI; (nv, p) for one sample.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².
        code: `generic`, `straight-line`, or `auto` to choose as `torque_regressor` does.

    Raises:
        ShapeError: a shape or a value does not fit; names the argument.
        InputError: the layout has a load term, whose column is no function of the motion alone.
    """
    belongs(robot, layout)
    refuse_load(layout, "its column is no function of the motion alone")
    q, v, a = states(robot, q=q, v=v, a=a)
    G = checked("weights", weights, ("...", robot.nv, layout.size))
    G = checked("weights", G[None] if G.ndim == 2 else G, (len(q), robot.nv, layout.size), finite=False)
    if robot.ties is not None:
        G = np.einsum("dk,nkc->ndc", robot.ties.rates, G)
    bars = np.empty(v.shape), np.empty(v.shape), np.empty(v.shape)
    given = (read_only_view(G), q, v, a, *bars)
    if wants_straight_line(code, robot, len(q)):
        from steelyard.dynamics.straight_line.regressor import straight_line_adjoint

        straight_line_adjoint(robot, layout).write(*given)
    else:
        share(len(q), _regressor_adjoint, tree_of(robot), layout.drive_columns, *given)
    add_friction_gradient(layout, G, v, bars[1])
    return Gradient(*(gathered(robot, bar) for bar in bars))


@kernel
def columns_adjoint(
    tree: Tree, G: Array, w: Array, A: Array, J: Array, w_bar: Array, A_bar: Array, J_bar: Array
) -> None:
    r"""Write the derivatives of the weighted columns of each body in its own motion and axes.

    $\bar K = \sum_k T_k P_k$ is split into those of $\omega$, $\dot\omega$ and d; $\bar T_k = K P_k$ into
    those of the axis' linear part (its last column) and of its angular part (twice its skew part).
    """
    for i in range(tree.parent.size):
        wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
        bx, by, bz = A[i, 3], A[i, 4], A[i, 5]
        k00, k01, k02, k03 = -wy * wy - wz * wz, wx * wy - bz, wx * wz + by, A[i, 0]
        k10, k11, k12, k13 = wx * wy + bz, -wx * wx - wz * wz, wy * wz - bx, A[i, 1]
        k20, k21, k22, k23 = wx * wz - by, wy * wz + bx, -wx * wx - wy * wy, A[i, 2]
        # The sums K̄ stay in plain numbers: kept in an array they cost a third more.
        s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = s20 = s21 = s22 = s23 = 0.0
        at = 10 * i
        for s in range(tree.support_start[i], tree.support_start[i + 1]):
            k = tree.support[s]
            lx, ly, lz = J[i, k, 0], J[i, k, 1], J[i, k, 2]
            cx, cy, cz = J[i, k, 3], J[i, k, 4], J[i, k, 5]
            m, hx, hy, hz = G[k, at], G[k, at + 1], G[k, at + 2], G[k, at + 3]
            half = 0.5 * (G[k, at + 4] + G[k, at + 6] + G[k, at + 9])
            xx, yy, zz = half - G[k, at + 4], half - G[k, at + 6], half - G[k, at + 9]
            xy, xz, yz = -G[k, at + 5], -G[k, at + 7], -G[k, at + 8]
            s00 += cy * xz - cz * xy + lx * hx
            s01 += cy * yz - cz * yy + lx * hy
            s02 += cy * zz - cz * yz + lx * hz
            s03 += cy * hz - cz * hy + lx * m
            s10 += cz * xx - cx * xz + ly * hx
            s11 += cz * xy - cx * yz + ly * hy
            s12 += cz * xz - cx * zz + ly * hz
            s13 += cz * hx - cx * hz + ly * m
            s20 += cx * xy - cy * xx + lz * hx
            s21 += cx * yy - cy * xy + lz * hy
            s22 += cx * yz - cy * xz + lz * hz
            s23 += cx * hy - cy * hx + lz * m
            J_bar[i, k, 0] = k00 * hx + k01 * hy + k02 * hz + k03 * m
            J_bar[i, k, 1] = k10 * hx + k11 * hy + k12 * hz + k13 * m
            J_bar[i, k, 2] = k20 * hx + k21 * hy + k22 * hz + k23 * m
            t21 = k20 * xy + k21 * yy + k22 * yz + k23 * hy
            t12 = k10 * xz + k11 * yz + k12 * zz + k13 * hz
            t02 = k00 * xz + k01 * yz + k02 * zz + k03 * hz
            t20 = k20 * xx + k21 * xy + k22 * xz + k23 * hx
            t10 = k10 * xx + k11 * xy + k12 * xz + k13 * hx
            t01 = k00 * xy + k01 * yy + k02 * yz + k03 * hy
            J_bar[i, k, 3], J_bar[i, k, 4], J_bar[i, k, 5] = t21 - t12, t02 - t20, t10 - t01
        xy, xz, yz = s01 + s10, s02 + s20, s12 + s21
        w_bar[i, 0] = xy * wy + xz * wz - 2.0 * (s11 + s22) * wx
        w_bar[i, 1] = xy * wx + yz * wz - 2.0 * (s00 + s22) * wy
        w_bar[i, 2] = xz * wx + yz * wy - 2.0 * (s00 + s11) * wz
        A_bar[i, 0], A_bar[i, 1], A_bar[i, 2] = s03, s13, s23
        A_bar[i, 3], A_bar[i, 4], A_bar[i, 5] = s21 - s12, s02 - s20, s10 - s01


@kernel
def axes_adjoint(tree: Tree, R: Array, p: Array, J: Array, J_bar: Array, twist_bar: Array) -> None:
    r"""Carry the wrenches J_bar on the axes to the base; write what each body's pose contributes on the way.

    A twist s of body i changes the axes $(l, c)$ that carry it, seen in its frame, by
    $(c \times s_l + l \times s_a,\ c \times s_a)$; paired with the wrenches $(f, n)$ that is
    $s \cdot \sum (f \times c,\ f \times l + n \times c)$, and the sum is twist_bar[i].
    """
    for i in range(tree.parent.size - 1, -1, -1):
        parent = tree.parent[i]
        own = tree.first_dof[i + 1] - tree.first_dof[i]
        px, py, pz = p[i, 0], p[i, 1], p[i, 2]
        ux = uy = uz = ox = oy = oz = 0.0
        for s in range(tree.support_start[i], tree.support_start[i + 1] - own):
            k = tree.support[s]
            lx, ly, lz, cx, cy, cz = J[i, k, 0], J[i, k, 1], J[i, k, 2], J[i, k, 3], J[i, k, 4], J[i, k, 5]
            fx, fy, fz = J_bar[i, k, 0], J_bar[i, k, 1], J_bar[i, k, 2]
            nx, ny, nz = J_bar[i, k, 3], J_bar[i, k, 4], J_bar[i, k, 5]
            ux += fy * cz - fz * cy
            uy += fz * cx - fx * cz
            uz += fx * cy - fy * cx
            ox += fy * lz - fz * ly + ny * cz - nz * cy
            oy += fz * lx - fx * lz + nz * cx - nx * cz
            oz += fx * ly - fy * lx + nx * cy - ny * cx
            fx, fy, fz = to_parent(R, i, fx, fy, fz)
            nx, ny, nz = to_parent(R, i, nx, ny, nz)
            ex, ey, ez = cross(px, py, pz, fx, fy, fz)
            J_bar[parent, k, 0] += fx
            J_bar[parent, k, 1] += fy
            J_bar[parent, k, 2] += fz
            J_bar[parent, k, 3] += nx + ex
            J_bar[parent, k, 4] += ny + ey
            J_bar[parent, k, 5] += nz + ez
        twist_bar[i, 0], twist_bar[i, 1], twist_bar[i, 2] = ux, uy, uz
        twist_bar[i, 3], twist_bar[i, 4], twist_bar[i, 5] = ox, oy, oz


@kernel
def _regressor_adjoint(
    first: int,
    last: int,
    tree: Tree,
    columns: IntArray,
    G: Array,
    q: Array,
    v: Array,
    a: Array,
    q_bar: Array,
    v_bar: Array,
    a_bar: Array,
) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    R, p, w, A = motion_scratch(tree)
    J = np.empty((nb, nv, 6))
    w_bar = np.empty((nb, 3))
    A_bar = np.empty((nb, 6))
    J_bar = np.empty((nb, nv, 6))
    twist_bar = np.empty((nb, 6))
    for n in range(first, last):
        motion_pass(tree, q[n], v[n], a[n], R, p, w, A)
        axes_in_bodies(tree, R, p, J)
        columns_adjoint(tree, G[n], w, A, J, w_bar, A_bar, J_bar)
        axes_adjoint(tree, R, p, J, J_bar, twist_bar)
        motion_adjoint(tree, v[n], a[n], R, p, w, A, w_bar, A_bar, twist_bar, q_bar[n], v_bar[n], a_bar[n])
        for k in range(nv):
            if columns[k, 0] >= 0:
                v_bar[n, k] += G[n, k, columns[k, 0]]
            if columns[k, 3] >= 0:
                a_bar[n, k] += G[n, k, columns[k, 3]]
