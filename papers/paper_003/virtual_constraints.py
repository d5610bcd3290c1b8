r"""Links as ellipsoids that no feature point of the tool may enter: Tian et al. (2024), eqs. (11a)-(11c).

$$g = x^T A x - 1 > 0, \qquad A = \mathrm{diag}(\varepsilon_x^{-2}, \varepsilon_y^{-2}, \varepsilon_z^{-2})$$

with x the point in the axes of the ellipsoid and ε its semi-axes. (In print the sign of (11c) is wrong: g is
negative inside.) A search compares with a distance to be kept, in metres, for which $d = \varepsilon_{min}
(\sqrt{1 + g} - 1)$ serves: it has the sign of g, is no larger than the distance to the ellipsoid, and changes
no faster than the point moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from paper_003.feature_points import FeaturePoints
from paper_003.virtual_kernels import measure_points
from paper_003.virtual_pairs import PackedPairs, VirtualPair, pack_pairs
from steelyard.arrays import Array, checked, read_only_view
from steelyard.dynamics.batch import gathered, states
from steelyard.dynamics.tree import tree_of
from steelyard.finding import Finding
from steelyard.robot import Robot
from steelyard.threads import share

_NOTHING = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class VirtualConstraints:
    """The feature points and ellipsoids that must stay apart, ready to be measured.

    Attributes:
        robot: the robot; the link of its tool frame carries the feature points.
        pairs: what is measured, in the order of every result.
        features: where the points come from, in the tool's link, and what they miss.
        findings: what is not checked, and why.
    """

    robot: Robot
    pairs: tuple[VirtualPair, ...]
    features: FeaturePoints
    findings: tuple[Finding, ...] = ()
    _packed: PackedPairs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_packed", pack_pairs(self.robot, self.pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the pairs, in order."""
        return tuple(pair.name for pair in self.pairs)

    @property
    def excluded(self) -> tuple[VirtualPair, ...]:
        """None: a point inside an ellipsoid is no overlap of shapes. The findings say what was left out."""
        return ()

    def values(self, q: ArrayLike) -> Array:
        r"""The paper's $g = x^T A x - 1$ of every pair.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            g, negative where a point is inside an ellipsoid, shape (N, P), dimensionless.
        """
        gauge = 1.0 + self.distances(q) / self._packed.shortest
        return np.asarray(gauge**2 - 1.0)

    def distances(self, q: ArrayLike) -> Array:
        r"""$d = \varepsilon_{min} (\sqrt{1 + g} - 1)$ of every pair.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            d, no larger than the distance to the ellipsoid and negative inside it, shape (N, P), m.
        """
        (q,) = states(self.robot, q=q)
        distances = np.empty((len(q), len(self.pairs)))
        self._measure(q, distances=distances)
        return distances

    def gradients(self, q: ArrayLike) -> tuple[Array, Array]:
        r"""Distances and their gradients; that of g is $2 \sqrt{1 + g} / \varepsilon_{min}$ times the latter.

        At the centre of an ellipsoid the distance has a kink, and its gradient is given as zero.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            d, shape (N, P), m; gradients, shape (N, P, nv), m/rad or dimensionless, along the body's twist
            where a joint floats or is spherical.
        """
        (q,) = states(self.robot, q=q)
        distances = np.empty((len(q), len(self.pairs)))
        gradients = np.empty((len(q), self.robot.untied.nv, len(self.pairs)))
        self._measure(q, distances=distances, gradients=gradients)
        return distances, np.ascontiguousarray(np.swapaxes(gathered(self.robot, gradients), 1, 2))

    def adjoint(self, q: ArrayLike, weights: ArrayLike) -> Array:
        r"""Gradient of $\sum_k w_{nk}\,d_k(q_n)$ in $q_n$; pairs of weight zero cost nothing.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            weights: w, shape (N, P), SI.

        Returns:
            The gradient, shape (N, nv), SI; along the body's twist where a joint floats or is spherical.
        """
        (q,) = states(self.robot, q=q)
        w = checked("weights", weights, (len(q), len(self.pairs)))
        gradient = np.empty((len(q), self.robot.untied.nv))
        self._measure(q, weights=w, adjoint=gradient)
        return gathered(self.robot, gradient)

    def _measure(
        self,
        q: Array,
        *,
        weights: Array = _NOTHING,
        distances: Array = _NOTHING,
        gradients: Array = _NOTHING[..., None],
        adjoint: Array = _NOTHING,
    ) -> None:
        arrays = (read_only_view(weights), distances, gradients, adjoint)
        share(len(q), measure_points, tree_of(self.robot), self._packed, q, *arrays)
