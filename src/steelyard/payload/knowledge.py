r"""What a log says of base parameters, as equations that can be added to others.

$$L\,K\phi = L\hat\beta + e, \qquad e \sim N(0, 1),$$

with $L^T L$ the information that respects the colour of the noise, and nothing along what the motion hides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, checked, read_only
from steelyard.estimation import Spread, TorqueLag
from steelyard.finding import Finding
from steelyard.payload.systematic import spread_over, subtracted
from steelyard.problem import Estimate, Problem
from steelyard.uncertainty import spread_of

ROUND_OFF = 1e-12
"""Smallest variance of a combination of scaled parameters that is believed, relative to the largest."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Base parameters with their information.

    Attributes:
        matrix: K, from standard to base parameters, shape (b, p), SI.
        values: of the base parameters, shape (b,), SI.
        spread: how sure they are, of noise and of all that `systematic` lists.
        residual: rms of the torque they leave, shape (nv,), N·m or N.
        samples: number of samples behind them.
        findings: what was noticed.
        systematic: changes of the base parameters by errors that repeat in every sample, by source, each
            shape (b, k), SI; see `responses`.
    """

    matrix: Array
    values: Array
    spread: Spread
    residual: Array
    samples: int
    findings: tuple[Finding, ...] = ()
    systematic: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        K = checked("matrix", self.matrix, ("b", "p"))
        for name, value, shape in (
            ("matrix", K, K.shape),
            ("values", self.values, (len(K),)),
            ("residual", self.residual, ("nv",)),
        ):
            object.__setattr__(self, name, read_only(checked(name, value, shape)))

    @property
    def root(self) -> Array:
        """L, shape (b - k, b), SI; k directions are hidden."""
        scale = np.sqrt(np.maximum(np.diag(self.spread.finite), 0.0))
        scale = np.where(scale > 0.0, scale, 1.0)
        N = self.spread.blind / scale[:, None]
        P = scipy.linalg.null_space(N.T) if N.shape[1] else np.eye(len(scale))
        values, vectors = np.linalg.eigh(P.T @ (self.spread.finite / np.outer(scale, scale)) @ P)
        # Without noise a covariance is round-off, and no longer positive definite.
        values = np.maximum(values, max(ROUND_OFF * values[-1], np.finfo(float).tiny))
        return np.asarray((vectors / np.sqrt(values)).T @ (P.T / scale))

    def minus(self, other: Knowledge) -> Knowledge:
        """Knowledge of the difference of two sets of the same base parameters, from independent logs.

        Noise of the two adds up; systematic errors are the same in both, and their effects are subtracted.

        Args:
            other: what is taken off.

        Returns:
            The difference; hidden is what either hides.
        """
        b, shared = len(self.values), subtracted(self.systematic, other.systematic)
        noise = self.spread.finite - spread_over(self.systematic, b)
        noise = noise + other.spread.finite - spread_over(other.systematic, b)
        return Knowledge(
            self.matrix,
            self.values - other.values,
            Spread(noise + spread_over(shared, b), np.hstack([self.spread.blind, other.spread.blind])),
            self.residual,
            self.samples,
            (*self.findings, *(x for x in other.findings if x not in self.findings)),
            shared,
        )


def knowledge_of(
    problem: Problem,
    estimate: Estimate,
    lag: TorqueLag | None = None,
    systematic: Mapping[str, Array] | None = None,
) -> Knowledge:
    """What an estimate by least squares says.

    Args:
        problem: the question it answers, with its samples.
        estimate: the answer.
        lag: by which the torques were moved before; not knowing it exactly widens the spread.
        systematic: changes of the estimate by errors that repeat in every sample, see `responses`, each shape
            (b, k), SI; they widen it as well.

    Returns:
        The knowledge.
    """
    spread = spread_of(problem, estimate) if problem.samples.accelerated else _own_spread(estimate)
    if lag is not None:
        late = lag.deviation * lag.sensitivity
        spread = Spread(spread.finite + np.outer(late, late), spread.blind)
    sources = dict(systematic or {})
    if sources:
        spread = Spread(spread.finite + spread_over(sources, len(spread.finite)), spread.blind)
    return Knowledge(
        problem.base.matrix,
        estimate.values,
        spread,
        estimate.residual,
        estimate.samples,
        estimate.findings,
        sources,
    )


def _own_spread(estimate: Estimate) -> Spread:
    """The covariance that an estimate without accelerations brings along."""
    assert estimate.covariance is not None
    hidden = np.isinf(np.diag(estimate.covariance))
    finite = np.where(np.isfinite(estimate.covariance), estimate.covariance, 0.0)
    return Spread(finite, np.eye(len(hidden))[:, hidden])
