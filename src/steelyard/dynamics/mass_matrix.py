"""The joint-space inertia matrix and the Coriolis matrix by composite bodies, compiled, over many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers, gathered, numbers, states
from steelyard.dynamics.inverse_dynamics import add_to_parent
from steelyard.dynamics.motion_pass import cross, place_bodies, to_parent, velocity_pass, velocity_scratch
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# The inertia matrix H by composite bodies


def mass_matrix(robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike) -> Array:
    r"""The matrix H with kinetic energy $\tfrac12 v^T H(q)\,v$; rotor inertias on its diagonal.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.

    Returns:
        H, shape (N, nv, nv), kg·m², kg·m or kg.
    """
    (q,) = states(robot, q=q)
    H = np.zeros((len(q), robot.untied.nv, robot.untied.nv))
    share(len(q), _mass_matrix, tree_of(robot), numbers(robot, layout, parameters), q, H)
    return gathered(robot, H, axes=2)


@kernel
def add_composite(phi: Array, i: int, parent: int, R: Array, p: Array) -> None:
    r"""Add the ten numbers of composite body i to its parent's, moved to the parent's frame.

    $$h^P = R h + m p, \qquad
      I^P = R I R^T + 2\,(p \cdot r)\,1 - p r^T - r p^T \ \text{ with } r = R h + \tfrac12 m p$$
    """
    m = phi[i, 0]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    hx, hy, hz = to_parent(R, i, phi[i, 1], phi[i, 2], phi[i, 3])
    # Columns of R I, then rows of (R I) Rᵀ.
    ax, ay, az = to_parent(R, i, phi[i, 4], phi[i, 5], phi[i, 7])
    bx, by, bz = to_parent(R, i, phi[i, 5], phi[i, 6], phi[i, 8])
    cx, cy, cz = to_parent(R, i, phi[i, 7], phi[i, 8], phi[i, 9])
    xx, xy, xz = to_parent(R, i, ax, bx, cx)
    _, yy, yz = to_parent(R, i, ay, by, cy)
    _, _, zz = to_parent(R, i, az, bz, cz)
    rx, ry, rz = hx + 0.5 * m * px, hy + 0.5 * m * py, hz + 0.5 * m * pz
    phi[parent, 0] += m
    phi[parent, 1] += hx + m * px
    phi[parent, 2] += hy + m * py
    phi[parent, 3] += hz + m * pz
    phi[parent, 4] += xx + 2.0 * (py * ry + pz * rz)
    phi[parent, 5] += xy - px * ry - py * rx
    phi[parent, 6] += yy + 2.0 * (px * rx + pz * rz)
    phi[parent, 7] += xz - px * rz - pz * rx
    phi[parent, 8] += yz - py * rz - pz * ry
    phi[parent, 9] += zz + 2.0 * (px * rx + py * ry)


@kernel
def momentum_of_axis(phi: Array, i: int, k: int, subspace: Array, F: Array) -> None:
    r"""Write into F[i] the momentum of composite body i when degree of freedom k moves at unit rate.

    $$f = m\,l + c \times h, \qquad n = h \times l + I c$$
    """
    lx, ly, lz = subspace[k, 0], subspace[k, 1], subspace[k, 2]
    cx, cy, cz = subspace[k, 3], subspace[k, 4], subspace[k, 5]
    hx, hy, hz = phi[i, 1], phi[i, 2], phi[i, 3]
    ex, ey, ez = cross(cx, cy, cz, hx, hy, hz)
    gx, gy, gz = cross(hx, hy, hz, lx, ly, lz)
    F[i, 0] = phi[i, 0] * lx + ex
    F[i, 1] = phi[i, 0] * ly + ey
    F[i, 2] = phi[i, 0] * lz + ez
    F[i, 3] = gx + phi[i, 4] * cx + phi[i, 5] * cy + phi[i, 7] * cz
    F[i, 4] = gy + phi[i, 5] * cx + phi[i, 6] * cy + phi[i, 8] * cz
    F[i, 5] = gz + phi[i, 7] * cx + phi[i, 8] * cy + phi[i, 9] * cz


@kernel
def _mass_matrix(first: int, last: int, tree: Tree, given: Numbers, q: Array, H: Array) -> None:
    nb = tree.parent.size
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    F = np.empty((nb, 6))
    composite = np.empty((nb, 10))
    for n in range(first, last):
        place_bodies(tree, q[n], R, p)
        # An array assignment here would be compiled as a parallel loop of its own, slowly.
        for i in range(nb):
            for c in range(10):
                composite[i, c] = given.links[i, c]
        for i in range(nb - 1, -1, -1):
            if tree.parent[i] >= 0:
                add_composite(composite, i, tree.parent[i], R, p)
            for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
                momentum_of_axis(composite, i, k, tree.subspace, F)
                write_inertia_column(tree, i, k, R, p, F, H[n])
                H[n, k, k] += given.drive[k, 3]


@kernel
def write_inertia_column(tree: Tree, i: int, k: int, R: Array, p: Array, F: Array, H: Array) -> None:
    """Carry the momentum F[i] towards the base and write what each joint on the way feels of it."""
    body = i
    while body >= 0:
        for j in range(tree.first_dof[body], tree.first_dof[body + 1]):
            product = 0.0
            for c in range(6):
                product += tree.subspace[j, c] * F[body, c]
            H[k, j] = product
            H[j, k] = product
        parent = tree.parent[body]
        if parent >= 0:
            F[parent, :] = 0.0
            add_to_parent(R, p, F, body, parent)
        body = parent


# The Coriolis matrix C of Christoffel type, by composite bodies
#
# A point x of the robot moves with $J(x)\,v$; mass matrix and Coriolis matrix are sums over all points,
#
# $$H = \int J^T J\,dm, \qquad C = \int J^T \dot J\,dm,$$
#
# so $\dot H = C + C^T$, which makes $\dot H - 2C$ skew. Where v is the rate of q, $\dot J$ holds second
# derivatives of a position, which do not depend on their order: the entries are then the Christoffel symbols
# times v.


def coriolis_matrix(robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike) -> Array:
    r"""The matrix C with $C(q, v)\,v$ the velocity torques of the links and $\dot H - 2C$ skew.

    The drives are not in it: a rotor's inertia is constant and friction is no inertial force.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.

    Returns:
        C, shape (N, nv, nv), SI.
    """
    q, v = states(robot, q=q, v=v)
    C = np.zeros((len(q), robot.untied.nv, robot.untied.nv))
    share(len(q), _coriolis_matrix, tree_of(robot), numbers(robot, layout, parameters), q, v, C)
    return gathered(robot, C, axes=2)


@kernel
def turning_of_body(phi: Array, i: int, V: Array, P: Array, T: Array) -> None:
    r"""Write what a body that moves with V = (u, ω) answers to turning its axes at unit rate about c.

    A point at r then gains the acceleration $c \times (u + \omega \times r)$; summed over the body,

    $$f = c \times P, \quad P = m u + \omega \times h, \qquad
      n = T c = h \times (c \times u) - \omega \times \Sigma c, \quad
      \Sigma = \tfrac12\operatorname{tr}(I)\,1 - I.$$
    """
    m, hx, hy, hz = phi[i, 0], phi[i, 1], phi[i, 2], phi[i, 3]
    ux, uy, uz = V[i, 0], V[i, 1], V[i, 2]
    wx, wy, wz = V[i, 3], V[i, 4], V[i, 5]
    ex, ey, ez = cross(wx, wy, wz, hx, hy, hz)
    P[i, 0], P[i, 1], P[i, 2] = m * ux + ex, m * uy + ey, m * uz + ez
    half = 0.5 * (phi[i, 4] + phi[i, 6] + phi[i, 9])
    xx, yy, zz = half - phi[i, 4], half - phi[i, 6], half - phi[i, 9]
    xy, xz, yz = -phi[i, 5], -phi[i, 7], -phi[i, 8]
    # h × (c × u) = (h·u) c - (h·c) u, column by column.
    hu = hx * ux + hy * uy + hz * uz
    ex, ey, ez = cross(wx, wy, wz, xx, xy, xz)
    T[i, 0, 0], T[i, 1, 0], T[i, 2, 0] = hu - hx * ux - ex, -hx * uy - ey, -hx * uz - ez
    ex, ey, ez = cross(wx, wy, wz, xy, yy, yz)
    T[i, 0, 1], T[i, 1, 1], T[i, 2, 1] = -hy * ux - ex, hu - hy * uy - ey, -hy * uz - ez
    ex, ey, ez = cross(wx, wy, wz, xz, yz, zz)
    T[i, 0, 2], T[i, 1, 2], T[i, 2, 2] = -hz * ux - ex, -hz * uy - ey, hu - hz * uz - ez


@kernel
def add_turning(i: int, parent: int, R: Array, p: Array, P: Array, T: Array) -> None:
    r"""Add P and T of composite body i to its parent's, moved to the parent's frame.

    $$P^P = R P, \qquad T^P = R T R^T + (p \cdot R P)\,1 - (R P)\,p^T$$
    """
    Px, Py, Pz = to_parent(R, i, P[i, 0], P[i, 1], P[i, 2])
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    dot = px * Px + py * Py + pz * Pz
    # Columns of R T, then rows of (R T) Rᵀ.
    ax, ay, az = to_parent(R, i, T[i, 0, 0], T[i, 1, 0], T[i, 2, 0])
    bx, by, bz = to_parent(R, i, T[i, 0, 1], T[i, 1, 1], T[i, 2, 1])
    cx, cy, cz = to_parent(R, i, T[i, 0, 2], T[i, 1, 2], T[i, 2, 2])
    xx, xy, xz = to_parent(R, i, ax, bx, cx)
    yx, yy, yz = to_parent(R, i, ay, by, cy)
    zx, zy, zz = to_parent(R, i, az, bz, cz)
    P[parent, 0] += Px
    P[parent, 1] += Py
    P[parent, 2] += Pz
    T[parent, 0, 0] += xx + dot - Px * px
    T[parent, 0, 1] += xy - Px * py
    T[parent, 0, 2] += xz - Px * pz
    T[parent, 1, 0] += yx - Py * px
    T[parent, 1, 1] += yy + dot - Py * py
    T[parent, 1, 2] += yz - Py * pz
    T[parent, 2, 0] += zx - Pz * px
    T[parent, 2, 1] += zy - Pz * py
    T[parent, 2, 2] += zz + dot - Pz * pz


@kernel
def axis_rates(tree: Tree, i: int, V: Array, D: Array) -> None:
    r"""Write $\dot s = V_i \times s$ for the axes of joint i, which are fixed in the body it moves."""
    ux, uy, uz = V[i, 0], V[i, 1], V[i, 2]
    wx, wy, wz = V[i, 3], V[i, 4], V[i, 5]
    for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
        lx, ly, lz = tree.subspace[k, 0], tree.subspace[k, 1], tree.subspace[k, 2]
        cx, cy, cz = tree.subspace[k, 3], tree.subspace[k, 4], tree.subspace[k, 5]
        ax, ay, az = cross(wx, wy, wz, lx, ly, lz)
        bx, by, bz = cross(ux, uy, uz, cx, cy, cz)
        ex, ey, ez = cross(wx, wy, wz, cx, cy, cz)
        D[k, 0], D[k, 1], D[k, 2] = ax + bx, ay + by, az + bz
        D[k, 3], D[k, 4], D[k, 5] = ex, ey, ez


@kernel
def write_coriolis_column(
    tree: Tree, i: int, k: int, R: Array, p: Array, P: Array, T: Array, F: Array, C: Array
) -> None:
    r"""Complete $F[i] = M\dot s_k$ to $M\dot s_k + (c \times P,\; T c)$ and write column k up to joint i."""
    cx, cy, cz = tree.subspace[k, 3], tree.subspace[k, 4], tree.subspace[k, 5]
    ex, ey, ez = cross(cx, cy, cz, P[i, 0], P[i, 1], P[i, 2])
    F[i, 0] += ex
    F[i, 1] += ey
    F[i, 2] += ez
    for r in range(3):
        F[i, 3 + r] += T[i, r, 0] * cx + T[i, r, 1] * cy + T[i, r, 2] * cz
    body = i
    while body >= 0:
        for j in range(tree.first_dof[body], tree.first_dof[body + 1]):
            product = 0.0
            for c in range(6):
                product += tree.subspace[j, c] * F[body, c]
            C[j, k] = product
        parent = tree.parent[body]
        if parent >= 0:
            for c in range(6):
                F[parent, c] = 0.0
            add_to_parent(R, p, F, body, parent)
        body = parent


@kernel
def write_coriolis_row(
    tree: Tree, i: int, k: int, R: Array, p: Array, P: Array, T: Array, D: Array, F: Array, C: Array
) -> None:
    r"""Carry $F[i] = M s_k$ and the moment $P \times l + T^T c$ inwards and write row k up to joint i.

    Column j of a joint further in is $\dot s_j \cdot M s_k + s_j \cdot (0,\; P \times l + T^T c)$.
    """
    lx, ly, lz = tree.subspace[k, 0], tree.subspace[k, 1], tree.subspace[k, 2]
    cx, cy, cz = tree.subspace[k, 3], tree.subspace[k, 4], tree.subspace[k, 5]
    nx, ny, nz = cross(P[i, 0], P[i, 1], P[i, 2], lx, ly, lz)
    nx += T[i, 0, 0] * cx + T[i, 1, 0] * cy + T[i, 2, 0] * cz
    ny += T[i, 0, 1] * cx + T[i, 1, 1] * cy + T[i, 2, 1] * cz
    nz += T[i, 0, 2] * cx + T[i, 1, 2] * cy + T[i, 2, 2] * cz
    body = i
    parent = tree.parent[body]
    while parent >= 0:
        for c in range(6):
            F[parent, c] = 0.0
        add_to_parent(R, p, F, body, parent)
        nx, ny, nz = to_parent(R, body, nx, ny, nz)
        body = parent
        parent = tree.parent[body]
        for j in range(tree.first_dof[body], tree.first_dof[body + 1]):
            product = tree.subspace[j, 3] * nx + tree.subspace[j, 4] * ny + tree.subspace[j, 5] * nz
            for c in range(6):
                product += D[j, c] * F[body, c]
            C[k, j] = product


@kernel
def _coriolis_matrix(first: int, last: int, tree: Tree, given: Numbers, q: Array, v: Array, C: Array) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    R, p, V = velocity_scratch(tree)
    P = np.empty((nb, 3))
    T = np.empty((nb, 3, 3))
    D = np.empty((nv, 6))
    F = np.empty((nb, 6))
    composite = np.empty((nb, 10))
    for n in range(first, last):
        velocity_pass(tree, q[n], v[n], R, p, V)
        for i in range(nb):
            for c in range(10):
                composite[i, c] = given.links[i, c]
        for i in range(nb):
            turning_of_body(given.links, i, V, P, T)
            axis_rates(tree, i, V, D)
        for i in range(nb - 1, -1, -1):
            if tree.parent[i] >= 0:
                add_composite(composite, i, tree.parent[i], R, p)
                add_turning(i, tree.parent[i], R, p, P, T)
            for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
                momentum_of_axis(composite, i, k, D, F)
                write_coriolis_column(tree, i, k, R, p, P, T, F, C[n])
                momentum_of_axis(composite, i, k, tree.subspace, F)
                write_coriolis_row(tree, i, k, R, p, P, T, D, F, C[n])
