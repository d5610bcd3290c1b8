"""Clearance while searching: a barrier on signed distances at many instants, measured where it may act."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.excitation.barrier import barrier
from steelyard.excitation.kept_apart import KeptApart, some_pairs
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.ranges import Ranges
from steelyard.excitation.unknowns import Unknowns

RANGE = 0.03
"""How far above the required distance the barrier begins, m."""
LOOKED_AT = 1000
"""Random poses at which it is learnt which pairs come near and how fast distances change."""
FARTHER = 0.05
"""A pair that stays this much further apart than the barrier's range at all of these poses is not watched."""
TOGETHER = 5
"""Pairs that are measured together."""
SPARE = 1.3
"""Factor on the fastest change of a distance seen at these poses."""


class ApartBarrier:
    """The barrier of a problem's clearance.

    A distance changes no faster than its pair's rates allow, so after a small step most pairs need not be
    measured again. The rates are those seen at random poses, with some to spare; the final judgement of a
    motion measures every pair.
    """

    def __init__(
        self, problem: DesignProblem, clearance: KeptApart, unknowns: Unknowns, ranges: Ranges
    ) -> None:
        basis = unknowns.family.basis(problem.clearance_times)
        self._basis = basis.q @ unknowns.directions
        self._still = basis.q @ unknowns.middle.T
        self._scales = unknowns.scales
        self._least = problem.distance
        rng = np.random.default_rng(0)
        poses = ranges.middle + ranges.reach * rng.uniform(-1.0, 1.0, (LOOKED_AT, len(ranges.reach)))
        distances, gradients = clearance.gradients(poses)
        near = np.flatnonzero(distances.min(axis=0) < problem.distance + RANGE + FARTHER)
        # Pairs that are often near are measured together, and apart from those that seldom are.
        near = near[np.argsort(np.median(distances[:, near], axis=0), kind="stable")]
        rates = SPARE * np.abs(gradients).max(axis=0)
        self._groups = [
            _Group(
                some_pairs(clearance, group),
                rates[group].T,
                problem.distance + RANGE,
                self._still,
            )
            for group in np.split(near, range(TOGETHER, len(near), TOGETHER))
            if len(group)
        ]

    def forget(self) -> None:
        """Measure everything again: a search must not depend on those before it."""
        for group in self._groups:
            group.forget()

    def gradient(self, x: Array) -> tuple[float, Array]:
        """The barrier and its gradient.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            The value, infinite where something is too near, and the gradient, shape (nv, n), dimensionless.
        """
        q = self._still + self._basis @ (self._scales[:, None] * x).T
        total, q_bar = 0.0, np.zeros_like(q)
        for group in self._groups:
            value, slope = barrier((group.distances(q) - self._least) / RANGE)
            total += value
            if not np.isfinite(total):
                return np.inf, np.zeros_like(x)
            active = np.flatnonzero(slope.any(axis=1))
            if active.size:
                q_bar[active] += group.clearance.adjoint(q[active], slope[active] / RANGE)
        return total, self._scales[:, None] * (q_bar.T @ self._basis)


class _Group:
    """Some pairs, with where and how they were last measured."""

    def __init__(self, clearance: KeptApart, rates: Array, enough: float, q: Array) -> None:
        self.clearance = clearance
        self._rates = rates
        self._enough = enough
        self._at = q.copy()
        self._measured = np.full((len(q), len(clearance.pairs)), -np.inf)

    def forget(self) -> None:
        """Know no distance."""
        self._measured[:] = -np.inf

    def distances(self, q: Array) -> Array:
        """Distances (N, P), m, at the samples where one may be too small, lower bounds elsewhere."""
        bounds = self._measured - np.abs(q - self._at) @ self._rates
        doubtful = np.flatnonzero(bounds.min(axis=1) < self._enough)
        if doubtful.size:
            bounds[doubtful] = self.clearance.distances(q[doubtful])
            self._at[doubtful] = q[doubtful]
            self._measured[doubtful] = bounds[doubtful]
        return bounds
