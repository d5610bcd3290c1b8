"""What becomes of the dispersion of many answers from one stage to the next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from steelyard.audit.cloud_spread import deviation, robust_deviation
from steelyard.audit.cloud_stage import CloudStage, in_scales

STEADY = 0.02
"""Relative change of dispersion below which it counts as unchanged."""


class Trend(StrEnum):
    """What dispersion does from one stage to the next."""

    SHRINKS = "shrinks"
    STAYS = "stays"
    GROWS = "grows"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Contraction:
    """What became of dispersion from one stage to another, over the runs that have an answer at both.

    Attributes:
        before: name of the earlier stage.
        after: name of the later stage.
        runs: number of runs with both answers.
        ratio: dispersion in scales after over before, dimensionless; NaN where nothing scattered before.
        robust_ratio: the same of the robust dispersion, dimensionless.
        mean_ratio: the same of the mean standard deviation, dimensionless.
    """

    before: str
    after: str
    runs: int
    ratio: float
    robust_ratio: float
    mean_ratio: float

    @property
    def trend(self) -> Trend:
        """What dispersion does; mixed where most runs say one thing and a few wild ones the other."""
        directions = {_direction(ratio) for ratio in (self.ratio, self.robust_ratio)}
        if Trend.UNKNOWN in directions:
            return Trend.UNKNOWN
        if {Trend.SHRINKS, Trend.GROWS} <= directions:
            return Trend.MIXED
        return next((way for way in (Trend.SHRINKS, Trend.GROWS) if way in directions), Trend.STAYS)


def contraction(before: CloudStage, after: CloudStage) -> Contraction:
    """Compare the dispersion at two stages of a cloud, over the runs that have an answer at both.

    Args:
        before: the earlier stage.
        after: the later stage.

    Returns:
        The comparison.
    """
    both = before.answered & after.answered
    pairs = [
        [measure(stage.values[both]) for stage in (before, after)]
        for measure in (deviation, robust_deviation)
    ]
    plain, robust = ([in_scales(sigma, before.scales) for sigma in pair] for pair in pairs)
    means = [float(sigma.mean()) for sigma in pairs[0]]
    ratios = (late / early if early > 0.0 else float("nan") for early, late in (plain, robust, means))
    return Contraction(before.name, after.name, int(both.sum()), *ratios)


def _direction(ratio: float) -> Trend:
    if not np.isfinite(ratio):
        return Trend.UNKNOWN
    if abs(ratio - 1.0) <= STEADY:
        return Trend.STAYS
    return Trend.SHRINKS if ratio < 1.0 else Trend.GROWS
