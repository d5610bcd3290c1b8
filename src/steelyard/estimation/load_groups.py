r"""Load-dependent friction on compressed samples: what is nonlinear in it needs no samples.

Once it is known where the gear drives its load ($s = 1$), where it is driven by it ($s = -1$) and where it
stands ($s = 0$), the equations of one degree of freedom in each of the three groups,

$$\tau = (1 + F_l\,s)\,r + D\,\delta, \qquad r = Y\phi_{links},$$

enter only through the triangle of their columns $[Y\ \ D\ \ r_{known}\ \ \tau]$.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.estimation.load_rows import load_pieces, load_places
from steelyard.estimation.row_triangles import folded
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

    def _share(self, beta: Array) -> Array:
        return np.asarray(1.0 + self.coefficients(beta)[self.dofs] * self.side)

    def _carried(self, beta: Array) -> Array:
        """r, in the rows of the triangles."""
        return np.asarray(self.rows[:, :-2][:, self.rigid] @ beta[self.rigid] + self.rows[:, -2])


def load_groups(problem: Problem, parameters: Array | None) -> LoadGroups:
    """Sort the samples by the side on which their load is, and compress each group.

    Args:
        problem: the question, with its samples.
        parameters: phi, from which the load follows, shape (p,), SI; None takes the measured torque for it.

    Returns:
        The groups.
    """
    places, at = load_places(problem), problem.samples
    columns, links = problem.base.columns, 10 * len(problem.layout.links)
    triangles: dict[tuple[int, int], Array] = {}
    pattern = []
    for part, Y in load_pieces(problem):
        load = at.tau[part] if parameters is None else Y[..., :links] @ parameters[:links]
        s = np.sign(load) * np.sign(at.v[part])
        r_known = Y[..., :links] @ problem.known[:links]
        tau = at.tau[part] - Y[..., links:] @ problem.known[links:]
        equations = np.concatenate([Y[..., columns], r_known[..., None], tau[..., None]], axis=-1)
        for k in range(s.shape[1]):
            for side in (-1, 0, 1):
                mine = equations[s[:, k] == side, k]
                if len(mine):
                    before = triangles.get((k, side), np.zeros((0, mine.shape[1])))
                    triangles[k, side] = folded(before, mine)
        pattern.append(s)
    where = {int(column): k for k, column in enumerate(columns)}
    lengths = [len(T) for T in triangles.values()]
    return LoadGroups(
        rows=np.vstack(list(triangles.values())),
        dofs=np.repeat(np.array([k for k, _ in triangles], dtype=np.int64), lengths),
        side=np.repeat(np.array([float(side) for _, side in triangles]), lengths),
        pattern=np.concatenate(pattern),
        rigid=columns < links,
        loads=np.array([where.get(int(place), -1) for place in places], dtype=np.int64),
        known=np.where(places >= 0, problem.known[places], 0.0),
    )
