"""One stage of a parameter cloud: the answers of all runs, how far they scatter, and which lie apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, BoolArray, checked, read_only
from steelyard.audit.cloud_spread import deviation, robust_deviation

APART = 3.5
"""Robust deviations by which the distance of a run must exceed the median distance to count as apart."""


@dataclass(frozen=True, eq=False)
class CloudStage:
    r"""The runs after one stage; arrays are read-only, rows without an answer are NaN.

    The distance of a run from the centre is $d = \|(\beta - \operatorname{median}\beta) / s\|$ with the
    scales s of the cloud, which is the same in parameters and in scores. A run is apart where d exceeds the
    median distance by `APART` robust deviations of all distances.

    Attributes:
        name: of the stage.
        values: beta of each run, shape (n, b), SI.
        scores: in the common basis, shape (n, k), dimensionless.
        centre: median of the answers, shape (b,), SI; NaN without any.
        distances: from the centre, shape (n,), dimensionless.
        threshold: distance from which on a run is apart, dimensionless; infinite where that cannot be said.
        scales: of the cloud, shape (b,), SI.
    """

    name: str
    values: Array
    scores: Array
    centre: Array
    distances: Array
    threshold: float
    scales: Array

    def __post_init__(self) -> None:
        for name in ("values", "scores", "centre", "distances", "scales"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def answered(self) -> BoolArray:
        """Which runs have an answer, shape (n,)."""
        return np.isfinite(self.distances)

    @property
    def apart(self) -> BoolArray:
        """Which runs lie apart from the others, shape (n,)."""
        return self.answered & (self.distances > self.threshold)

    @property
    def deviations(self) -> Array:
        """Standard deviation of each parameter, shape (b,), SI."""
        return deviation(self.values[self.answered])

    @property
    def robust_deviations(self) -> Array:
        """Robust deviation of each parameter, shape (b,), SI."""
        return robust_deviation(self.values[self.answered])

    @property
    def mean_deviation(self) -> float:
        """Mean of the standard deviations over the parameters, SI units mixed."""
        return float(self.deviations.mean())

    @property
    def robust_mean_deviation(self) -> float:
        """Mean of the robust deviations over the parameters, SI units mixed."""
        return float(self.robust_deviations.mean())

    @property
    def dispersion(self) -> float:
        """Root mean square of the standard deviations in scales, dimensionless."""
        return in_scales(self.deviations, self.scales)

    @property
    def robust_dispersion(self) -> float:
        """Root mean square of the robust deviations in scales, dimensionless."""
        return in_scales(self.robust_deviations, self.scales)


def in_scales(deviations: Array, scales: Array) -> float:
    """Root mean square of deviations, each in its scale.

    Args:
        deviations: shape (b,), SI.
        scales: positive, shape (b,), SI.

    Returns:
        Dimensionless; NaN where a deviation is.
    """
    sigma = checked("deviations", deviations, ("b",), finite=False)
    return float(np.sqrt(np.mean((sigma / checked("scales", scales, (len(sigma),))) ** 2)))


def apart_from(distances: Array) -> float:
    """The distance from which on a run counts as apart from the others.

    Args:
        distances: of the runs that have an answer, shape (n,), dimensionless.

    Returns:
        Median distance plus `APART` robust deviations; infinite for fewer than four runs.
    """
    d = checked("distances", distances, ("n",))
    if len(d) < 4:
        return float("inf")
    return float(np.median(d) + APART * robust_deviation(d[:, None])[0])
