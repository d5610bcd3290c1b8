"""Errors that repeat in every sample, and what a log says of base parameters once they are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError
from steelyard.estimation import Spread, TorqueLag
from steelyard.finding import Finding
from steelyard.payloads.arm_model import ArmModel
from steelyard.problem import Estimate, Problem
from steelyard.uncertainty import spread_of

# Errors that repeat in every sample: torque constants, and the numbers of a robot that is taken as known.
#
# No length of log averages them away. To first order an error of the torques moves the least-squares estimate
# by
#
# $$\delta\hat\beta = (W^T\Sigma^{-1}W)^{-1}\,W^T\Sigma^{-1}\,\delta\tau,$$
#
# with $\delta\tau_j = \varepsilon_j\tau_j$ for a torque constant that is off by the share $\varepsilon_j$,
# and $\delta\tau = Y\,\delta\phi$ for a robot whose numbers are off by $\delta\phi$.

CONSTANTS, MODEL = "torque constants", "model"
"""Names of the two sources."""
COMMON = 0.5
"""Part of the variance of torque constants that all joints share: how current is measured, what the gears
lose and how warm the magnets are is alike at all of them. Nothing tells the split; two published sets of
constants of one arm differ by 25 % in the mean and by 13 % about it."""
_RANK = 1e-12


@dataclass(frozen=True, eq=False)
class ConstantErrors:
    """How far torque constants may be off.

    Attributes:
        root: C with C Cᵀ the covariance of their relative errors, shape (nv, k), dimensionless.
    """

    root: Array

    def __post_init__(self) -> None:
        keep_checked(self, ("nv", "k"), "root")

    @classmethod
    def of(cls, deviations: ArrayLike, common: float = COMMON) -> ConstantErrors:
        """Errors of which all joints share a part.

        Args:
            deviations: relative standard deviation at each joint, shape (nv,), dimensionless.
            common: part of the variance that all joints share, from 0 to 1.

        Returns:
            The errors; their root has the shared one in its first column.

        Raises:
            InputError: a deviation is negative, or the part is none.
        """
        s = checked("deviations", deviations, ("nv",))
        if (s < 0.0).any():
            raise InputError("must not be negative.", place="deviations")
        if not 0.0 <= common <= 1.0:
            raise InputError(f"must lie between 0 and 1, got {common:g}.", place="common")
        return cls(np.column_stack([np.sqrt(common) * s, np.diag(np.sqrt(1.0 - common) * s)]))

    @property
    def deviations(self) -> Array:
        """Relative standard deviation at each joint, shape (nv,), dimensionless."""
        return np.asarray(np.linalg.norm(self.root, axis=1))


def responses(
    problem: Problem, estimate: Estimate, model: ArmModel | None, constants: ConstantErrors | None
) -> Mapping[str, Array]:
    """How an estimate moves with the errors of each source, each error counted in its deviations.

    A model that was identified with the same torque constants shares their errors: what it predicts is off by
    the same share as what is measured, so that only the rest of the torque is.

    Args:
        problem: the question, with its samples and accelerations.
        estimate: the answer.
        model: the robot that is taken as known, with its errors; None where nothing is.
        constants: how far torque constants may be off; None for torques that were measured.

    Returns:
        Changes of the base parameters by source, each shape (b, k), SI; sources without errors are absent.
    """
    with_constants = constants is not None and bool(constants.root.any())
    with_model = model is not None and model.errors is not None
    if not with_constants and not with_model:
        return {}
    nv = problem.robot.nv
    w = np.ones(nv) if estimate.weights is None else estimate.weights
    at, phi, b = problem.samples, estimate.representative, problem.base.count
    R: Array | None = None
    for q, v, a, _ in at.blocks:
        Y = torque_regressor(problem.robot, problem.layout, q, v, a)
        off = []
        if with_constants:
            # What is predicted, not what was measured: noise must not look like a share of a torque.
            tau = Y @ phi
            if model is not None and model.same_constants:
                tau = tau - Y @ model.parameters
            off.append(tau[:, :, None] * np.eye(nv))
        if with_model:
            assert model is not None
            assert model.errors is not None
            off.append(Y @ model.errors)
        equations = np.concatenate([Y[..., problem.base.columns], *off], axis=-1) * w[:, None]
        flat = equations.reshape(-1, equations.shape[-1])
        R = np.asarray(np.linalg.qr(flat if R is None else np.vstack([R, flat]), mode="r"))
    assert R is not None  # an Evidence holds at least one sample
    scale = np.linalg.norm(R[:, :b], axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    moved = np.linalg.lstsq(R[:, :b] / scale, R[:, b:], rcond=_RANK)[0] / scale[:, None]
    found = {}
    if with_constants:
        assert constants is not None
        found[CONSTANTS] = read_only(moved[:, :nv] @ constants.root)
    if with_model:
        found[MODEL] = read_only(moved[:, nv if with_constants else 0 :])
    return found


def subtracted(one: Mapping[str, Array], other: Mapping[str, Array]) -> dict[str, Array]:
    """How the difference of two estimates moves with errors that both share.

    Args:
        one: changes by source, each shape (b, k), SI.
        other: those of what is taken off, by the same errors, each shape (b, k), SI.

    Returns:
        Changes of the difference by source.
    """
    return {source: read_only(one[source] - other[source]) for source in one}


def spread_over(sources: Mapping[str, Array], count: int) -> Array:
    """The covariance that all sources together add.

    Args:
        sources: changes by source, each shape (b, k), SI.
        count: b.

    Returns:
        Covariance, shape (b, b), SI.
    """
    total = np.zeros((count, count))
    for columns in sources.values():
        total += columns @ columns.T
    return total


# What a log says of base parameters, as equations that can be added to others.
#
# $$L\,K\phi = L\hat\beta + e, \qquad e \sim N(0, 1),$$
#
# with $L^T L$ the information that respects the colour of the noise, and nothing along what the motion hides.

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
        keep_checked(self, ("b", "p"), "matrix")
        keep_checked(self, (len(self.matrix),), "values")
        keep_checked(self, ("nv",), "residual")

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
