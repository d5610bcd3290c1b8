"""The joint-space inertia matrix by composite bodies, compiled, over many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import Numbers, gathered, numbers, states
from steelyard.dynamics.inverse_dynamics import add_to_parent
from steelyard.dynamics.motion_pass import cross, place_bodies, to_parent
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


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
