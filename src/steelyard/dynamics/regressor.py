"""Torques, and the wrench at the base, as a matrix times the parameters: compiled, over many samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.budget import NUMBER, require_memory
from steelyard.compiled import inlined_kernel, kernel
from steelyard.dynamics.batch import belongs, gathered, states
from steelyard.dynamics.friction import given_load, write_friction
from steelyard.dynamics.motion_pass import cross, motion_pass, motion_scratch, to_child
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import UnknownNameError
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot
from steelyard.threads import share

# Which code answers: the generic kernels, or straight-line code made for the robot.

CODES = ("auto", "generic", "straight-line")
"""The codes to choose from."""
STRAIGHT_LINE_FROM = 5000
"""Samples from which `auto` uses code made for the robot, which takes a few seconds once per robot."""


def wants_straight_line(code: str, robot: Robot, samples: int) -> bool:
    """Whether to use straight-line code.

    Args:
        code: one of `CODES`.
        robot: the robot.
        samples: how many samples will be computed.

    Returns:
        True when it was asked for, or when the batch is long and the robot small enough.

    Raises:
        UnknownNameError: no such code.
    """
    if code not in CODES:
        raise UnknownNameError("code", code, CODES)
    if code == "auto" and samples >= STRAIGHT_LINE_FROM:
        # The generator takes a moment to load, which short batches are spared.
        from steelyard.dynamics.straight_line import straight_line_pays

        return straight_line_pays(robot)
    return code == "straight-line"


# The torque regressor Y


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
        from steelyard.dynamics.straight_line.regressor import straight_line_regressor

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
def drive_entries(columns: IntArray, k: int, v: float, v_r: float, a: float, row: Array) -> None:
    """Write the drive columns of degree of freedom k into its torque row; viscous friction sees v_r."""
    if columns[k, 0] >= 0:
        row[columns[k, 0]] = v_r
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
    R, p, w, A = motion_scratch(tree)
    J = np.empty((nb, nv, 6))
    for n in range(first, last):
        motion_pass(tree, q[n], v[n], a[n], R, p, w, A)
        axes_in_bodies(tree, R, p, J)
        for i in range(nb):
            for s in range(tree.support_start[i], tree.support_start[i + 1]):
                k = tree.support[s]
                body_columns(i, k, w, A, J, Y[n, k])
        for k in range(nv):
            drive_entries(columns, k, v[n, k], v[n, k], a[n, k], Y[n, k])


# The regressor of the wrench at the base


def base_wrench_regressor(robot: Robot, layout: Layout, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    r"""The matrix B with $B(q, v, a)\,\phi = (f, n)$, the force and moment that carry the robot.

    With a fixed base this is the wrench the base exerts on the moving links, about the origin of the base
    frame and in its axes: what a force-torque plate under the robot measures, less the weight of the base
    itself, which is no parameter of the layout.

    When the first joint floats this is the generalised force of that joint, the first six rows of the torque
    regressor: about the origin of the floating link and in its axes, zero for a robot that flies freely.

    Rotors and friction act between neighbouring links, so the drive columns are zero (Wensing et al. 2024,
    note 1).

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
    R, p, w, A = motion_scratch(tree)
    X = np.empty((nb, 3, 3))
    r = np.empty((nb, 3))
    for n in range(first, last):
        motion_pass(tree, q[n], v[n], a[n], R, p, w, A)
        for i in range(nb):
            place_in_root(tree, i, floats, R, p, X, r)
            # A floating first joint carries only what hangs on it.
            if not floats or tree.support[tree.support_start[i]] == 0:
                wrench_columns(i, w, A, X, r, B[n])
