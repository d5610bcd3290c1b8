"""The torque regressor: torques as a matrix times the parameters, compiled, over many samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.budget import NUMBER, require_memory
from steelyard.compiled import inlined_kernel, kernel
from steelyard.dynamics.batch import belongs, gathered, states
from steelyard.dynamics.choice import wants_straight_line
from steelyard.dynamics.friction import given_load, write_friction
from steelyard.dynamics.motion_pass import cross, motion_pass, to_child
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


def torque_regressor(
    robot: Robot,
    layout: Layout,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    load: ArrayLike | None = None,
    code: str = "auto",
) -> Array:
    r"""The matrix Y with $Y(q, v, a)\,\phi = \tau$ for every parameter vector of the layout.

    Long batches of small robots go through straight-line code made for the robot, about twice as fast; its
    answers agree with the generic kernel's to round-off. Who asks for many short batches of one robot may ask
    for it too.

    Friction that depends on the load is linear at a known load alone. Its column is then taken there, and the
    law holds for the parameters whose `rigid_torque` the load is: estimators alternate between the two.

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s².
        load: rigid-body torques at which the column of a load term is taken, as `rigid_torque` gives them,
            shape (N, nj), N·m or N; None where the layout has no such term.
        code: `generic`, `straight-line`, or `auto` to choose by the number of samples and the robot.

    Returns:
        Y, shape (N, nv, p), SI; `Y.reshape(-1, p)` is W, stacked by sample.

    Raises:
        InputError: an array or the layout does not fit, a load is missing, or there is no straight-line code
            for the robot.
    """
    belongs(robot, layout)
    q, v, a = states(robot, q=q, v=v, a=a)
    loads = given_load(robot, layout, load, len(q))
    shape = len(q), robot.untied.nv, layout.size
    require_memory(
        NUMBER * math.prod(shape),
        f"a regressor of {shape[0]} samples by {shape[1]} torques by {shape[2]} parameters",
        place=f"robot '{robot.name[:80]}'",
        remedy="Lock joints that need not move, or ask for fewer samples at a time.",
    )
    Y = np.zeros(shape)
    if wants_straight_line(code, robot, len(q)):
        from steelyard.dynamics.straight_line import straight_line_regressor

        straight_line_regressor(robot, layout).write(q, v, a, Y)
    else:
        share(len(q), _torque_regressor, tree_of(robot), layout.drive_columns, q, v, a, Y)
    write_friction(layout, v, Y, load=loads)
    return gathered(robot, Y)


@kernel
def axes_in_bodies(tree: Tree, R: Array, p: Array, J: Array) -> None:
    """Write into J[i, k] the motion that degree of freedom k gives body i, in its frame (linear first)."""
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        first = tree.first_dof[i]
        for s in range(tree.support_start[i], tree.support_start[i + 1] - (tree.first_dof[i + 1] - first)):
            k = tree.support[s]
            ax, ay, az = J[parent, k, 3], J[parent, k, 4], J[parent, k, 5]
            cx, cy, cz = cross(ax, ay, az, p[i, 0], p[i, 1], p[i, 2])
            lx, ly, lz = to_child(R, i, J[parent, k, 0] + cx, J[parent, k, 1] + cy, J[parent, k, 2] + cz)
            ax, ay, az = to_child(R, i, ax, ay, az)
            J[i, k, 0], J[i, k, 1], J[i, k, 2] = lx, ly, lz
            J[i, k, 3], J[i, k, 4], J[i, k, 5] = ax, ay, az
        for k in range(first, tree.first_dof[i + 1]):
            for c in range(6):
                J[i, k, c] = tree.subspace[k, c]


@inlined_kernel
def body_columns(i: int, k: int, w: Array, A: Array, J: Array, row: Array) -> None:
    r"""Write the ten columns of body i in the torque row of degree of freedom k.

    With $l, c$ the linear and angular part of J[i, k] and the body's wrench linear in (m, h, I),

    $$l \cdot f + c \cdot n = m\,(l \cdot d)
      + h \cdot \big(l \times \dot\omega + (l \times \omega) \times \omega + d \times c\big)
      + c \cdot I\dot\omega + (c \times \omega) \cdot I\omega.$$
    """
    lx, ly, lz = J[i, k, 0], J[i, k, 1], J[i, k, 2]
    cx, cy, cz = J[i, k, 3], J[i, k, 4], J[i, k, 5]
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    dx, dy, dz = A[i, 0], A[i, 1], A[i, 2]
    bx, by, bz = A[i, 3], A[i, 4], A[i, 5]
    ex, ey, ez = cross(lx, ly, lz, bx, by, bz)
    ux, uy, uz = cross(lx, ly, lz, wx, wy, wz)
    gx, gy, gz = cross(ux, uy, uz, wx, wy, wz)
    ux, uy, uz = cross(dx, dy, dz, cx, cy, cz)
    at = 10 * i
    row[at] = lx * dx + ly * dy + lz * dz
    row[at + 1] = ex + gx + ux
    row[at + 2] = ey + gy + uy
    row[at + 3] = ez + gz + uz
    ux, uy, uz = cross(cx, cy, cz, wx, wy, wz)
    row[at + 4] = cx * bx + ux * wx
    row[at + 5] = cx * by + cy * bx + ux * wy + uy * wx
    row[at + 6] = cy * by + uy * wy
    row[at + 7] = cx * bz + cz * bx + ux * wz + uz * wx
    row[at + 8] = cy * bz + cz * by + uy * wz + uz * wy
    row[at + 9] = cz * bz + uz * wz


@kernel
def drive_entries(columns: IntArray, k: int, v: float, a: float, row: Array) -> None:
    """Write the drive columns of degree of freedom k into its torque row."""
    if columns[k, 0] >= 0:
        row[columns[k, 0]] = v
    if columns[k, 1] >= 0:
        row[columns[k, 1]] = 1.0 if v > 0.0 else (-1.0 if v < 0.0 else 0.0)
    if columns[k, 2] >= 0:
        row[columns[k, 2]] = 1.0
    if columns[k, 3] >= 0:
        row[columns[k, 3]] = a


@kernel
def _torque_regressor(
    first: int, last: int, tree: Tree, columns: IntArray, q: Array, v: Array, a: Array, Y: Array
) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    A = np.empty((nb, 6))
    J = np.empty((nb, nv, 6))
    for n in range(first, last):
        motion_pass(tree, q[n], v[n], a[n], R, p, w, A)
        axes_in_bodies(tree, R, p, J)
        for i in range(nb):
            for s in range(tree.support_start[i], tree.support_start[i + 1]):
                k = tree.support[s]
                body_columns(i, k, w, A, J, Y[n, k])
        for k in range(nv):
            drive_entries(columns, k, v[n, k], a[n, k], Y[n, k])
