"""From the base outwards: how each body moves and how gravity points, in its own frame (compiled)."""

from __future__ import annotations

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.dynamics.motion_pass import cross, place_bodies, to_child
from steelyard.dynamics.tree import Tree


@kernel
def velocity_pass(tree: Tree, q: Array, v: Array, R: Array, p: Array, V: Array) -> None:
    r"""Write pose and twist of every body, each in its own frame; the twist is linear first, (nb, 6).

    $$u_i = R^T(u_p + \omega_p \times p) + s_l v_i, \qquad \omega_i = R^T\omega_p + s_a v_i$$
    """
    place_bodies(tree, q, R, p)
    for i in range(tree.parent.size):
        parent = tree.parent[i]
        ux = uy = uz = wx = wy = wz = 0.0
        if parent >= 0:
            wx, wy, wz = V[parent, 3], V[parent, 4], V[parent, 5]
            cx, cy, cz = cross(wx, wy, wz, p[i, 0], p[i, 1], p[i, 2])
            ux, uy, uz = to_child(R, i, V[parent, 0] + cx, V[parent, 1] + cy, V[parent, 2] + cz)
            wx, wy, wz = to_child(R, i, wx, wy, wz)
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            ux += tree.subspace[k, 0] * v[k]
            uy += tree.subspace[k, 1] * v[k]
            uz += tree.subspace[k, 2] * v[k]
            wx += tree.subspace[k, 3] * v[k]
            wy += tree.subspace[k, 4] * v[k]
            wz += tree.subspace[k, 5] * v[k]
        V[i, 0], V[i, 1], V[i, 2] = ux, uy, uz
        V[i, 3], V[i, 4], V[i, 5] = wx, wy, wz


@kernel
def carry_gravity(tree: Tree, i: int, R: Array, g: Array) -> None:
    """Write free fall in the frame of body i into g[i]."""
    parent = tree.parent[i]
    if parent < 0:
        g[i, 0], g[i, 1], g[i, 2] = to_child(R, i, tree.gravity[0], tree.gravity[1], tree.gravity[2])
    else:
        g[i, 0], g[i, 1], g[i, 2] = to_child(R, i, g[parent, 0], g[parent, 1], g[parent, 2])
