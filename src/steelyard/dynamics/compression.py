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
from steelyard.compiled import dense_kernel, kernel
from steelyard.dynamics.batch import belongs, efforts, states
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.motion_pass import motion_pass, motion_scratch
from steelyard.dynamics.regressor import axes_in_bodies, body_columns, torque_regressor
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import Robot
from steelyard.threads import share

# Dense linear algebra on small blocks, four columns at a time so that vector units stay busy (compiled).


@dense_kernel
def fold_into_triangle(T: Array, A: Array, n: int, m: int) -> None:
    r"""Fold m more equations into a triangle, in place: $T'^T T' = T^T T + A A^T$.

    Householder reflection j acts on row j of T and on the whole block. A is destroyed.

    Args:
        T: upper triangular, shape (≥ n, ≥ n), any unit.
        A: the equations, one *row* per column of the triangle, shape (≥ n, ≥ m), same unit.
        n: columns in use.
        m: equations in use.
    """
    for j in range(n):
        square = 0.0
        for r in range(m):
            square += A[j, r] * A[j, r]
        if square == 0.0:
            continue
        old = T[j, j]
        new = math.sqrt(old * old + square)
        if old > 0.0:
            new = -new
        # The reflection is 1 - t u uᵀ with u = (1, A_j / (old - new)).
        t = (new - old) / new
        scale = 1.0 / (old - new)
        for r in range(m):
            A[j, r] *= scale
        T[j, j] = new
        k = j + 1
        while k + 3 < n:
            d0 = d1 = d2 = d3 = 0.0
            for r in range(m):
                u = A[j, r]
                d0 += u * A[k, r]
                d1 += u * A[k + 1, r]
                d2 += u * A[k + 2, r]
                d3 += u * A[k + 3, r]
            d0 = t * (d0 + T[j, k])
            d1 = t * (d1 + T[j, k + 1])
            d2 = t * (d2 + T[j, k + 2])
            d3 = t * (d3 + T[j, k + 3])
            T[j, k] -= d0
            T[j, k + 1] -= d1
            T[j, k + 2] -= d2
            T[j, k + 3] -= d3
            for r in range(m):
                u = A[j, r]
                A[k, r] -= d0 * u
                A[k + 1, r] -= d1 * u
                A[k + 2, r] -= d2 * u
                A[k + 3, r] -= d3 * u
            k += 4
        while k < n:
            d0 = 0.0
            for r in range(m):
                d0 += A[j, r] * A[k, r]
            d0 = t * (d0 + T[j, k])
            T[j, k] -= d0
            for r in range(m):
                A[k, r] -= d0 * A[j, r]
            k += 1


@dense_kernel
def add_products(G: Array, A: Array, n: int, m: int) -> None:
    r"""Add m equations to the upper half of a Gram matrix, in place: $G' = G + A A^T$.

    Args:
        G: Gram matrix, its upper half in use, shape (≥ n, ≥ n), any unit.
        A: the equations, one *row* per column of the Gram matrix, shape (≥ n, ≥ m), any unit.
        n: columns in use.
        m: equations in use.
    """
    for j in range(n):
        k = j
        while k + 3 < n:
            d0 = d1 = d2 = d3 = 0.0
            for r in range(m):
                u = A[j, r]
                d0 += u * A[k, r]
                d1 += u * A[k + 1, r]
                d2 += u * A[k + 2, r]
                d3 += u * A[k + 3, r]
            G[j, k] += d0
            G[j, k + 1] += d1
            G[j, k + 2] += d2
            G[j, k + 3] += d3
            k += 4
        while k < n:
            d0 = 0.0
            for r in range(m):
                d0 += A[j, r] * A[k, r]
            G[j, k] += d0
            k += 1


# The torque equations of each degree of freedom, packed without the zeros of the tree, added up in blocks.
#
# Degree of freedom k feels only the links it moves and its own drive, so its equations have few columns.
# Blocks of them are written and folded into a triangle or a Gram matrix while they are in the cache.

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
    R, p, w, D = motion_scratch(tree)
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


