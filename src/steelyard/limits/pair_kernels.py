"""Signed distances of many pairs over many samples, and how they change with the joints (compiled)."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.dynamics.kinematics import poses_in_base
from steelyard.dynamics.motion_pass import cross, to_parent
from steelyard.dynamics.tree import Tree
from steelyard.limits.gjk import COLUMNS, CORNERS
from steelyard.limits.packed import Cores
from steelyard.limits.signed_distance import apart, overlapping


@kernel
def place_cores(
    tree: Tree, cores: Cores, q: Array, R: Array, p: Array, R_0: Array, p_0: Array, x: Array
) -> None:
    """Write the corners of all cores in the base frame into x; the last of R_0 and p_0 is the base itself."""
    poses_in_base(tree, q, R, p, R_0, p_0)
    for s in range(len(cores.link)):
        i = cores.link[s]
        if i < 0:
            continue
        for k in range(cores.start[s], cores.start[s + 1]):
            ux, uy, uz = to_parent(R_0, i, cores.points[k, 0], cores.points[k, 1], cores.points[k, 2])
            x[k, 0], x[k, 1], x[k, 2] = p_0[i, 0] + ux, p_0[i, 1] + uy, p_0[i, 2] + uz


@kernel
def axes_in_base(tree: Tree, R_0: Array, p_0: Array, S: Array) -> None:
    """Write every degree of freedom's twist at the base's origin, in its axes, linear part first, into S."""
    s = tree.subspace
    for i in range(tree.parent.size):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            lx, ly, lz = to_parent(R_0, i, s[k, 0], s[k, 1], s[k, 2])
            cx, cy, cz = to_parent(R_0, i, s[k, 3], s[k, 4], s[k, 5])
            ux, uy, uz = cross(p_0[i, 0], p_0[i, 1], p_0[i, 2], cx, cy, cz)
            S[k, 0], S[k, 1], S[k, 2] = lx + ux, ly + uy, lz + uz
            S[k, 3], S[k, 4], S[k, 5] = cx, cy, cz


@kernel
def measure_pairs(
    first: int,
    last: int,
    tree: Tree,
    cores: Cores,
    pairs: IntArray,
    q: Array,
    weights: Array,
    distances: Array,
    gradients: Array,
    adjoint: Array,
) -> None:
    r"""Write what is asked for: an array of no samples is not.

    The signed distances of all pairs go into distances (N, P), their gradients into gradients (N, nv, P),
    which starts at zero, and the gradient of their sum with weights (N, P) into adjoint (N, nv), for which
    pairs of weight zero are passed over.

    The points a, b and the direction n of a pair are the best ones, so their own change does not count: a
    distance is a force n on the first link at a, and its opposite on the second at b. They share a line of
    action and thus one moment m about the base's origin, and $\partial d / \partial q_k = \pm(n \cdot l_k +
    m \cdot c_k)$ for the degrees of freedom k between the two links.
    """
    nb, nv = tree.parent.size, tree.subspace.shape[0]
    R, p, R_0, p_0 = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.zeros((nb + 1, 3, 3)), np.zeros((nb + 1, 3))
    for c in range(3):
        R_0[nb, c, c] = 1.0
    simplex, owners = np.empty((CORNERS, COLUMNS)), np.empty((CORNERS, 2), np.int64)
    x, out, start, link, radius = cores.points.copy(), np.empty(9), cores.start, cores.link, cores.radius
    S, F, force = np.empty((nv, 6)), np.empty((nb + 1, 6)), np.empty(6)
    each, weighted = len(gradients) > 0, len(adjoint) > 0
    for n in range(first, last):
        place_cores(tree, cores, q[n], R, p, R_0, p_0, x)
        if each or weighted:
            axes_in_base(tree, R_0, p_0, S)
            F[:] = 0.0
        for k in range(len(pairs)):
            if weighted and weights[n, k] == 0.0:
                continue
            s, t = pairs[k, 0], pairs[k, 1]
            gap = apart(x, start[s], start[s + 1], start[t], start[t + 1], simplex, owners, out)
            if gap < 0.0:
                gap = overlapping(cores, s, t, x, R_0, out)
            if len(distances) > 0:
                distances[n, k] = gap - radius[s] - radius[t]
            if not (each or weighted):
                continue
            force[0], force[1], force[2] = out[0], out[1], out[2]
            force[3], force[4], force[5] = cross(out[3], out[4], out[5], out[0], out[1], out[2])
            i, j = link[s], link[t]
            if each:
                _write_gradient(tree, S, force, i, j, gradients[n, :, k])
            if weighted:
                for c in range(6):
                    F[i, c] += weights[n, k] * force[c]
                    F[j, c] -= weights[n, k] * force[c]
        if weighted:
            _add_towards_base(tree, S, F, adjoint[n])


@kernel
def _write_gradient(tree: Tree, S: Array, force: Array, i: int, j: int, gradient: Array) -> None:
    """From both links towards the link that carries both."""
    while i != j:
        body, sign = (i, 1.0) if i > j else (j, -1.0)
        for k in range(tree.first_dof[body], tree.first_dof[body + 1]):
            work = 0.0
            for c in range(6):
                work += S[k, c] * force[c]
            gradient[k] = sign * work
        if i > j:
            i = tree.parent[i]
        else:
            j = tree.parent[j]


@kernel
def _add_towards_base(tree: Tree, S: Array, F: Array, gradient: Array) -> None:
    """Power of all wrenches F (nb + 1, 6), kept at the base's origin, with every degree of freedom."""
    for i in range(tree.parent.size - 1, -1, -1):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            work = 0.0
            for c in range(6):
                work += S[k, c] * F[i, c]
            gradient[k] = work
        for c in range(6):
            F[tree.parent[i], c] += F[i, c]
