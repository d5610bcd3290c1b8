r"""A log of any length compressed to triangles: least squares without ever storing the regressor.

Each degree of freedom k has its own equation $W_k \phi = \tau_k$, in which only the links it moves and its
own drive appear. Its factor $R_k$ (upper triangular, $R_k^T R_k = [W_k\ \tau_k]^T [W_k\ \tau_k]$) is updated
block by block with Householder reflections, so memory does not grow with the number of samples, and no
accuracy is lost to squaring as in a Gram matrix. With one triangle per degree of freedom, weights per joint
can be applied later, for free.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.compiled import kernel
from steelyard.dynamics.batch import belongs, states
from steelyard.dynamics.dense import add_products, fold_into_triangle
from steelyard.dynamics.motion_pass import motion_pass
from steelyard.dynamics.regressor import axes_in_bodies, body_columns
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

ROWS = 64
"""Samples folded into a triangle at a time: a block of a 7-joint arm's longest rows stays in the cache."""
PARTS = 8
"""Independent triangles that threads fill; a constant, so the result does not depend on their number."""


@dataclass(frozen=True, eq=False)
class Compressed:
    """The normal information of a log, one triangle per degree of freedom.

    Attributes:
        samples: number of samples seen.
        size: p, number of parameters.
        columns: per degree of freedom, the parameters its torque can depend on, indices, shape (n_k,).
        triangles: per degree of freedom, the factor of [W_k tau_k], shape (n_k + 1, n_k + 1), SI.
    """

    samples: int
    size: int
    columns: tuple[IntArray, ...]
    triangles: tuple[Array, ...]

    def factor(self, weights: ArrayLike | None = None) -> Array:
        r"""The factor of all equations together, weighted per degree of freedom.

        Args:
            weights: w, a factor for each equation, shape (nv,), dimensionless; None for ones.

        Returns:
            R, upper triangular with $R^T R = [W\ \tau]^T\,\mathrm{diag}(w^2)\,[W\ \tau]$, shape
            (p + 1, p + 1), SI.
        """
        w = self._weights(weights)
        stacked = np.zeros((sum(len(T) for T in self.triangles), self.size + 1))
        row = 0
        for w_k, columns, T in zip(w, self.columns, self.triangles, strict=True):
            stacked[row : row + len(T), [*columns, self.size]] = w_k * T
            row += len(T)
        R = np.zeros((self.size + 1, self.size + 1))
        reduced = np.linalg.qr(stacked, mode="r")
        R[: len(reduced)] = reduced
        return R

    def gram(self, weights: ArrayLike | None = None) -> Array:
        """The Gram matrix of all equations together, weighted per degree of freedom.

        Args:
            weights: w, a factor for each equation, shape (nv,), dimensionless; None for ones.

        Returns:
            [W tau]ᵀ diag(w²) [W tau], shape (p + 1, p + 1), SI.
        """
        G = np.zeros((self.size + 1, self.size + 1))
        for w_k, columns, T in zip(self._weights(weights), self.columns, self.triangles, strict=True):
            index = [*columns, self.size]
            G[np.ix_(index, index)] += w_k**2 * (T.T @ T)
        return G

    def _weights(self, weights: ArrayLike | None) -> Array:
        nv = len(self.triangles)
        return np.ones(nv) if weights is None else checked("weights", weights, (nv,))


Block = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]


def compress(robot: Robot, layout: Layout, blocks: Iterable[Block]) -> Compressed:
    """Compress a log to the triangles of its torque equations.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI; read one at a time.

    Returns:
        The compressed log; a few hundred kilobytes whatever its length.

    Raises:
        InputError: there is no sample, or an array does not fit.
    """
    tree, dense = tree_of(robot), _dense_columns(robot, layout)
    widest = int(np.diff(dense.start).max()) + 1
    triangles = np.zeros((PARTS, robot.nv, widest, widest))
    samples = 0
    for q, v, a, tau in blocks:
        q, v, a, tau = states(robot, q=q, v=v, a=a, tau=tau)
        share(PARTS, _compress, tree, dense, q, v, a, tau, triangles, least=1)
        samples += len(q)
    if samples == 0:
        raise InputError("hold no sample.", place="blocks")
    columns, merged = [], []
    for k in range(robot.nv):
        mine = dense.columns[dense.start[k] : dense.start[k + 1]]
        n = len(mine) + 1
        columns.append(read_only(mine))
        merged.append(read_only(_merge(triangles[:, k, :n, :n])))
    return Compressed(samples, layout.size, tuple(columns), tuple(merged))


