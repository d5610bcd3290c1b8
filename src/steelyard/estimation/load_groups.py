r"""Load-dependent friction on compressed samples: what is nonlinear in it needs no samples.

Once it is known where the gear drives its load ($s = 1$), where it is driven by it ($s = -1$) and where it
stands ($s = 0$), the equations of one degree of freedom in each of the three groups,

$$\tau = (1 + F_l\,s)\,r + D\,\delta, \qquad r = Y\phi_{links},$$

enter only through the triangle of their columns $[Y\ \ D\ \ r_{known}\ \ \tau]$.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.estimation.load_rows import LoadPieces, load_pieces, load_places
from steelyard.estimation.row_triangles import folded
from steelyard.estimation.weighted_rows import kept_if_small
from steelyard.problem import Problem


@dataclass(frozen=True, eq=False)
class LoadGroups:
    """The triangles of all groups, one below the other, and the sides they were sorted by.

    Attributes:
        rows: columns of the base parameters (zero at F_l), of r_known and of tau, shape (m, b + 2), SI.
        dofs: degree of freedom of each row, shape (m,), dimensionless.
        side: s of each row, shape (m,), dimensionless.
        pattern: s of each sample, shape (N, nv), dimensionless.
        rigid: which base parameters are of links, shape (b,), dimensionless.
        loads: place among the base parameters of each degree of freedom's F_l, shape (nv,), dimensionless;
            -1 where it is known.
        known: F_l where it is known, else zero, shape (nv,), dimensionless.
    """

    rows: Array
    dofs: IntArray
    side: Array
    pattern: Array
    rigid: BoolArray
    loads: IntArray
    known: Array

    def coefficients(self, beta: Array) -> Array:
        """F_l of each degree of freedom, known or among the base parameters.

        Args:
            beta: base parameters, shape (b,), SI.

        Returns:
            F_l, shape (nv,), dimensionless.
        """
        return np.where(self.loads >= 0, beta[self.loads], self.known)

    def residual(self, beta: Array, weights: Array) -> Array:
        """What base parameters leave of the torque; its norm is that of the samples.

        Args:
            beta: base parameters, shape (b,), SI.
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N.

        Returns:
            Weighted residuals, shape (m,), dimensionless.
        """
        linear = self.rows[:, :-2][:, ~self.rigid] @ beta[~self.rigid]
        left = self.rows[:, -1] - linear - self._share(beta) * self._carried(beta)
        return np.asarray(weights[self.dofs] * left)

    def slope(self, beta: Array, weights: Array) -> Array:
        """Derivative of the residual in the base parameters.

        Args:
            beta: base parameters, shape (b,), SI.
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N.

        Returns:
            The derivative, shape (m, b), SI.
        """
        J = np.array(self.rows[:, :-2])
        J[:, self.rigid] *= self._share(beta)[:, None]
        free = self.loads[self.dofs] >= 0
        J[free, self.loads[self.dofs[free]]] = (self.side * self._carried(beta))[free]
        return np.asarray(-weights[self.dofs][:, None] * J)

    def same(self, pattern: Array, dof: int, side: int) -> bool:
        """Whether another sorting puts the same samples in a group.

        Args:
            pattern: s of each sample there, shape (N, nv), dimensionless.
            dof: degree of freedom of the group.
            side: s of the group.

        Returns:
            Whether it does.
        """
        return np.array_equal(self.pattern[:, dof] == side, pattern[:, dof] == side)

    def triangle(self, dof: int, side: int) -> Array:
        """The rows of one group.

        Args:
            dof: degree of freedom of the group.
            side: s of the group.

        Returns:
            Its triangle, shape (k, b + 2), SI.
        """
        return np.asarray(self.rows[(self.dofs == dof) & (self.side == side)])

    def _share(self, beta: Array) -> Array:
        return np.asarray(1.0 + self.coefficients(beta)[self.dofs] * self.side)

    def _carried(self, beta: Array) -> Array:
        """r, in the rows of the triangles."""
        return np.asarray(self.rows[:, :-2][:, self.rigid] @ beta[self.rigid] + self.rows[:, -2])


@dataclass(frozen=True, eq=False)
class LoadSamples:
    """The samples of a question, to be sorted by the side of their load as often as a search asks.

    Attributes:
        problem: the question, with its samples.
        places: of F_l, see `load_places`, shape (nv,), dimensionless.
        regressors: its pieces, see `load_pieces`.
    """

    problem: Problem
    places: IntArray
    regressors: LoadPieces

    @classmethod
    def of(cls, problem: Problem) -> LoadSamples:
        """The samples of a question.

        Args:
            problem: the question, with its samples.

        Returns:
            The samples.

        Raises:
            InputError: the layout has no load term, joints mimic others, or the samples were not kept.
        """
        return cls(problem, load_places(problem), load_pieces(problem))

    def sorted_by(self, parameters: Array | None, before: LoadGroups | None = None) -> LoadGroups:
        """Sort the samples by the side on which their load is, and compress each group.

        Args:
            parameters: phi, from which the load follows, shape (p,), SI; None takes the measured torque.
            before: an earlier sorting; a group with the same samples is not compressed again.

        Returns:
            The groups.
        """
        pattern = self._sides(parameters)
        triangles = self._triangles(pattern, before)
        places, columns = self.places, self.problem.base.columns
        where = {int(column): k for k, column in enumerate(columns)}
        lengths = [len(T) for T in triangles.values()]
        return LoadGroups(
            rows=np.vstack(list(triangles.values())),
            dofs=np.repeat(np.array([k for k, _ in triangles], dtype=np.int64), lengths),
            side=np.repeat(np.array([float(side) for _, side in triangles]), lengths),
            pattern=pattern,
            rigid=columns < self._links,
            loads=np.array([where.get(int(place), -1) for place in places], dtype=np.int64),
            known=np.where(places >= 0, self.problem.known[places], 0.0),
        )

    @property
    def _links(self) -> int:
        """Number of parameters of links, which come first."""
        return 10 * len(self.problem.layout.links)

    def _sides(self, parameters: Array | None) -> Array:
        """Where each sample lies, s, shape (N, nv)."""
        at, links = self.problem.samples, self._links
        if parameters is None:
            return np.asarray(np.sign(at.tau) * np.sign(at.v))
        return np.concatenate(
            [
                np.sign(Y[..., :links] @ parameters[:links]) * np.sign(at.v[part])
                for part, Y in self.regressors()
            ]
        )

    def _triangles(self, pattern: Array, before: LoadGroups | None) -> dict[tuple[int, int], Array]:
        """The triangle of each degree of freedom and side, in the order in which samples show them."""
        triangles: dict[tuple[int, int], Array] = {}
        again: set[tuple[int, int]] = set()
        for part, equations in self._equations():
            for k in range(pattern.shape[1]):
                for side in (-1, 0, 1):
                    mine = pattern[part, k] == side
                    if not mine.any() or (k, side) in again:
                        continue
                    if (k, side) not in triangles and before is not None and before.same(pattern, k, side):
                        triangles[k, side] = before.triangle(k, side)
                        again.add((k, side))
                        continue
                    start = triangles.get((k, side), np.zeros((0, equations.shape[-1])))
                    triangles[k, side] = folded(start, equations[mine, k])
        return triangles

    @cached_property
    def _equations(self) -> LoadPieces:
        """Columns of the base parameters (zero at F_l), of r_known and of tau, piece by piece."""
        # Not by way of `self`, which keeps this: that circle would hold the regressor until it is found.
        problem, regressors, links = self.problem, self.regressors, self._links
        columns = problem.base.columns

        def made() -> Iterator[tuple[slice, Array]]:
            for part, Y in regressors():
                r_known = Y[..., :links] @ problem.known[:links]
                tau = problem.samples.tau[part] - Y[..., links:] @ problem.known[links:]
                yield part, np.concatenate([Y[..., columns], r_known[..., None], tau[..., None]], axis=-1)

        return kept_if_small(made, problem.samples.tau.size * (len(columns) + 2))
