"""Where frames and points of the robot are, and how joints move them: compiled, over many samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, read_only_view
from steelyard.compiled import interpreted_while_cheap, kernel
from steelyard.dynamics.batch import states
from steelyard.dynamics.motion_pass import cross, place_bodies, to_parent
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.threads import share

# Frames and their Jacobians


def forward_kinematics(robot: Robot, q: ArrayLike, frames: Sequence[str] | None = None) -> Array:
    r"""Poses of frames in the base frame, $X_{0F}(q) = X_{0L}(q)\,X_{LF}$ for frame F on moving link L.

    Args:
        robot: the robot.
        q: joint positions, shape (N, nq), rad or m.
        frames: link names of the description, moving or fixed, in any order; all moving links when not given.

    Returns:
        Homogeneous matrices, shape (N, F, 4, 4), dimensionless and m.

    Raises:
        UnknownNameError: there is no such link; lists those that exist.
        InputError: `frames` is one name instead of a list of names.
    """
    if isinstance(frames, str):
        raise InputError(f"expected a list of names, got '{frames}'.", place="frames")
    (q,) = states(robot, q=q)
    chosen = [robot.frame(name) for name in (robot.link_names if frames is None else frames)]
    links = np.array([frame.link for frame in chosen], dtype=np.int64)
    placements = np.array([frame.placement.matrix for frame in chosen]).reshape(-1, 4, 4)
    X = np.zeros((len(q), len(chosen), 4, 4))
    share(len(q), _frame_poses, tree_of(robot), read_only_view(links), read_only_view(placements), q, X)
    return X


def frame_jacobian(robot: Robot, q: ArrayLike, frame: str) -> Array:
    r"""The matrix J with $(\dot p, \omega) = J(q)\,v$ for a frame's origin p and angular velocity ω.

    Both are in the base frame's axes; the linear part is the velocity of the frame's own origin. Pinocchio
    calls this reference `LOCAL_WORLD_ALIGNED`.

    Args:
        robot: the robot.
        q: joint positions, shape (N, nq), rad or m.
        frame: a link name of the description, moving or fixed.

    Returns:
        J, linear rows first, shape (N, 6, nv), m, rad or dimensionless.

    Raises:
        UnknownNameError: there is no such link; lists those that exist.
    """
    (q,) = states(robot, q=q)
    place = robot.frame(frame)
    J = np.zeros((len(q), 6, robot.untied.nv))
    share(
        len(q), _frame_jacobian, tree_of(robot), place.link, read_only_view(place.placement.translation), q, J
    )
    return J if robot.ties is None else J @ robot.ties.rates


@kernel
def pose_scratch(tree: Tree) -> tuple[Array, Array, Array, Array]:
    """Room for what `poses_in_base` writes of every body: R, p, R_0, p_0."""
    nb = tree.parent.size
    return np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3, 3)), np.empty((nb, 3))


@kernel
def poses_in_base(tree: Tree, q: Array, R: Array, p: Array, R_0: Array, p_0: Array) -> None:
    """Write every body's pose in its parent's frame (R, p) and in the base frame (R_0, p_0)."""
    place_bodies(tree, q, R, p)
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        if parent < 0:
            # Entry by entry: assigning whole slices takes Numba four seconds more to compile.
            for r in range(3):
                p_0[i, r] = p[i, r]
                for c in range(3):
                    R_0[i, r, c] = R[i, r, c]
            continue
        x, y, z = to_parent(R_0, parent, p[i, 0], p[i, 1], p[i, 2])
        p_0[i, 0], p_0[i, 1], p_0[i, 2] = p_0[parent, 0] + x, p_0[parent, 1] + y, p_0[parent, 2] + z
        for c in range(3):
            x, y, z = to_parent(R_0, parent, R[i, 0, c], R[i, 1, c], R[i, 2, c])
            R_0[i, 0, c], R_0[i, 1, c], R_0[i, 2, c] = x, y, z


@interpreted_while_cheap(
    lambda first, last, tree, links, *_: 1e-4 * (last - first) * (len(tree.parent) + len(links))
)
@kernel
def _frame_poses(
    first: int, last: int, tree: Tree, links: IntArray, placements: Array, q: Array, X: Array
) -> None:
    R, p, R_0, p_0 = pose_scratch(tree)
    for n in range(first, last):
        poses_in_base(tree, q[n], R, p, R_0, p_0)
        for f in range(len(links)):
            i = links[f]
            if i < 0:
                X[n, f] = placements[f]
                continue
            for c in range(4):
                x, y, z = to_parent(R_0, i, placements[f, 0, c], placements[f, 1, c], placements[f, 2, c])
                X[n, f, 0, c], X[n, f, 1, c], X[n, f, 2, c] = x, y, z
            for r in range(3):
                X[n, f, r, 3] += p_0[i, r]
            X[n, f, 3, 3] = 1.0


@kernel
def _frame_jacobian(first: int, last: int, tree: Tree, link: int, local: Array, q: Array, J: Array) -> None:
    s = tree.subspace
    R, p, R_0, p_0 = pose_scratch(tree)
    for n in range(first, last):
        if link < 0:
            continue
        poses_in_base(tree, q[n], R, p, R_0, p_0)
        px, py, pz = to_parent(R_0, link, local[0], local[1], local[2])
        px, py, pz = px + p_0[link, 0], py + p_0[link, 1], pz + p_0[link, 2]
        i = link
        while i >= 0:
            for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
                lx, ly, lz = to_parent(R_0, i, s[k, 0], s[k, 1], s[k, 2])
                cx, cy, cz = to_parent(R_0, i, s[k, 3], s[k, 4], s[k, 5])
                ux, uy, uz = cross(cx, cy, cz, px - p_0[i, 0], py - p_0[i, 1], pz - p_0[i, 2])
                J[n, 0, k], J[n, 1, k], J[n, 2, k] = lx + ux, ly + uy, lz + uz
                J[n, 3, k], J[n, 4, k], J[n, 5, k] = cx, cy, cz
            i = tree.parent[i]