def torque_gram(robot: Robot, layout: Layout, blocks: Iterable[Block]) -> Array:
    """The Gram matrix of a log, accumulated directly: faster than `compress`, but round-off is squared.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI; read one at a time.

    Returns:
        [W tau]ᵀ [W tau], shape (p + 1, p + 1), SI.
    """
    tree, dense = tree_of(robot), _dense_columns(robot, layout)
    widest = int(np.diff(dense.start).max()) + 1
    products = np.zeros((PARTS, robot.nv, widest, widest))
    for q, v, a, tau in blocks:
        q, v, a, tau = states(robot, q=q, v=v, a=a, tau=tau)
        share(PARTS, _accumulate_gram, tree, dense, q, v, a, tau, products, least=1)
    total = products.sum(axis=0)
    G = np.zeros((layout.size + 1, layout.size + 1))
    for k in range(robot.nv):
        index = [*dense.columns[dense.start[k] : dense.start[k + 1]], layout.size]
        upper = np.triu(total[k, : len(index), : len(index)])
        G[np.ix_(index, index)] += upper + np.triu(upper, 1).T
    return G


class _Dense(NamedTuple):
    """Which columns each degree of freedom's equation has, packed without the zeros of the tree.

    Attributes:
        start: where the columns of each degree of freedom start, shape (nv + 1,).
        columns: their indices in phi, shape (sum of n_k,).
        place: where body i's ten columns stand among those of k, -1 where k does not move i, shape (nv, nb).
        drive: where the four drive terms of k stand among its columns, -1 where absent, shape (nv, 4).
    """

    start: IntArray
    columns: IntArray
    place: IntArray
    drive: IntArray


def _dense_columns(robot: Robot, layout: Layout) -> _Dense:
    belongs(robot, layout)
    tree = tree_of(robot)
    nb = len(robot.links)
    place = np.full((robot.nv, nb), -1, dtype=np.int64)
    drive = np.full((robot.nv, 4), -1, dtype=np.int64)
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
        columns += mine
        start.append(len(columns))
    as_integers = [np.array(x, dtype=np.int64) for x in (start, columns)]
    return _Dense(*(read_only(x) for x in (*as_integers, place, drive)))


def _merge(triangles: Array) -> Array:
    """The triangle of all parts together, with a diagonal that is not negative."""
    T = np.linalg.qr(triangles.reshape(-1, triangles.shape[-1]), mode="r")
    signs = np.where(np.diag(T) < 0, -1.0, 1.0)
    return np.asarray(signs[:, None] * T)


@kernel
def fill_block(
    tree: Tree, dense: _Dense, q: Array, v: Array, a: Array, tau: Array, first: int, count: int, A: Array
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
                at = dense.place[k, i]
                for c in range(10):
                    A[k, at + c, s] = row[10 * i + c]
        for k in range(nv):
            d = dense.drive[k]
            if d[0] >= 0:
                A[k, d[0], s] = v[n, k]
            if d[1] >= 0:
                A[k, d[1], s] = 1.0 if v[n, k] > 0.0 else (-1.0 if v[n, k] < 0.0 else 0.0)
            if d[2] >= 0:
                A[k, d[2], s] = 1.0
            if d[3] >= 0:
                A[k, d[3], s] = a[n, k]
            A[k, dense.start[k + 1] - dense.start[k], s] = tau[n, k]


@kernel
def _compress(
    first_part: int,
    last_part: int,
    tree: Tree,
    dense: _Dense,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    triangles: Array,
) -> None:
    samples, nv = len(q), v.shape[1]
    share = math.ceil(samples / PARTS)
    for part in range(first_part, last_part):
        A = np.empty((nv, triangles.shape[2], ROWS))
        end = min(samples, (part + 1) * share)
        for first in range(part * share, end, ROWS):
            count = min(ROWS, end - first)
            fill_block(tree, dense, q, v, a, tau, first, count, A)
            for k in range(nv):
                fold_into_triangle(triangles[part, k], A[k], dense.start[k + 1] - dense.start[k] + 1, count)


@kernel
def _accumulate_gram(
    first_part: int,
    last_part: int,
    tree: Tree,
    dense: _Dense,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    products: Array,
) -> None:
    samples, nv = len(q), v.shape[1]
    share = math.ceil(samples / PARTS)
    for part in range(first_part, last_part):
        A = np.empty((nv, products.shape[2], ROWS))
        end = min(samples, (part + 1) * share)
        for first in range(part * share, end, ROWS):
            count = min(ROWS, end - first)
            fill_block(tree, dense, q, v, a, tau, first, count, A)
            for k in range(nv):
                add_products(products[part, k], A[k], dense.start[k + 1] - dense.start[k] + 1, count)
