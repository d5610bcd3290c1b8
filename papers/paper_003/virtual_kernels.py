"""Feature points against ellipsoids over many samples, and how that changes with the joints (compiled)."""

from __future__ import annotations

import math

import numpy as np

from paper_003.virtual_pairs import PackedPairs
from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.kinematics import poses_in_base
from steelyard.dynamics.motion_pass import cross, to_child, to_parent
from steelyard.dynamics.tree import Tree
from steelyard.limits.clearance import axes_in_base


@kernel
def measure_points(
    first: int,
    last: int,
    tree: Tree,
    pairs: PackedPairs,
    q: Array,
    weights: Array,
    distances: Array,
    gradients: Array,
    adjoint: Array,
) -> None:
    r"""Write what is asked for: an array of no samples is not.

    The distances go into distances (N, P), their gradients into gradients (N, nv, P), and the gradient of
    their sum with weights (N, P) into adjoint (N, nv), for which pairs of weight zero are passed over.

    The gradient of d in the point is a force n on the tool at that point, and its opposite on the link of the
    ellipsoid, so $\partial d / \partial q_k = \pm(n \cdot l_k + m \cdot c_k)$, with its moment m about the
    base's origin, for the degrees of freedom k that move one of both.
    """
    nb, nv = tree.parent.size, tree.subspace.shape[0]
    R, p, R_0, p_0 = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.zeros((nb + 1, 3, 3)), np.zeros((nb + 1, 3))
    for c in range(3):
        R_0[nb, c, c] = 1.0
    S, u, wrench = np.empty((nv, 6)), np.empty(3), np.empty(6)
    each, weighted = len(gradients) > 0, len(adjoint) > 0
    for n in range(first, last):
        poses_in_base(tree, q[n], R, p, R_0, p_0)
        if each or weighted:
            axes_in_base(tree, R_0, p_0, S)
        if weighted:
            adjoint[n] = 0.0
        for k in range(len(pairs.link)):
            if weighted and weights[n, k] == 0.0:
                continue
            t, i, A = pairs.carrier, pairs.link[k], pairs.scaled_axes[k]
            px, py, pz = to_parent(R_0, t, pairs.point[k, 0], pairs.point[k, 1], pairs.point[k, 2])
            px, py, pz = p_0[t, 0] + px, p_0[t, 1] + py, p_0[t, 2] + pz
            x, y, z = to_child(R_0, i, px - p_0[i, 0], py - p_0[i, 1], pz - p_0[i, 2])
            x, y, z = x - pairs.centre[k, 0], y - pairs.centre[k, 1], z - pairs.centre[k, 2]
            for c in range(3):
                u[c] = A[0, c] * x + A[1, c] * y + A[2, c] * z
            gauge = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
            if len(distances) > 0:
                distances[n, k] = pairs.shortest[k] * (gauge - 1.0)
            if not (each or weighted):
                continue
            scale = pairs.shortest[k] / gauge if gauge > 0.0 else 0.0
            x = scale * (A[0, 0] * u[0] + A[0, 1] * u[1] + A[0, 2] * u[2])
            y = scale * (A[1, 0] * u[0] + A[1, 1] * u[1] + A[1, 2] * u[2])
            z = scale * (A[2, 0] * u[0] + A[2, 1] * u[1] + A[2, 2] * u[2])
            x, y, z = to_parent(R_0, i, x, y, z)
            wrench[0], wrench[1], wrench[2] = x, y, z
            wrench[3], wrench[4], wrench[5] = cross(px, py, pz, x, y, z)
            for j in range(nv):
                slope = 0.0
                for c in range(6):
                    slope += S[j, c] * wrench[c]
                slope *= pairs.moves[k, j]
                if each:
                    gradients[n, j, k] = slope
                if weighted:
                    adjoint[n, j] += weights[n, k] * slope
