"""The wrench at the base as a matrix times the parameters, compiled, over many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.batch import belongs, states
from steelyard.dynamics.motion_pass import cross, motion_pass
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot
from steelyard.threads import share


def base_wrench_regressor(robot: Robot, layout: Layout, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    r"""The matrix B with $B(q, v, a)\,\phi = (f, n)$, the force and moment that carry the robot.

    With a fixed base this is the wrench the base exerts on the moving links, about the origin of the base
    frame and in its axes: what a force-torque plate under the robot measures, less the weight of the base
    itself, which is no parameter of the layout.

    When the first joint floats this is the generalised force of that joint, the first six rows of the torque
    regressor: about the origin of the floating link and in its axes, zero for a robot that flies freely.

    Rotors and friction act between neighbouring links, so the drive columns are zero (paper 002, note 1).

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        B, shape (N, 6, p), SI; rows are three forces, then three moments.
    """
    belongs(robot, layout)
    q, v, a = states(robot, q=q, v=v, a=a)
    B = np.zeros((len(q), 6, layout.size))
    floats = robot.joints[0].kind is JointKind.FLOATING
    share(len(q), _base_wrench_regressor, tree_of(robot), floats, q, v, a, B)
    return B


@kernel
def place_in_root(tree: Tree, i: int, floats: bool, R: Array, p: Array, X: Array, r: Array) -> None:
    """Write rotation and origin of body i in the base, or in the first body where that one floats."""
    parent = tree.parent[i]
    for c in range(3):
        if floats and i == 0:
            r[i, c] = 0.0
            for k in range(3):
                X[i, c, k] = 1.0 if c == k else 0.0
        elif parent < 0:
            r[i, c] = p[i, c]
            for k in range(3):
                X[i, c, k] = R[i, c, k]
        else:
            r[i, c] = r[parent, c]
            for k in range(3):
                r[i, c] += X[parent, c, k] * p[i, k]
                X[i, c, k] = 0.0
                for m in range(3):
                    X[i, c, k] += X[parent, c, m] * R[i, m, k]


@kernel
def wrench_columns(i: int, w: Array, A: Array, X: Array, r: Array, B: Array) -> None:
    r"""Write the ten columns of body i in the six rows of the wrench about the root's origin.

    Along a root axis that is e in the body's frame,

    $$e \cdot f = m\,(e \cdot d) + h \cdot \big(e \times \dot\omega + (e \times \omega) \times \omega\big),$$
    $$e \cdot n = h \cdot (d \times e) + e \cdot I\dot\omega + (e \times \omega) \cdot I\omega,$$

    and moving the wrench from the body's origin to the root's adds $r \times f$ to the moment.
    """
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    dx, dy, dz = A[i, 0], A[i, 1], A[i, 2]
    bx, by, bz = A[i, 3], A[i, 4], A[i, 5]
    at = 10 * i
    for c in range(3):
        ex, ey, ez = X[i, c, 0], X[i, c, 1], X[i, c, 2]
        ux, uy, uz = cross(ex, ey, ez, wx, wy, wz)
        fx, fy, fz = cross(ex, ey, ez, bx, by, bz)
        gx, gy, gz = cross(ux, uy, uz, wx, wy, wz)
        B[c, at] = ex * dx + ey * dy + ez * dz
        B[c, at + 1] = fx + gx
        B[c, at + 2] = fy + gy
        B[c, at + 3] = fz + gz
        fx, fy, fz = cross(dx, dy, dz, ex, ey, ez)
        B[3 + c, at + 1] = fx
        B[3 + c, at + 2] = fy
        B[3 + c, at + 3] = fz
        B[3 + c, at + 4] = ex * bx + ux * wx
        B[3 + c, at + 5] = ex * by + ey * bx + ux * wy + uy * wx
        B[3 + c, at + 6] = ey * by + uy * wy
        B[3 + c, at + 7] = ex * bz + ez * bx + ux * wz + uz * wx
        B[3 + c, at + 8] = ey * bz + ez * by + uy * wz + uz * wy
        B[3 + c, at + 9] = ez * bz + uz * wz
    for j in range(at, at + 4):
        nx, ny, nz = cross(r[i, 0], r[i, 1], r[i, 2], B[0, j], B[1, j], B[2, j])
        B[3, j] += nx
        B[4, j] += ny
        B[5, j] += nz


@kernel
def _base_wrench_regressor(
    first: int, last: int, tree: Tree, floats: bool, q: Array, v: Array, a: Array, B: Array
) -> None:
    nb = tree.parent.size
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    A = np.empty((nb, 6))
    X = np.empty((nb, 3, 3))
    r = np.empty((nb, 3))
    for n in range(first, last):
        motion_pass(tree, q[n], v[n], a[n], R, p, w, A)
        for i in range(nb):
            place_in_root(tree, i, floats, R, p, X, r)
            # A floating first joint carries only what hangs on it.
            if not floats or tree.support[tree.support_start[i]] == 0:
                wrench_columns(i, w, A, X, r, B[n])
