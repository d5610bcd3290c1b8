"""Energies as rows times the parameters, compiled, over many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.dynamics.batch import belongs, states
from steelyard.dynamics.motion_pass import carry_gravity, cross, place_bodies, velocity_pass, velocity_scratch
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share


def kinetic_energy_regressor(robot: Robot, layout: Layout, q: ArrayLike, v: ArrayLike) -> Array:
    r"""The rows e with $e(q, v) \cdot \phi = \tfrac12 v^T H(q)\,v$, the rotors' $\tfrac12 I_a v^2$ included.

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.

    Returns:
        One row per sample, shape (N, p), SI; friction and offset columns are zero.
    """
    belongs(robot, layout)
    q, v = states(robot, q=q, v=v)
    E = np.zeros((len(q), layout.size))
    share(len(q), _kinetic_energy_regressor, tree_of(robot), layout.drive_columns, q, v, E)
    return E


def potential_energy_regressor(robot: Robot, layout: Layout, q: ArrayLike) -> Array:
    r"""The rows e with $e(q) \cdot \phi = -\sum_i g \cdot (m_i\,p_i + R_i\,h_i)$.

    A mass at the origin of the base frame has no potential energy; $R_i, p_i$ place link i in that frame.

    Args:
        robot: the robot.
        layout: the order of the columns.
        q: joint positions, shape (N, nq), rad or m.

    Returns:
        One row per sample, shape (N, p), SI; drive columns are zero.
    """
    belongs(robot, layout)
    (q,) = states(robot, q=q)
    E = np.zeros((len(q), layout.size))
    share(len(q), _potential_energy_regressor, tree_of(robot), q, E)
    return E


@kernel
def kinetic_columns(i: int, V: Array, row: Array) -> None:
    r"""Write the ten columns of body i.

    $$\tfrac12 m\,u \cdot u + h \cdot (u \times \omega) + \tfrac12\,\omega \cdot I\omega$$
    """
    ux, uy, uz = V[i, 0], V[i, 1], V[i, 2]
    wx, wy, wz = V[i, 3], V[i, 4], V[i, 5]
    ex, ey, ez = cross(ux, uy, uz, wx, wy, wz)
    at = 10 * i
    row[at] = 0.5 * (ux * ux + uy * uy + uz * uz)
    row[at + 1] = ex
    row[at + 2] = ey
    row[at + 3] = ez
    row[at + 4] = 0.5 * wx * wx
    row[at + 5] = wx * wy
    row[at + 6] = 0.5 * wy * wy
    row[at + 7] = wx * wz
    row[at + 8] = wy * wz
    row[at + 9] = 0.5 * wz * wz


@kernel
def _kinetic_energy_regressor(
    first: int, last: int, tree: Tree, columns: IntArray, q: Array, v: Array, E: Array
) -> None:
    nb, nv = tree.parent.size, v.shape[1]
    R, p, V = velocity_scratch(tree)
    for n in range(first, last):
        velocity_pass(tree, q[n], v[n], R, p, V)
        for i in range(nb):
            kinetic_columns(i, V, E[n])
        for k in range(nv):
            if columns[k, 3] >= 0:
                E[n, columns[k, 3]] = 0.5 * v[n, k] * v[n, k]


@kernel
def _potential_energy_regressor(first: int, last: int, tree: Tree, q: Array, E: Array) -> None:
    nb = tree.parent.size
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    g = np.empty((nb, 3))
    for n in range(first, last):
        place_bodies(tree, q[n], R, p)
        for i in range(nb):
            carry_gravity(tree, i, R, g)
            parent = tree.parent[i]
            # A unit mass at this frame's origin: the parent's energy, and the step from there.
            energy = 0.0 if parent < 0 else E[n, 10 * parent]
            for c in range(3):
                fall = tree.gravity[c] if parent < 0 else g[parent, c]
                energy -= fall * p[i, c]
                E[n, 10 * i + 1 + c] = -g[i, c]
            E[n, 10 * i] = energy
