r"""A log of any length compressed to triangles: least squares without ever storing the regressor.

Each degree of freedom k has its own equation $W_k \phi = \tau_k$, in which only the links it moves and its
own drive appear. Its factor $R_k$ (upper triangular, $R_k^T R_k = [W_k\ \tau_k]^T [W_k\ \tau_k]$) is updated
block by block with Householder reflections, so memory does not grow with the number of samples, and no
accuracy is lost to squaring as in a Gram matrix. With one triangle per degree of freedom, weights per joint
can be applied later, for free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.dynamics.equations import Block, add_up, equations_of
from steelyard.dynamics.tied_equations import tied_triangles
from steelyard.layout import Layout
from steelyard.robot import Robot


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
