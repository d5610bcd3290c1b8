"""From the base outwards: where each body is and how it moves, in its own frame (compiled)."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.tree import Tree

Triple = tuple[float, float, float]


@kernel
def to_child(R: Array, i: int, x: float, y: float, z: float) -> Triple:
    """R[i]ᵀ (x, y, z): a vector of the parent's frame in the frame of body i."""
    return (
        R[i, 0, 0] * x + R[i, 1, 0] * y + R[i, 2, 0] * z,
        R[i, 0, 1] * x + R[i, 1, 1] * y + R[i, 2, 1] * z,
        R[i, 0, 2] * x + R[i, 1, 2] * y + R[i, 2, 2] * z,
    )


@kernel
def to_parent(R: Array, i: int, x: float, y: float, z: float) -> Triple:
    """R[i] (x, y, z): a vector of the frame of body i in its parent's frame."""
    return (
        R[i, 0, 0] * x + R[i, 0, 1] * y + R[i, 0, 2] * z,
        R[i, 1, 0] * x + R[i, 1, 1] * y + R[i, 1, 2] * z,
        R[i, 2, 0] * x + R[i, 2, 1] * y + R[i, 2, 2] * z,
    )


@kernel
def cross(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> Triple:
    """The vector product a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def place_bodies(tree: Tree, q: Array, R: Array, p: Array) -> None:
    """Write R_PC and p_PC of every body into R (nb, 3, 3) and p (nb, 3), at the coordinates q (nq,)."""
    for i in range(tree.parent.size):
        at = tree.first_coordinate[i]
        count = tree.first_coordinate[i + 1] - at
        if count > 1:
            place_turned(tree, i, q[at : at + count], R, p)
            continue
        c = math.cos(q[at])
        s = math.sin(q[at])
        for r in range(3):
            p[i, r] = tree.offset[i, r] + q[at] * tree.slide[i, r]
            for k in range(3):
                R[i, r, k] = (
                    c * tree.rotation_cos[i, r, k]
                    + s * tree.rotation_sin[i, r, k]
                    + tree.rotation_one[i, r, k]
                )


@kernel
def place_turned(tree: Tree, i: int, q: Array, R: Array, p: Array) -> None:
    """Place a body by the quaternion x, y, z, w that ends q, whose length does not matter.

    A floating body (seven numbers) stands at the x, y, z before it, a spherical joint's (four) at its joint.
    """
    at = q.size - 4
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    n = 2.0 / (x * x + y * y + z * z + w * w)
    Q = np.empty((3, 3))
    Q[0, 0], Q[0, 1], Q[0, 2] = 1.0 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y)
    Q[1, 0], Q[1, 1], Q[1, 2] = n * (x * y + w * z), 1.0 - n * (x * x + z * z), n * (y * z - w * x)
    Q[2, 0], Q[2, 1], Q[2, 2] = n * (x * z - w * y), n * (y * z + w * x), 1.0 - n * (x * x + y * y)
    for r in range(3):
        p[i, r] = tree.offset[i, r]
        for k in range(3):
            if at == 3:
                p[i, r] += tree.rotation_one[i, r, k] * q[k]
            R[i, r, k] = 0.0
            for m in range(3):
                R[i, r, k] += tree.rotation_one[i, r, m] * Q[m, k]


@kernel
def motion_scratch(tree: Tree) -> tuple[Array, Array, Array, Array]:
    """Room for what `motion_pass` writes of every body: R, p, w, A."""
    nb = tree.parent.size
    return np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 6))


@kernel
def motion_pass(tree: Tree, q: Array, v: Array, a: Array, R: Array, p: Array, w: Array, A: Array) -> None:
    r"""Write pose, angular velocity and acceleration of every body, each in its own frame.

    $$\omega_i = R^T\omega_p + o, \qquad \dot\omega_i = R^T\dot\omega_p + R^T\omega_p \times o + s_a a_i,$$
    $$d_i = R^T\big(d_p + \dot\omega_p \times p + \omega_p \times (\omega_p \times p)\big)
          + (2\,R^T\omega_p + o) \times u + s_l a_i, \qquad d_0 = -g$$

    where $u = s_l v_i$ and $o = s_a v_i$ are the joint's own linear and angular velocity, and
    $d = \ddot p - g$ is the proper acceleration of the frame's origin, which carries gravity along.

    Args:
        tree: the robot.
        q: joint positions, shape (nq,), rad or m.
        v: joint velocities, shape (nv,), rad/s or m/s.
        a: joint accelerations, shape (nv,), rad/s² or m/s².
        R: out, R_PC, shape (nb, 3, 3), dimensionless.
        p: out, p_PC_P, shape (nb, 3), m.
        w: out, angular velocities, shape (nb, 3), rad/s.
        A: out, accelerations (d, angular), shape (nb, 6), m/s² and rad/s².
    """
    place_bodies(tree, q, R, p)
    s = tree.subspace
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        if parent < 0:
            wx = wy = wz = bx = by = bz = 0.0
            dx, dy, dz = -tree.gravity[0], -tree.gravity[1], -tree.gravity[2]
        else:
            wx, wy, wz = w[parent, 0], w[parent, 1], w[parent, 2]
            dx, dy, dz = A[parent, 0], A[parent, 1], A[parent, 2]
            bx, by, bz = A[parent, 3], A[parent, 4], A[parent, 5]
        px, py, pz = p[i, 0], p[i, 1], p[i, 2]
        cx, cy, cz = cross(wx, wy, wz, px, py, pz)
        ex, ey, ez = cross(bx, by, bz, px, py, pz)
        fx, fy, fz = cross(wx, wy, wz, cx, cy, cz)
        dx, dy, dz = to_child(R, i, dx + ex + fx, dy + ey + fy, dz + ez + fz)
        wx, wy, wz = to_child(R, i, wx, wy, wz)
        bx, by, bz = to_child(R, i, bx, by, bz)
        ux = uy = uz = ox = oy = oz = 0.0
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            ux += s[k, 0] * v[k]
            uy += s[k, 1] * v[k]
            uz += s[k, 2] * v[k]
            ox += s[k, 3] * v[k]
            oy += s[k, 4] * v[k]
            oz += s[k, 5] * v[k]
            dx += s[k, 0] * a[k]
            dy += s[k, 1] * a[k]
            dz += s[k, 2] * a[k]
            bx += s[k, 3] * a[k]
            by += s[k, 4] * a[k]
            bz += s[k, 5] * a[k]
        cx, cy, cz = cross(2.0 * wx + ox, 2.0 * wy + oy, 2.0 * wz + oz, ux, uy, uz)
        ex, ey, ez = cross(wx, wy, wz, ox, oy, oz)
        w[i, 0], w[i, 1], w[i, 2] = wx + ox, wy + oy, wz + oz
        A[i, 0], A[i, 1], A[i, 2] = dx + cx, dy + cy, dz + cz
        A[i, 3], A[i, 4], A[i, 5] = bx + ex, by + ey, bz + ez


# From the base outwards: how each body moves and how gravity points, in its own frame (compiled).


@kernel
def velocity_scratch(tree: Tree) -> tuple[Array, Array, Array]:
    """Room for what `velocity_pass` writes of every body: R, p, V."""
    nb = tree.parent.size
    return np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 6))


@kernel
def velocity_pass(tree: Tree, q: Array, v: Array, R: Array, p: Array, V: Array) -> None:
    r"""Write pose and twist of every body, each in its own frame; the twist is linear first, (nb, 6).

    $$u_i = R^T(u_p + \omega_p \times p) + s_l v_i, \qquad \omega_i = R^T\omega_p + s_a v_i$$
    """
    place_bodies(tree, q, R, p)
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        ux = uy = uz = wx = wy = wz = 0.0
        if parent >= 0:
            wx, wy, wz = V[parent, 3], V[parent, 4], V[parent, 5]
            cx, cy, cz = cross(wx, wy, wz, p[i, 0], p[i, 1], p[i, 2])
            ux, uy, uz = to_child(R, i, V[parent, 0] + cx, V[parent, 1] + cy, V[parent, 2] + cz)
            wx, wy, wz = to_child(R, i, wx, wy, wz)
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            ux += tree.subspace[k, 0] * v[k]
            uy += tree.subspace[k, 1] * v[k]
            uz += tree.subspace[k, 2] * v[k]
            wx += tree.subspace[k, 3] * v[k]
            wy += tree.subspace[k, 4] * v[k]
            wz += tree.subspace[k, 5] * v[k]
        V[i, 0], V[i, 1], V[i, 2] = ux, uy, uz
        V[i, 3], V[i, 4], V[i, 5] = wx, wy, wz


@kernel
def carry_gravity(tree: Tree, i: int, R: Array, g: Array) -> None:
    """Write free fall in the frame of body i into g[i]."""
    parent = tree.parent[i]
    if parent < 0:
        g[i, 0], g[i, 1], g[i, 2] = to_child(R, i, tree.gravity[0], tree.gravity[1], tree.gravity[2])
    else:
        g[i, 0], g[i, 1], g[i, 2] = to_child(R, i, g[parent, 0], g[parent, 1], g[parent, 2])
