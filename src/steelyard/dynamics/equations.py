"""The torque equations of each degree of freedom, packed without the zeros of the tree, added up in blocks.

Degree of freedom k feels only the links it moves and its own drive, so its equations have few columns. Blocks
of them are written and folded into a triangle or a Gram matrix while they are in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, read_only
from steelyard.compiled import kernel
from steelyard.dynamics.batch import belongs, states
from steelyard.dynamics.dense import add_products, fold_into_triangle
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.motion_pass import motion_pass
from steelyard.dynamics.regressor import axes_in_bodies, body_columns
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

ROWS = 64
"""Samples folded at a time: a block of a 7-joint arm's longest equations stays in the cache."""
PARTS = 8
"""Independent sums that threads fill; a constant, so the result does not depend on their number."""

Block = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]
"""A piece of a log: q, v, a and tau."""


class Equations(NamedTuple):
    """Which columns each degree of freedom's equation has, packed without the zeros of the tree.

    Attributes:
        start: where the columns of each degree of freedom start, shape (nv + 1,).
        columns: their indices in phi, shape (sum of n_k,).
        place: where body i's ten columns stand among those of k, -1 where k does not move i, shape (nv, nb).
        drive: where the four drive terms of k stand among its columns, -1 where absent, shape (nv, 4).
        friction: where its Stribeck and asymmetric terms stand, -1 where absent, shape (nv, 2).
        shapes: v_s and δ of its Stribeck column, shape (nv, 2), SI.
    """

    start: IntArray
    columns: IntArray
    place: IntArray
    drive: IntArray
    friction: IntArray
    shapes: Array


def equations_of(robot: Robot, layout: Layout) -> Equations:
    """Find the columns of every degree of freedom's equation.

    Args:
        robot: the robot.
        layout: the order of the parameters.

    Returns:
        The columns.

    Raises:
        InputError: the layout is another robot's, or has a load term, in which torque is not linear.
    """
    belongs(robot, layout)
    refuse_load(layout, "the torque is not linear in the parameters")
    tree = tree_of(robot)
    nb = len(robot.links)
    place = np.full((robot.nv, nb), -1, dtype=np.int64)
    drive = np.full((robot.nv, 4), -1, dtype=np.int64)
    friction = np.full((robot.nv, 2), -1, dtype=np.int64)
    start, columns = [0], []
    for k in range(robot.nv):
        mine: list[int] = []
        for i in range(nb):
            if k in tree.support[tree.support_start[i] : tree.support_start[i + 1]]:
                place[k, i] = len(mine)
                mine += range(10 * i, 10 * i + 10)
        for term, column in enumerate(layout.drive_columns[k]):
            if column >= 0:
                drive[k, term] = len(mine)
                mine.append(int(column))
        for term, column in enumerate(layout.friction_columns[k, :2]):
            if column >= 0:
                friction[k, term] = len(mine)
                mine.append(int(column))
        columns += mine
        start.append(len(columns))
    return Equations(
        start=read_only(np.array(start, dtype=np.int64)),
        columns=read_only(np.array(columns, dtype=np.int64)),
        place=read_only(place),
        drive=read_only(drive),
        friction=read_only(friction),
        shapes=read_only(layout.stribeck_shapes),
    )


def add_up(robot: Robot, layout: Layout, blocks: Iterable[Block], *, squared: bool) -> tuple[Array, int]:
    """Add the equations of a log up, part by part, without ever storing them.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI; read one at a time.
        squared: Gram matrices (their upper halves) instead of triangles.

    Returns:
        Triangle or Gram matrix of [W_k tau_k] by part and degree of freedom, shape
        (PARTS, nv, widest, widest), SI; and the number of samples.

    Raises:
        InputError: there is no sample, or an array does not fit.
    """
    tree, equations = tree_of(robot), equations_of(robot, layout)
    widest = int(np.diff(equations.start).max()) + 1
    sums = np.zeros((PARTS, robot.nv, widest, widest))
    samples = 0
    for q, v, a, tau in blocks:
        given = states(robot, q=q, v=v, a=a, tau=tau)
        share(PARTS, _add_up, tree, equations, *given, squared, sums, least=1)
        samples += len(given[0])
    if samples == 0:
        raise InputError("hold no sample.", place="blocks")
    return sums, samples


@kernel
def fill_block(
    tree: Tree,
    equations: Equations,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    first: int,
    count: int,
    A: Array,
) -> None:
    """Write the equations of `count` samples into A (nv, widest, ROWS): a row per column of W_k, then tau."""
    nb, nv = tree.parent.size, v.shape[1]
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    D = np.empty((nb, 6))
    J = np.empty((nb, nv, 6))
    row = np.empty(10 * nb)
    for s in range(count):
        n = first + s
        motion_pass(tree, q[n], v[n], a[n], R, p, w, D)
        axes_in_bodies(tree, R, p, J)
        for i in range(nb):
            for m in range(tree.support_start[i], tree.support_start[i + 1]):
                k = tree.support[m]
                body_columns(i, k, w, D, J, row)
                at = equations.place[k, i]
                for c in range(10):
                    A[k, at + c, s] = row[10 * i + c]
        for k in range(nv):
            d = equations.drive[k]
            if d[0] >= 0:
                A[k, d[0], s] = v[n, k]
            if d[1] >= 0:
                A[k, d[1], s] = 1.0 if v[n, k] > 0.0 else (-1.0 if v[n, k] < 0.0 else 0.0)
            if d[2] >= 0:
                A[k, d[2], s] = 1.0
            if d[3] >= 0:
                A[k, d[3], s] = a[n, k]
            at = equations.friction[k, 0]
            if at >= 0:
                fade = math.exp(-((abs(v[n, k]) / equations.shapes[k, 0]) ** equations.shapes[k, 1]))
                A[k, at, s] = fade if v[n, k] > 0.0 else (-fade if v[n, k] < 0.0 else 0.0)
            at = equations.friction[k, 1]
            if at >= 0:
                A[k, at, s] = abs(v[n, k])
            A[k, equations.start[k + 1] - equations.start[k], s] = tau[n, k]


@kernel
def _add_up(
    first_part: int,
    last_part: int,
    tree: Tree,
    equations: Equations,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    squared: bool,
    sums: Array,
) -> None:
    samples, nv = len(q), v.shape[1]
    portion = math.ceil(samples / PARTS)
    for part in range(first_part, last_part):
        A = np.empty((nv, sums.shape[2], ROWS))
        end = min(samples, (part + 1) * portion)
        for first in range(part * portion, end, ROWS):
            count = min(ROWS, end - first)
            fill_block(tree, equations, q, v, a, tau, first, count, A)
            for k in range(nv):
                width = equations.start[k + 1] - equations.start[k] + 1
                if squared:
                    add_products(sums[part, k], A[k], width, count)
                else:
                    fold_into_triangle(sums[part, k], A[k], width, count)
