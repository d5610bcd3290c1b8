r"""The torque equations of a log with torque signs or gravity turned, on a few of its samples.

Gravity enters the regressor linearly, $Y(g) = Y_0 + \sum_i g_i\,Y_i$, so every direction follows from five
passes; the sign of a torque turns one column of a triangle. How well a turned log can be explained is told by
the residual deviations $\sigma_k$ of the degrees of freedom, each weighted by its own, with links that can
exist: without that condition, the torques of all joints turned fit as well as before, by negative masses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.consistency import fit_possible
from steelyard.dynamics import torque_regressor
from steelyard.errors import NoSolutionError
from steelyard.estimation.full_set_estimate import possible_for
from steelyard.problem import Problem, without_load

MOST_SAMPLES = 1200
"""Samples looked at, evenly spread over the log."""
NOTHING = 1e-3
"""A residual below this share of the torque counts as none: models and solvers are no better."""
_ROUNDS, _RANK = 4, 1e-11
_PULLS = (1e-4, 1e-2)


@dataclass(frozen=True, eq=False)
class Turn:
    """A way to read a log.

    Attributes:
        gravity: acceleration of free fall in the base frame, m/s².
        signs: what the torque of each degree of freedom is multiplied by, shape (nv,), dimensionless.
    """

    gravity: tuple[float, float, float]
    signs: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class TurnedEquations:
    """The equations of some samples of a log, for every way to read it.

    Attributes:
        problem: the question without load friction.
        chosen: the samples looked at, shape (n,), dimensionless.
    """

    problem: Problem
    chosen: IntArray

    @classmethod
    def of(cls, problem: Problem) -> TurnedEquations:
        """Take samples evenly spread over the log.

        Args:
            problem: the question, with its samples.

        Returns:
            The equations.
        """
        layout = without_load(problem.layout)
        prior = problem.prior
        if prior is not None and layout.size < problem.layout.size:
            prior = prior[[problem.layout.index(name) for name in layout.names]]
        n = problem.samples.n
        chosen = np.linspace(0, n - 1, min(n, MOST_SAMPLES)).round().astype(np.int64)
        return cls(replace(problem, layout=layout, prior=prior, compressed=None), chosen)

    @cached_property
    def torque(self) -> Array:
        """Root mean square torque, shape (nv,), N·m or N."""
        return np.asarray(np.sqrt((self.problem.samples.tau[self.chosen] ** 2).mean(axis=0)))

    @cached_property
    def alive(self) -> BoolArray:
        """Degrees of freedom that feel any torque, shape (nv,), dimensionless."""
        return np.asarray(self.torque > 0.0)

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """Y without gravity, shape (n, nv, p), and its slopes in gravity, shape (3, n, nv, p)."""
        at, robot, layout = self.problem.samples, self.problem.robot, self.problem.layout
        q, v, a = at.q[self.chosen], at.v[self.chosen], at.a[self.chosen]

        def rows(gravity: Array, v: Array, a: Array) -> Array:
            return torque_regressor(robot.with_gravity(gravity), layout, q, v, a, code="generic")

        still = rows(np.zeros(3), 0.0 * v, 0.0 * a)
        slopes = np.stack([rows(axis, 0.0 * v, 0.0 * a) - still for axis in np.eye(3)])
        return rows(np.zeros(3), v, a), slopes

    @cached_property
    def _triangles(self) -> dict[tuple[float, float, float], tuple[tuple[IntArray, Array], ...]]:
        return {}

    def regressor(self, turn: Turn) -> Array:
        """The regressor of the samples.

        Args:
            turn: how the log is read.

        Returns:
            Y, shape (n, nv, p), SI.
        """
        still, slopes = self._parts
        return np.asarray(still + np.tensordot(np.asarray(turn.gravity), slopes, 1))

    def levels(self, turn: Turn, start: Array | None = None, *, possible: bool) -> tuple[Array, Array]:
        """How well a way to read the log can be explained, each degree of freedom weighted by its own noise.

        Args:
            turn: how the log is read.
            start: a first guess of σ, shape (nv,), N·m or N; None for the torque itself.
            possible: by links that can exist; otherwise by any numbers, which is faster and never worse.

        Returns:
            σ, at least `NOTHING` of the torque, shape (nv,), N·m or N; and phi, shape (p,), SI.
        """
        least = np.where(self.alive, NOTHING * self.torque, 1.0)
        sigma = np.where(self.alive, self.torque, 1.0) if start is None else start
        for _ in range(_ROUNDS):
            phi = self._possible(turn, sigma) if possible else self._any(turn, sigma)
            before, sigma = sigma, np.where(self.alive, np.maximum(self._left(turn, phi), least), 1.0)
            if np.abs(np.log(sigma / before)).max() < 0.05:
                break
        return sigma, phi

    def _equations(self, turn: Turn) -> tuple[tuple[IntArray, Array], ...]:
        """Columns and triangle of each degree of freedom, the torque's column with its sign as logged."""
        if turn.gravity not in self._triangles:
            Y, tau = self.regressor(turn), self.problem.samples.tau[self.chosen]
            found = []
            for k in range(Y.shape[1]):
                columns = np.flatnonzero(Y[:, k].any(axis=0))
                equations = np.column_stack([Y[:, k, columns], tau[:, k]])
                found.append((columns, np.asarray(np.linalg.qr(equations, mode="r"))))
            self._triangles[turn.gravity] = tuple(found)
        return self._triangles[turn.gravity]

    def _left(self, turn: Turn, phi: Array) -> Array:
        lengths = [
            np.linalg.norm(T[:, :-1] @ phi[columns] - sign * T[:, -1])
            for sign, (columns, T) in zip(turn.signs, self._equations(turn), strict=True)
        ]
        return np.asarray(np.array(lengths) / np.sqrt(len(self.chosen)))

    def _any(self, turn: Turn, sigma: Array) -> Array:
        """Weighted least squares by normal equations, on the directions that the data shows."""
        p, free = self.problem.layout.size, self.problem.layout.free
        G, g = np.zeros((p, p)), np.zeros(p)
        for k, (columns, T) in enumerate(self._equations(turn)):
            W = T[:, :-1] / sigma[k]
            G[np.ix_(columns, columns)] += W.T @ W
            g[columns] += turn.signs[k] / sigma[k] * (W.T @ T[:, -1])
        phi = np.array(self.problem.known)
        g = (g - G @ phi)[free]
        G = G[np.ix_(free, free)]
        scale = np.sqrt(np.where(np.diag(G) > 0.0, np.diag(G), 1.0))
        values, vectors = np.linalg.eigh(G / np.outer(scale, scale))
        shown = values > _RANK * values[-1]
        phi[free] = vectors[:, shown] @ ((vectors[:, shown].T @ (g / scale)) / values[shown]) / scale
        return phi

    def _possible(self, turn: Turn, sigma: Array) -> Array:
        p = self.problem.layout.size
        stacked = []
        for k, (columns, T) in enumerate(self._equations(turn)):
            rows = np.zeros((len(T), p + 1))
            rows[:, columns], rows[:, -1] = T[:, :-1] / sigma[k], turn.signs[k] / sigma[k] * T[:, -1]
            stacked.append(rows)
        R: Array = np.asarray(np.linalg.qr(np.vstack(stacked), mode="r"))
        possible = possible_for(self.problem, R)
        # A turned log drives masses to zero or far out, where the best body is hard to find or there is none.
        # A pull to the reference costs less than `NOTHING` and finds a good one; no parameters are the limit.
        for pull in _PULLS:
            T = pull * float(np.linalg.norm(R[:, -1])) * possible.metric / possible.scales
            rows, target = np.vstack([R[:, :-1], T]), np.concatenate([R[:, -1], T @ possible.reference])
            try:
                return np.asarray(fit_possible(rows, target, possible).parameters)
            except NoSolutionError:
                continue
        return np.array(self.problem.known)
