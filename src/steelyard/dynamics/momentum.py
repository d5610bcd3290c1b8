r"""Momentum regressors: torques are identified from positions and velocities, without accelerations.

With the momentum $p = H(q)\,v$ the equations of motion need no acceleration (Zhang et al. 2025, Theorems 5
and 8):

$$p = W_m\,\phi, \qquad \dot p = W_c\,\phi + \tau.$$

The rotors' inertia is part of H here, hence of $W_m$, so the term $-I_a\,a$ that the paper keeps apart is
gone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.compiled import inlined_kernel, kernel
from steelyard.dynamics.batch import belongs, gathered, states
from steelyard.dynamics.friction import refuse_load, write_friction
from steelyard.dynamics.motion_pass import carry_gravity, cross, velocity_pass, velocity_scratch
from steelyard.dynamics.regressor import axes_in_bodies
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


def momentum_regressor(robot: Robot, layout: Layout, q: ArrayLike, v: ArrayLike) -> Array:
    r"""The matrix W_m with $W_m(q, v)\,\phi = H(q)\,v$; a rotor's column holds the velocity of its joint.

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.

    Returns:
        W_m, shape (N, nv, p), SI; friction and offset columns are zero.
    """
    belongs(robot, layout)
    q, v = states(robot, q=q, v=v)
    W = np.zeros((len(q), robot.untied.nv, layout.size))
    share(len(q), _momentum_regressor, tree_of(robot), layout.drive_columns, q, v, W)
    return gathered(robot, W)


def momentum_rate_regressor(robot: Robot, layout: Layout, q: ArrayLike, v: ArrayLike) -> Array:
    r"""The matrix W_c with $\tfrac{d}{dt}(W_m\,\phi) = W_c(q, v)\,\phi + \tau$ along every motion.

    It holds all that changes the momentum besides the torques: how the axes turn, the weight, the friction,

    $$W_c\,\phi = C(q, v)^T v - g(q) - F_v\,v - F_c\,\operatorname{sign}(v) - F_o,$$

    and Stribeck and asymmetric friction likewise.
    The first term is the gradient $\partial_q\,\tfrac12 v^T H(q)\,v$ where v is the rate of q. A floating
    joint's velocity is a twist in the moving body's frame, so its momentum is measured along axes that turn;
    the first term holds this turning too, and the law stays as it stands.

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.

    Returns:
        W_c, shape (N, nv, p), SI; rotor columns are zero.

    Raises:
        InputError: the layout has a load term, which needs the acceleration.
    """
    belongs(robot, layout)
    refuse_load(layout, "without the acceleration it is unknown")
    q, v = states(robot, q=q, v=v)
    W = np.zeros((len(q), robot.untied.nv, layout.size))
    share(len(q), _momentum_rate_regressor, tree_of(robot), layout.drive_columns, q, v, W)
    write_friction(layout, v, W, factor=-1.0)
    return gathered(robot, W)


@inlined_kernel
def momentum_columns(
    i: int, V: Array, lx: float, ly: float, lz: float, cx: float, cy: float, cz: float, row: Array
) -> None:
    r"""Write the ten columns of the momentum of body i along the motion (l, c), all in its frame.

    $$l \cdot (m u + \omega \times h) + c \cdot (h \times u + I\omega)
      = m\,(l \cdot u) + h \cdot (l \times \omega + u \times c) + c \cdot I\omega$$
    """
    ux, uy, uz = V[i, 0], V[i, 1], V[i, 2]
    wx, wy, wz = V[i, 3], V[i, 4], V[i, 5]
    ex, ey, ez = cross(lx, ly, lz, wx, wy, wz)
    fx, fy, fz = cross(ux, uy, uz, cx, cy, cz)
    at = 10 * i
    row[at] = lx * ux + ly * uy + lz * uz
    row[at + 1] = ex + fx
    row[at + 2] = ey + fy
    row[at + 3] = ez + fz
    row[at + 4] = cx * wx
    row[at + 5] = cx * wy + cy * wx
    row[at + 6] = cy * wy
    row[at + 7] = cx * wz + cz * wx
    row[at + 8] = cy * wz + cz * wy
    row[at + 9] = cz * wz


@kernel
def rate_columns(
    tree: Tree, i: int, joint_end: IntArray, v: Array, V: Array, g: Array, J: Array, W: Array
) -> None:
    r"""Write the ten columns of body i in every row of W that moves it.

    Axis k is fixed in the body b that its joint carries, so it changes by $\dot J_k = V_b \times J_k$; this
    covers the six axes of a floating joint, which turn with the body they move. With the momentum
    $\mu$ of body i and its weight (m g, h × g),

    $$\text{row } k = (V_b \times J_k) \cdot \mu + J_k \cdot (m g,\; h \times g), \qquad
      V_b = \sum_{j \,\le\, \text{joint of } k} J_j v_j.$$
    """
    gx, gy, gz = g[i, 0], g[i, 1], g[i, 2]
    ux = uy = uz = wx = wy = wz = 0.0
    at = 10 * i
    counted = 0  # the degrees of freedom before this one are in the sum V_b
    for s in range(tree.support_start[i], tree.support_start[i + 1]):
        k = tree.support[s]
        if k >= counted:
            counted = joint_end[k]
            for j in range(k, counted):
                ux += J[i, j, 0] * v[j]
                uy += J[i, j, 1] * v[j]
                uz += J[i, j, 2] * v[j]
                wx += J[i, j, 3] * v[j]
                wy += J[i, j, 4] * v[j]
                wz += J[i, j, 5] * v[j]
        lx, ly, lz = J[i, k, 0], J[i, k, 1], J[i, k, 2]
        cx, cy, cz = J[i, k, 3], J[i, k, 4], J[i, k, 5]
        ax, ay, az = cross(wx, wy, wz, lx, ly, lz)
        bx, by, bz = cross(ux, uy, uz, cx, cy, cz)
        ex, ey, ez = cross(wx, wy, wz, cx, cy, cz)
        momentum_columns(i, V, ax + bx, ay + by, az + bz, ex, ey, ez, W[k])
        ax, ay, az = cross(gx, gy, gz, cx, cy, cz)
        W[k, at] += lx * gx + ly * gy + lz * gz
        W[k, at + 1] += ax
        W[k, at + 2] += ay
        W[k, at + 3] += az


@kernel
def friction_entries(columns: IntArray, k: int, v: float, row: Array) -> None:
    """Write what friction and offset take from the momentum of degree of freedom k into its row."""
    if columns[k, 0] >= 0:
        row[columns[k, 0]] = -v
    if columns[k, 1] >= 0:
        row[columns[k, 1]] = -1.0 if v > 0.0 else (1.0 if v < 0.0 else 0.0)
    if columns[k, 2] >= 0:
        row[columns[k, 2]] = -1.0


@kernel
def _momentum_regressor(
    first: int, last: int, tree: Tree, columns: IntArray, q: Array, v: Array, W: Array
) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    R, p, V = velocity_scratch(tree)
    J = np.empty((nb, nv, 6))
    for n in range(first, last):
        velocity_pass(tree, q[n], v[n], R, p, V)
        axes_in_bodies(tree, R, p, J)
        for i in range(nb):
            for s in range(tree.support_start[i], tree.support_start[i + 1]):
                k = tree.support[s]
                lx, ly, lz = J[i, k, 0], J[i, k, 1], J[i, k, 2]
                cx, cy, cz = J[i, k, 3], J[i, k, 4], J[i, k, 5]
                momentum_columns(i, V, lx, ly, lz, cx, cy, cz, W[n, k])
        for k in range(nv):
            if columns[k, 3] >= 0:
                W[n, k, columns[k, 3]] = v[n, k]


@kernel
def _momentum_rate_regressor(
    first: int, last: int, tree: Tree, columns: IntArray, q: Array, v: Array, W: Array
) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    joint_end = np.empty(nv, dtype=np.int64)
    for i in range(nb):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            joint_end[k] = tree.first_dof[i + 1]
    R, p, V = velocity_scratch(tree)
    g = np.empty((nb, 3))
    J = np.empty((nb, nv, 6))
    for n in range(first, last):
        velocity_pass(tree, q[n], v[n], R, p, V)
        axes_in_bodies(tree, R, p, J)
        for i in range(nb):
            carry_gravity(tree, i, R, g)
            rate_columns(tree, i, joint_end, v[n], V, g, J, W[n])
        for k in range(nv):
            friction_entries(columns, k, v[n, k], W[n, k])
