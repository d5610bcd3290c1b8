"""`Spread`: how sure an estimate is, with the directions along which it knows nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only

_CANCELLED = 1e-7


@dataclass(frozen=True, eq=False)
class Spread:
    r"""The covariance of base parameters of which some combinations are unknown.

    A combination $c^T\beta$ has the variance $c^T \Sigma c$ where it does not change along the blind
    directions, $c^T N = 0$, and an infinite one otherwise.

    Attributes:
        finite: Σ, the covariance with the hidden parameters held, shape (b, b), SI.
        blind: N, directions along which the data shows nothing, as columns, shape (b, k), SI.
    """

    finite: Array
    blind: Array

    def __post_init__(self) -> None:
        finite = checked("finite", self.finite, ("b", "b"))
        blind = checked("blind", self.blind, (len(finite), "k"))
        object.__setattr__(self, "finite", read_only(0.5 * (finite + finite.T)))
        object.__setattr__(self, "blind", read_only(blind))

    def variance(self, combinations: ArrayLike) -> Array:
        """Variance of combinations of base parameters.

        Args:
            combinations: c, one in each row, shape (..., b), any unit.

        Returns:
            Their variances, shape (...), squared units of the combinations; infinite where unknown, SI.
        """
        c = checked("combinations", combinations, ("...", len(self.finite)))
        variance = np.einsum("...i,ij,...j->...", c, self.finite, c)
        moved = np.abs(c @ self.blind)
        could = np.abs(c) @ np.abs(self.blind)
        unknown = (moved > _CANCELLED * could).any(axis=-1)
        return np.asarray(np.where(unknown, np.inf, np.maximum(variance, 0.0)))

    @property
    def covariance(self) -> Array:
        """As one matrix, shape (b, b), SI.

        A parameter that a blind direction moves has an infinite variance and no covariance with others.
        """
        unknown = (self.blind != 0.0).any(axis=1)
        dense = np.array(self.finite)
        dense[unknown] = 0.0
        dense[:, unknown] = 0.0
        dense[unknown, unknown] = np.inf
        return dense
