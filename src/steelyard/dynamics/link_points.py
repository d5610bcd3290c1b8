"""Points fixed on links, and the gradient of any function of them: compiled, over many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only_view
from steelyard.compiled import kernel
from steelyard.dynamics.batch import gathered, states
from steelyard.dynamics.inverse_dynamics import add_to_parent
from steelyard.dynamics.kinematics import poses_in_base
from steelyard.dynamics.motion_pass import cross, to_child, to_parent
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError, ShapeError
from steelyard.robot import Robot
from steelyard.threads import share


def link_points(robot: Robot, q: ArrayLike, links: ArrayLike, local: ArrayLike) -> Array:
    r"""Points fixed on links, in the base frame: $p_k(q) = R_{0L}\,x_k + p_{0L}$.

    Args:
        robot: the robot.
        q: joint positions, shape (N, nq), rad or m.
        links: index of each point's moving link, -1 for the base, shape (K,), dimensionless.
        local: x, each point in its link's frame, shape (K, 3), m.

    Returns:
        p, shape (N, K, 3), m.

    Raises:
        InputError: a shape, a value or an index does not fit; names the argument.
    """
    (q,) = states(robot, q=q)
    at, x = _points(robot, links, local)
    points = np.empty((len(q), len(at), 3))
    share(len(q), _link_points, tree_of(robot), at, x, q, points)
    return points


def link_points_adjoint(
    robot: Robot, q: ArrayLike, links: ArrayLike, local: ArrayLike, weights: ArrayLike
) -> Array:
    r"""Gradient of $\sum_k w_{nk} \cdot p_k(q_n)$ in $q_n$, with the points of `link_points`.

    With $w = \partial f / \partial p$ it is the gradient of any function f of the points, such as a
    clearance. It is also the torque at the joints that forces w at the points amount to.

    Args:
        robot: the robot.
        q: joint positions, shape (N, nq), rad or m.
        links: index of each point's moving link, -1 for the base, shape (K,), dimensionless.
        local: each point in its link's frame, shape (K, 3), m.
        weights: w, in the base frame, shape (N, K, 3), SI; (K, 3) for one sample.

    Returns:
        The gradient, shape (N, nv), SI; along the body's twist where a joint floats.

    Raises:
        InputError: a shape, a value or an index does not fit; names the argument.
    """
    (q,) = states(robot, q=q)
    at, x = _points(robot, links, local)
    w = checked("weights", weights, ("...", len(at), 3))
    w = checked("weights", w[None] if w.ndim == 2 else w, (len(q), len(at), 3), finite=False)
    gradient = np.empty((len(q), robot.untied.nv))
    share(len(q), _link_points_adjoint, tree_of(robot), at, x, read_only_view(w), q, gradient)
    return gathered(robot, gradient)


def _points(robot: Robot, links: ArrayLike, local: ArrayLike) -> tuple[IntArray, Array]:
    """Both as contiguous read-only arrays, shapes (K,) and (K, 3), after checking them."""
    raw = np.asarray(links)
    if raw.ndim != 1 or (raw.size and raw.dtype.kind not in "iu"):
        raise ShapeError(
            f"expected integers of shape (K,), got {raw.dtype} of shape {raw.shape}.", place="links"
        )
    wrong = np.flatnonzero((raw < -1) | (raw >= len(robot.links)))
    if wrong.size:
        raise InputError(
            f"index {raw[wrong[0]]} of point {wrong[0]} names no link.",
            place="links",
            remedy=f"Valid: 0 to {len(robot.links) - 1} for the moving links, -1 for the base.",
            evidence={"points": wrong},
        )
    x = checked("local", local, (len(raw), 3))
    return read_only_view(raw.astype(np.int64)), read_only_view(x)


@kernel
def _link_points(
    first: int, last: int, tree: Tree, links: IntArray, local: Array, q: Array, points: Array
) -> None:
    nb = tree.parent.size
    R, p = np.empty((nb, 3, 3)), np.empty((nb, 3))
    R_0, p_0 = np.empty((nb, 3, 3)), np.empty((nb, 3))
    for n in range(first, last):
        poses_in_base(tree, q[n], R, p, R_0, p_0)
        for k in range(len(links)):
            i = links[k]
            if i < 0:
                points[n, k] = local[k]
                continue
            x, y, z = to_parent(R_0, i, local[k, 0], local[k, 1], local[k, 2])
            points[n, k, 0] = p_0[i, 0] + x
            points[n, k, 1] = p_0[i, 1] + y
            points[n, k, 2] = p_0[i, 2] + z


@kernel
def collect_wrench(i: int, R_0: Array, x: Array, w: Array, F: Array) -> None:
    """Add to F[i] the wrench, in body i, of the force w (3,) of the base frame at the body's point x (3,)."""
    fx, fy, fz = to_child(R_0, i, w[0], w[1], w[2])
    nx, ny, nz = cross(x[0], x[1], x[2], fx, fy, fz)
    F[i, 0] += fx
    F[i, 1] += fy
    F[i, 2] += fz
    F[i, 3] += nx
    F[i, 4] += ny
    F[i, 5] += nz


@kernel
def _link_points_adjoint(
    first: int,
    last: int,
    tree: Tree,
    links: IntArray,
    local: Array,
    weights: Array,
    q: Array,
    gradient: Array,
) -> None:
    nb = tree.parent.size
    R, p = np.empty((nb, 3, 3)), np.empty((nb, 3))
    R_0, p_0 = np.empty((nb, 3, 3)), np.empty((nb, 3))
    F = np.empty((nb, 6))
    for n in range(first, last):
        poses_in_base(tree, q[n], R, p, R_0, p_0)
        F[:] = 0.0
        for k in range(len(links)):
            if links[k] >= 0:
                collect_wrench(links[k], R_0, local[k], weights[n, k], F)
        for i in range(nb - 1, -1, -1):
            for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
                work = 0.0
                for c in range(6):
                    work += tree.subspace[k, c] * F[i, c]
                gradient[n, k] = work
            if tree.parent[i] >= 0:
                add_to_parent(R, p, F, i, tree.parent[i])
