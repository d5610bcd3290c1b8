"""The regressor of adaptive control: torques for a reference motion on the measured one (Slotine and Li)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.compiled import inlined_kernel, kernel
from steelyard.dynamics.batch import belongs, gathered, states
from steelyard.dynamics.friction import refuse_load, write_reference_friction
from steelyard.dynamics.motion_pass import cross, place_bodies, to_child
from steelyard.dynamics.regressor import axes_in_bodies, drive_entries
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


def passivity_regressor(
    robot: Robot, layout: Layout, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike
) -> Array:
    r"""The matrix Y with $Y\phi = H(q)\,a_r + C(q, v)\,v_r + g(q) + \tau_{drive}$.

    C is of Christoffel type: for points x that move with $J(x)\,v$, $H = \int J^T J\,dm$ and
    $C = \int J^T \dot J\,dm$, so $\dot H = C + C^T$ and $\dot H - 2C$ is skew. The drive enters as

    $$\tau_{drive} = F_v\,v_r + F_c\,\operatorname{sign}(v) + F_o + I_a\,a_r
      + F_s\,\operatorname{sign}(v)\,e^{-(|v|/v_s)^\delta} + F_a\,\operatorname{sign}(v)\,v_r.$$

    The rotor is part of H. Viscous friction acts on the reference, so that the robot's own damping works for
    the loop instead of being cancelled. Coulomb friction follows the measured sign, because that is what the
    joint opposes now, whatever the reference wants; so does Stribeck friction, and so does the direction that
    decides the slope $D = F_v + F_a \operatorname{sign}(v) \ge 0$. With $s = v - v_r$ the torques of the
    motion differ by

    $$\tau(q, v, a) - Y\phi = H\dot s + C s + D s, \qquad
      s^T\big(\tau - Y\phi\big) = \tfrac{d}{dt}\,\tfrac12 s^T H s + s^T D s,$$

    and with $v_r = v$, $a_r = a$ the matrix is the torque regressor.

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        v_r: reference velocities, shape (N, nv), rad/s or m/s.
        a_r: reference accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        Y, shape (N, nv, p), SI.

    Raises:
        InputError: the layout has a load term, for which no such matrix exists.
    """
    belongs(robot, layout)
    refuse_load(layout, "no matrix of a reference motion makes the loop passive")
    q, v, v_r, a_r = states(robot, q=q, v=v, v_r=v_r, a_r=a_r)
    Y = np.zeros((len(q), robot.untied.nv, layout.size))
    share(len(q), _passivity_regressor, tree_of(robot), layout.drive_columns, q, v, v_r, a_r, Y)
    write_reference_friction(layout, v, v_r, Y)
    return gathered(robot, Y)


@kernel
def reference_pass(
    tree: Tree, q: Array, v: Array, v_r: Array, a_r: Array, R: Array, p: Array, w: Array, w_r: Array, A: Array
) -> None:
    r"""Write pose, angular velocities and reference acceleration of every body, each in its own frame.

    A point of body i at r has the reference velocity $u_r + \omega_r \times r$. While the point moves with
    the robot, this velocity changes by $d + \alpha \times r + \omega_r \times (\omega \times r)$, where

    $$\omega_i = R^T\omega_p + o, \qquad \omega_{r,i} = R^T\omega_{r,p} + o_r, \qquad
      \alpha_i = R^T\alpha_p + \omega_i \times o_r + s_a a_r,$$
    $$d_i = R^T\big(d_p + \alpha_p \times p + \omega_{r,p} \times (\omega_p \times p)\big)
          + \omega_i \times u_r + R^T\omega_{r,p} \times u + s_l a_r, \qquad d_0 = -g,$$

    with the joint's own motion $(u, o) = s\,v$ and $(u_r, o_r) = s\,v_r$. A holds (d, α).
    """
    place_bodies(tree, q, R, p)
    s = tree.subspace
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        if parent < 0:
            wx = wy = wz = rx = ry = rz = bx = by = bz = 0.0
            dx, dy, dz = -tree.gravity[0], -tree.gravity[1], -tree.gravity[2]
        else:
            wx, wy, wz = w[parent, 0], w[parent, 1], w[parent, 2]
            rx, ry, rz = w_r[parent, 0], w_r[parent, 1], w_r[parent, 2]
            dx, dy, dz = A[parent, 0], A[parent, 1], A[parent, 2]
            bx, by, bz = A[parent, 3], A[parent, 4], A[parent, 5]
        px, py, pz = p[i, 0], p[i, 1], p[i, 2]
        cx, cy, cz = cross(wx, wy, wz, px, py, pz)
        ex, ey, ez = cross(bx, by, bz, px, py, pz)
        fx, fy, fz = cross(rx, ry, rz, cx, cy, cz)
        dx, dy, dz = to_child(R, i, dx + ex + fx, dy + ey + fy, dz + ez + fz)
        bx, by, bz = to_child(R, i, bx, by, bz)
        wx, wy, wz = to_child(R, i, wx, wy, wz)
        rx, ry, rz = to_child(R, i, rx, ry, rz)
        ux = uy = uz = hx = hy = hz = 0.0  # u and u_r
        ox = oy = oz = 0.0  # o_r
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            ux += s[k, 0] * v[k]
            uy += s[k, 1] * v[k]
            uz += s[k, 2] * v[k]
            wx += s[k, 3] * v[k]
            wy += s[k, 4] * v[k]
            wz += s[k, 5] * v[k]
            hx += s[k, 0] * v_r[k]
            hy += s[k, 1] * v_r[k]
            hz += s[k, 2] * v_r[k]
            ox += s[k, 3] * v_r[k]
            oy += s[k, 4] * v_r[k]
            oz += s[k, 5] * v_r[k]
            dx += s[k, 0] * a_r[k]
            dy += s[k, 1] * a_r[k]
            dz += s[k, 2] * a_r[k]
            bx += s[k, 3] * a_r[k]
            by += s[k, 4] * a_r[k]
            bz += s[k, 5] * a_r[k]
        cx, cy, cz = cross(wx, wy, wz, hx, hy, hz)
        fx, fy, fz = cross(rx, ry, rz, ux, uy, uz)
        ex, ey, ez = cross(wx, wy, wz, ox, oy, oz)
        w[i, 0], w[i, 1], w[i, 2] = wx, wy, wz
        w_r[i, 0], w_r[i, 1], w_r[i, 2] = rx + ox, ry + oy, rz + oz
        A[i, 0], A[i, 1], A[i, 2] = dx + cx + fx, dy + cy + fy, dz + cz + fz
        A[i, 3], A[i, 4], A[i, 5] = bx + ex, by + ey, bz + ez


@inlined_kernel
def reference_columns(i: int, k: int, w: Array, w_r: Array, A: Array, J: Array, row: Array) -> None:
    r"""Write the ten columns of body i in the row of degree of freedom k.

    Summed over the points of the body, along l, c, the linear and angular part of J[i, k],

    $$m\,(l \cdot d) + h \cdot \big(l \times \alpha + (l \times \omega_r) \times \omega + d \times c\big)
      + c \cdot I\alpha + e \cdot I\omega_r - \tfrac12\operatorname{tr}(I)\,e \cdot \omega_r,
      \qquad e = c \times \omega.$$
    """
    lx, ly, lz = J[i, k, 0], J[i, k, 1], J[i, k, 2]
    cx, cy, cz = J[i, k, 3], J[i, k, 4], J[i, k, 5]
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    rx, ry, rz = w_r[i, 0], w_r[i, 1], w_r[i, 2]
    dx, dy, dz = A[i, 0], A[i, 1], A[i, 2]
    bx, by, bz = A[i, 3], A[i, 4], A[i, 5]
    ex, ey, ez = cross(lx, ly, lz, bx, by, bz)
    fx, fy, fz = cross(lx, ly, lz, rx, ry, rz)
    fx, fy, fz = cross(fx, fy, fz, wx, wy, wz)
    gx, gy, gz = cross(dx, dy, dz, cx, cy, cz)
    at = 10 * i
    row[at] = lx * dx + ly * dy + lz * dz
    row[at + 1] = ex + fx + gx
    row[at + 2] = ey + fy + gy
    row[at + 3] = ez + fz + gz
    ex, ey, ez = cross(cx, cy, cz, wx, wy, wz)
    half = 0.5 * (ex * rx + ey * ry + ez * rz)
    row[at + 4] = cx * bx + ex * rx - half
    row[at + 5] = cx * by + cy * bx + ex * ry + ey * rx
    row[at + 6] = cy * by + ey * ry - half
    row[at + 7] = cx * bz + cz * bx + ex * rz + ez * rx
    row[at + 8] = cy * bz + cz * by + ey * rz + ez * ry
    row[at + 9] = cz * bz + ez * rz - half


@kernel
def _passivity_regressor(
    first: int, last: int, tree: Tree, columns: IntArray, q: Array, v: Array, v_r: Array, a_r: Array, Y: Array
) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    w_r = np.empty((nb, 3))
    A = np.empty((nb, 6))
    J = np.empty((nb, nv, 6))
    for n in range(first, last):
        reference_pass(tree, q[n], v[n], v_r[n], a_r[n], R, p, w, w_r, A)
        axes_in_bodies(tree, R, p, J)
        for i in range(nb):
            for s in range(tree.support_start[i], tree.support_start[i + 1]):
                k = tree.support[s]
                reference_columns(i, k, w, w_r, A, J, Y[n, k])
        for k in range(nv):
            # Only Coulomb friction sees the measured velocity.
            drive_entries(columns, k, v[n, k], v_r[n, k], a_r[n, k], Y[n, k])