# The triangles of a log's torque equations where joints mimic others, block by block.

TIED_ROWS = 4096
"""Samples whose regressor is stored at a time."""


def tied_triangles(
    robot: Robot, layout: Layout, blocks: Iterable[Block]
) -> tuple[int, int, tuple[IntArray, ...], tuple[Array, ...]]:
    """Samples, parameters, columns and triangles as `Compressed` holds them.

    A leader's equation is a sum of those of all joints it moves, so it is formed first and folded after.

    Args:
        robot: a robot in which joints mimic others.
        layout: the order of the parameters.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI; read one at a time.

    Returns:
        Number of samples, p, the columns of each degree of freedom, shape (n_k,), dimensionless, and its
        triangle, shape (n_k + 1, n_k + 1), SI.

    Raises:
        InputError: there is no sample, or an array does not fit.
    """
    columns = _columns(robot, layout)
    triangles = [np.zeros((len(mine) + 1, len(mine) + 1)) for mine in columns]
    samples = 0
    for q, v, a, tau in blocks:
        q, v, a, tau = np.atleast_2d(q), np.atleast_2d(v), np.atleast_2d(a), efforts(robot, tau=tau)
        if not len(q) == len(v) == len(a) == len(tau):
            counts = {"q": len(q), "v": len(v), "a": len(a), "tau": len(tau)}
            raise InputError(f"the numbers of samples differ: {counts}.", place="q, v, a, tau")
        for first in range(0, len(q), TIED_ROWS):
            rows = slice(first, first + TIED_ROWS)
            Y = torque_regressor(robot, layout, q[rows], v[rows], a[rows])
            for k, mine in enumerate(columns):
                block = np.column_stack([Y[:, k, mine], tau[rows, k]])
                R = np.linalg.qr(np.vstack([triangles[k], block]), mode="r")
                triangles[k] = np.where(np.diag(R) < 0, -1.0, 1.0)[:, None] * R
        samples += len(q)
    if samples == 0:
        raise InputError("hold no sample.", place="blocks")
    return samples, layout.size, columns, tuple(read_only(T) for T in triangles)


def _columns(robot: Robot, layout: Layout) -> tuple[IntArray, ...]:
    """For each degree of freedom, the columns of all joints that move with it."""
    assert robot.ties is not None
    each = equations_of(robot.untied, layout)
    columns = []
    for k in range(robot.nv):
        followers = np.flatnonzero(robot.ties.rates[:, k])
        runs = [each.columns[each.start[d] : each.start[d + 1]] for d in followers]
        columns.append(read_only(np.unique(np.concatenate(runs))))
    return tuple(columns)


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
    if robot.ties is not None:
        return Compressed(*tied_triangles(robot, layout, blocks))
    triangles, samples = add_up(robot, layout, blocks, squared=False)
    equations = equations_of(robot, layout)
    columns, merged = [], []
    for k in range(robot.nv):
        mine = equations.columns[equations.start[k] : equations.start[k + 1]]
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

    Raises:
        InputError: there is no sample, or an array does not fit.
    """
    if robot.ties is not None:
        return compress(robot, layout, blocks).gram()
    sums, _ = add_up(robot, layout, blocks, squared=True)
    equations, total = equations_of(robot, layout), sums.sum(axis=0)
    G = np.zeros((layout.size + 1, layout.size + 1))
    for k in range(robot.nv):
        index = [*equations.columns[equations.start[k] : equations.start[k + 1]], layout.size]
        upper = np.triu(total[k, : len(index), : len(index)])
        G[np.ix_(index, index)] += upper + np.triu(upper, 1).T
    return G


def _merge(triangles: Array) -> Array:
    """The triangle of all parts together, with a diagonal that is not negative."""
    T = np.linalg.qr(triangles.reshape(-1, triangles.shape[-1]), mode="r")
    signs = np.where(np.diag(T) < 0, -1.0, 1.0)
    return np.asarray(signs[:, None] * T)
