"""How the joints move a tool, seen from the tool, and back through damped least squares (compiled)."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.motion_pass import cross, to_parent
from steelyard.dynamics.tree import Tree


@kernel
def tool_jacobian(tree: Tree, link: int, pose: Array, chosen: Array, R: Array, p: Array, J: Array) -> None:
    r"""Write J (6, nv) with (ṗ, ω) = J v of a tool on a link, in the tool's own axes, linear rows first.

    From the tool inwards: an axis (l, c) of body i moves the tool, at x in the frame of i, by
    $(l + c \times x,\; c)$.

    Args:
        tree: the robot.
        link: the body that carries the tool.
        pose: R_LT by rows, then p_LT, shape (12,), dimensionless and m.
        chosen: 1 for a row that is wanted, 0 for one that stays zero, shape (6,), dimensionless.
        R: R_PC of every body, shape (nb, 3, 3), dimensionless.
        p: p_PC of every body, shape (nb, 3), m.
        J: out, shape (6, nv), m, rad or dimensionless.
    """
    J[:] = 0.0
    T = np.empty((3, 3))  # the tool's axes as rows, in the frame of body i
    for r in range(3):
        for c in range(3):
            T[r, c] = pose[3 * c + r]
    x, y, z = pose[9], pose[10], pose[11]
    i = link
    while i >= 0:
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            s = tree.subspace[k]
            ex, ey, ez = cross(s[3], s[4], s[5], x, y, z)
            for r in range(3):
                along = T[r, 0] * (s[0] + ex) + T[r, 1] * (s[1] + ey) + T[r, 2] * (s[2] + ez)
                J[r, k] = chosen[r] * along
                J[3 + r, k] = chosen[3 + r] * (T[r, 0] * s[3] + T[r, 1] * s[4] + T[r, 2] * s[5])
        x, y, z = to_parent(R, i, x, y, z)
        x, y, z = x + p[i, 0], y + p[i, 1], z + p[i, 2]
        for r in range(3):
            T[r, 0], T[r, 1], T[r, 2] = to_parent(R, i, T[r, 0], T[r, 1], T[r, 2])
        i = tree.parent[i]


@kernel
def damped_square(J: Array, damping: float, L: Array) -> None:
    r"""Write the lower triangle L (6, 6) with $L L^T = J J^T + \lambda^2 1$."""
    for r in range(6):
        for c in range(r + 1):
            entry = damping * damping if r == c else 0.0
            for k in range(J.shape[1]):
                entry += J[r, k] * J[c, k]
            for m in range(c):
                entry -= L[r, m] * L[c, m]
            L[r, c] = math.sqrt(entry) if r == c else entry / L[c, c]


@kernel
def solve_square(L: Array, x: Array) -> None:
    r"""Replace x (6,) by $(L L^T)^{-1} x$."""
    for r in range(6):
        for c in range(r):
            x[r] -= L[r, c] * x[c]
        x[r] /= L[r, r]
    for r in range(5, -1, -1):
        for c in range(r + 1, 6):
            x[r] -= L[c, r] * x[c]
        x[r] /= L[r, r]
