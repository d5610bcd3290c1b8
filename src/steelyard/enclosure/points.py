"""Points fixed on links over stretches of time, as forms in the base frame (compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only_view
from steelyard.compiled import kernel
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.enclosure.arithmetic import CENTRE, FIRST, RADIUS, add_number, add_scaled
from steelyard.enclosure.bodies import add_turned, place_joints, slides
from steelyard.enclosure.forms import Forms
from steelyard.enclosure.robots import untied_positions
from steelyard.enclosure.rows import Given, given, rows_for, table
from steelyard.enclosure.vectors import clear_vector, seal_vector
from steelyard.errors import InputError, ShapeError
from steelyard.robot import Robot
from steelyard.threads import share

LEAST = 8
"""Stretches worth a thread of their own."""


def enclosed_points(robot: Robot, q: Forms, links: ArrayLike, local: ArrayLike) -> Forms:
    r"""Enclose points fixed on links: $p_k(q) = R_{0L}\,x_k + p_{0L}$; a link's own origin is its point 0.

    Args:
        robot: the robot; every joint has one degree of freedom.
        q: joint positions over K stretches, shape (K, nv), rad or m.
        links: index of each point's moving link, -1 for the base, shape (P,), dimensionless.
        local: x, each point in its link's frame, shape (P, 3), m.

    Returns:
        The points in the base frame, shape (K, P, 3), m, in the symbols of q. Rounding errors are inside.

    Raises:
        InputError: a joint has several degrees of freedom, or a shape or an index does not fit.
    """
    every = untied_positions(robot, q)
    at = np.asarray(links)
    if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
        raise ShapeError(f"expected integers of shape (P,), got {at.dtype} of {at.shape}.", place="links")
    if ((at < -1) | (at >= len(robot.links))).any():
        raise InputError(f"must be -1 to {len(robot.links) - 1}.", place="links")
    x = checked("local", local, (len(at), 3))
    K, _, S = every.generators.shape
    shape = (K, len(at), 3)
    centre, generators, radius = np.empty(shape), np.empty((*shape, S)), np.empty(shape)
    share(
        K,
        _enclosed_points,
        tree_of(robot),
        given(every),
        read_only_view(at.astype(np.int64)),
        read_only_view(x),
        centre,
        generators,
        radius,
        least=LEAST,
    )
    return Forms(centre, generators, radius)


@kernel
def _enclosed_points(
    first: int,
    last: int,
    tree: Tree,
    q: Given,
    links: IntArray,
    local: Array,
    centre: Array,
    generators: Array,
    radius: Array,
) -> None:
    """From each point inwards: turning a vector of constants first keeps the forms tightest."""
    at = rows_for(tree.parent.size)
    X = table(at.end, q)
    for n in range(first, last):
        place_joints(n, q, X, at)
        for k in range(len(links)):
            x, y = at.spare + 9, at.spare + 12
            clear_vector(X, x)
            for r in range(3):
                add_number(X, x + r, local[k, r])
            seal_vector(X, x)
            i = links[k]
            while i >= 0:
                clear_vector(X, y)
                add_turned(tree, i, X, at, x, y, True)
                for r in range(3):
                    add_number(X, y + r, tree.offset[i, r])
                    if slides(tree, i):
                        add_scaled(X, y + r, tree.slide[i, r], at.q + i)
                seal_vector(X, y)
                x, y = y, x
                i = tree.parent[i]
            for r in range(3):
                centre[n, k, r] = X[x + r, CENTRE]
                radius[n, k, r] = X[x + r, RADIUS]
                for s in range(generators.shape[3]):
                    generators[n, k, r, s] = X[x + r, FIRST + s]
