"""From base parameters to links that can exist and have them."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.cones import ConeProgram, solve
from steelyard.errors import SolverError
from steelyard.export.possible import Possible

NEARNESS = 1e-2
"""ε: how many standard deviations a change of the whole estimate by its own size counts as.

Torques leave masses open, and a much smaller number lets links of tons pay for a thousandth of a deviation.
"""
_LEAST_SPREAD = 1e-6  # smallest spread along any direction of the correlations, relative to the largest
_TOLERANCES = (1e-9, 1e-7, 1e-5)
_EXACT = 1e-3  # what a parameter without variance may deviate, relative to the smallest deviation


class Completion:
    r"""Completes base parameters to a possible vector near an estimate.

    With $\phi = \hat\phi + D x$, where $D^T M D = 1$ in the metric of the possible set, the vector nearest to
    the estimate is $x = (KD)^+ (\beta - K\hat\phi)$. It is taken where it is possible. Otherwise

    $$\min_x \lVert W\,(K\phi - \beta) \rVert^2 + \epsilon^2 \lVert x \rVert^2
      \quad\text{with } \phi \in \mathcal P, \qquad W^T W = \Sigma^{-1},$$

    is solved, and the first step is made again from its solution: where that is possible, the base
    parameters are met exactly, otherwise the solution is the most likely vector beside them, near the
    estimate.
    """

    def __init__(
        self,
        estimate: Array,
        matrix: Array,
        possible: Possible,
        seen: IntArray,
        deviations: Array,
        correlation_root: Array,
    ) -> None:
        """Prepare for one estimate.

        Args:
            estimate: phi, shape (p,), SI; possible.
            matrix: K, shape (b, p), SI.
            possible: what can exist.
            seen: the base parameters with a finite variance, shape (s,), dimensionless.
            deviations: their standard deviations, shape (s,), SI.
            correlation_root: a square root of their correlations, shape (s, s), dimensionless.
        """
        self._estimate, self._K, self._possible = estimate, matrix, possible
        movable = np.flatnonzero(possible.movable)
        L = np.linalg.cholesky(possible.weights[np.ix_(movable, movable)])
        self._D = np.zeros((estimate.size, movable.size))
        self._D[movable] = np.linalg.inv(L).T
        self._back = self._D @ np.linalg.pinv(matrix @ self._D)
        self._seen = seen
        spread = deviations > 0.0
        exact = _EXACT * deviations[spread].min(initial=1.0)
        U, s, _ = np.linalg.svd(correlation_root)
        floor = _LEAST_SPREAD * s.max(initial=1.0)
        self._W = (U / np.maximum(s, floor)).T / np.where(spread, deviations, exact)
        self._constraints = possible.constraints(estimate, self._D)

    def of(self, values: Array) -> Array:
        """The possible vector for base parameters.

        Args:
            values: beta, shape (b,), SI.

        Returns:
            phi, shape (p,), SI.
        """
        near = self._meeting(values, self._estimate)
        if self._possible.holds(near):
            return near
        likely = self._likeliest(values)
        meeting = self._meeting(values, likely)
        return meeting if self._possible.holds(meeting) else self._possible.nearest(likely)

    def _meeting(self, values: Array, near: Array) -> Array:
        """The vector with these base parameters that is nearest to another."""
        return np.asarray(near + self._back @ (values - self._K @ near))

    def _likeliest(self, values: Array) -> Array:
        off = (values - self._K @ self._estimate)[self._seen]
        R = np.vstack((self._W @ (self._K @ self._D)[self._seen], NEARNESS * np.eye(self._D.shape[1])))
        r = np.concatenate((self._W @ off, np.zeros(self._D.shape[1])))
        program = ConeProgram.least_squares(R, r, self._constraints)
        # Deviations over many decades leave the last digits to round-off, which differs between processors.
        for tolerance in _TOLERANCES:
            try:
                x = solve(program, tolerance=tolerance, accept_reduced=True).x
                break
            except SolverError:
                if tolerance == _TOLERANCES[-1]:
                    raise
        return np.asarray(self._estimate + self._D @ x)
