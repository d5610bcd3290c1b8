r"""How much a joint's friction drifts from one stretch of a log to the next; what that adds to intervals.

Friction depends on temperature, load and the time since the last turn; the model holds one number for each of
its terms. So every stretch b of a log has numbers of its own around those of the robot, $d_b \sim N(0, D)$:

$$r_b = F_b\,(f + d_b) + e_b, \qquad F = [v \quad \mathrm{sign}\,v \quad 1],$$

with r the residual of the fit at one degree of freedom and e noise with a memory. D is what makes the
residual most likely (restricted likelihood, f taken as unknown). Its size is found to be much the same for
stretches of one second and of sixteen, as drift of all time scales has it. Such drift does not average out:
the next log differs from this one by about as much as its own stretches differ from each other. So D as a
whole is added to the covariance, not D over the number of stretches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.optimize
import scipy.special

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import NoSolutionError
from steelyard.estimation.noise_model import LONGEST, NoiseModel, autocovariances, autoregression
from steelyard.estimation.weighted import settled_weights
from steelyard.estimation.weighted_rows import base_rows, residuals
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem

TERMS = ("viscous", "coulomb", "offset")
"""Terms that drift."""
STRETCHES = 6
"""Stretches that a motion is cut into."""
SHORTEST = 2.0
"""Length of the shortest stretch, s; friction within it follows its last turn more than the model has it."""
FEWEST = 3
"""Stretches below which nothing is said about drift."""
SURPRISE = 0.005
"""Chance of a likelihood ratio this large without drift, above which none is claimed."""
_WIDEST = 14.0  # natural logarithm of the noise's variance over the smallest drift's
_LARGEST = 3.0
_BLIND = 1e-9


@dataclass(frozen=True, eq=False)
class FrictionDrift:
    """By how much friction and offset of each degree of freedom drift.

    Attributes:
        deviations: of the terms `TERMS`, zero where no drift is seen, shape (nv, 3), SI.
        columns: where the terms stand among the parameters of the layout, shape (nv, 3), dimensionless; -1
            where a term is absent.
    """

    deviations: Array
    columns: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviations", read_only(checked("deviations", self.deviations, ("nv", 3))))


def friction_drift(problem: Problem) -> FrictionDrift:
    """Estimate how much friction and offset of each joint drift within the logs.

    Viscous and Coulomb friction share one deviation of torque, at the joint's rms velocity; the offset has
    its own. A drift is claimed only where the likelihood ratio says that noise alone would hardly show it.

    Args:
        problem: the question, with its samples, in the order of time.

    Returns:
        The drift; zero where it is not seen, where the logs are too short to tell, and where friction grows
        with the load, whose residual is not that of linear equations.

    Raises:
        InputError: the samples were not kept.
    """
    at, nv = problem.samples, problem.robot.nv
    columns = problem.layout.drive_columns[:, : len(TERMS)]
    if len(columns) != nv:
        # Joints tied to each other share one equation, whose friction is no longer one joint's.
        columns = np.full((nv, len(TERMS)), -1, dtype=np.int64)
    deviations = np.zeros((nv, len(TERMS)))
    cuts = _stretches(problem)
    if len(cuts) < FEWEST or "load" in problem.layout.drive:
        return FrictionDrift(deviations, columns)
    try:
        plain = settled_weights(problem, "infinite")[1]
    except NoSolutionError:
        return FrictionDrift(deviations, columns)
    pieces = residuals(base_rows(problem), plain.values)
    r = np.concatenate(pieces)
    longest = min(LONGEST, at.n // 8)
    for k, c in enumerate(autocovariances(pieces, longest)):
        rms = float(np.sqrt((at.v[:, k] ** 2).mean()))
        present = columns[k] >= 0
        if rms == 0.0 or c[0] <= 0.0 or not present.any():
            continue
        F = np.column_stack((at.v[:, k] / rms, np.sign(at.v[:, k]), np.ones(at.n))) * present
        drift = _likeliest(_Stretches.of(F, r[:, k], cuts, autoregression(c, at.n)), float(c[0]))
        deviations[k] = np.array([drift[0] / rms, drift[0], drift[1]]) * present
    return FrictionDrift(deviations, columns)


def with_drift(estimate: Estimate, drift: FrictionDrift) -> Estimate:
    r"""Add to an estimate's covariance what drift adds: $\Sigma + K_F\,D\,K_F^T$.

    What is added stands in `drift` as well: no richer motion makes it smaller.

    Args:
        estimate: the estimate; unchanged where it has no covariance.
        drift: the drift.

    Returns:
        A new estimate; its `detail` holds the deviations by joint, and a finding names the joints.
    """
    if estimate.covariance is None:
        return estimate
    there = drift.columns >= 0
    K = estimate.base.matrix[:, drift.columns[there]]
    known = np.isfinite(np.diag(estimate.covariance))
    K = np.where(known[:, None], K * drift.deviations[there], 0.0)
    added = K @ K.T
    return replace(
        estimate,
        covariance=estimate.covariance + added,
        drift=added,
        findings=(*estimate.findings, *_findings(estimate, drift)),
        detail={**estimate.detail, "friction_drift": drift.deviations.tolist()},
    )


def _findings(estimate: Estimate, drift: FrictionDrift) -> tuple[Finding, ...]:
    layout = estimate.layout
    largest = drift.deviations[:, 1:].max(axis=1)
    moved = [int(k) for k in np.argsort(-largest, kind="stable") if largest[k] > 0.0]
    if not moved:
        return ()
    listed = ", ".join(
        f"{layout.joints[layout.dofs[k]]} by {largest[k]:.2g} {layout.parameters[column].unit}"
        for k in moved
        if (column := int(drift.columns[k, 1:].max())) >= 0
    )
    return (
        Finding(
            Severity.INFO,
            "friction-drift",
            f"friction or offset change from one stretch of the logs to the next more than noise explains: "
            f"{listed}. Another log may differ as much from this one; the intervals of these terms hold it.",
        ),
    )


def _stretches(problem: Problem) -> list[slice]:
    """The samples of each motion in stretches of even length in time."""
    at, cuts = problem.samples, []
    for motion in at.motions:
        t = at.time[motion]
        count = int(np.clip((t[-1] - t[0]) // SHORTEST, 1, STRETCHES))
        inner = np.searchsorted(t, np.linspace(t[0], t[-1], count + 1)[1:-1])
        edges = [motion.start, *(motion.start + inner), motion.stop]
        cuts += [slice(int(a), int(b)) for a, b in pairwise(edges) if b > a]
    return cuts


@dataclass(frozen=True, eq=False)
class _Stretches:
    """What each stretch says of one degree of freedom, its noise made white: G = FᵀF and g = Fᵀr."""

    G: Array
    g: Array

    @classmethod
    def of(cls, F: Array, r: Array, cuts: list[slice], noise: NoiseModel) -> _Stretches:
        p = noise.order
        whitening = np.r_[1.0, -noise.coefficients]
        left = float(noise.start[0] - noise.coefficients @ noise.start[1:])
        G, g = [], []
        for cut in cuts:
            if cut.stop - cut.start > p:
                both = np.column_stack((F[cut], r[cut]))
                white = sum(w * both[p - k : len(both) - k] for k, w in enumerate(whitening))
                G.append(white[:, :-1].T @ white[:, :-1] / left)
                g.append(white[:, :-1].T @ white[:, -1] / left)
        return cls(np.array(G).reshape(-1, 3, 3), np.array(g).reshape(-1, 3))

    def unlikelihood(self, friction: float, offset: float) -> float:
        """Minus the logarithm of the restricted likelihood of two variances, but for a constant."""
        s = np.sqrt(np.array([friction, friction, offset]))
        inner = np.eye(3) + s[:, None] * self.G * s
        M = s[:, None] * np.linalg.inv(inner) * s
        A = (self.G - self.G @ M @ self.G).sum(axis=0)
        Mg = np.einsum("bij,bj->bi", M, self.g)
        c = (self.g - np.einsum("bij,bj->bi", self.G, Mg)).sum(axis=0)
        # A direction that no stretch shows, such as a term that is absent, has no part in either sum.
        values, vectors = np.linalg.eigh(A)
        shown = values > _BLIND * values[-1]
        explained = float((self.g * Mg).sum() + (((vectors.T @ c)[shown]) ** 2 / values[shown]).sum())
        spread = float(np.linalg.slogdet(inner)[1].sum() + np.log(values[shown]).sum())
        return 0.5 * (spread - explained)


def _likeliest(seen: _Stretches, noise: float) -> tuple[float, float]:
    """Deviations of friction and offset, N·m or N; zero where the data does not insist."""
    if len(seen.G) < FEWEST:
        return 0.0, 0.0
    centre = np.log(noise)

    def least(friction: bool, offset: bool) -> tuple[float, Array]:
        found = scipy.optimize.minimize(
            lambda x: seen.unlikelihood(friction * np.exp(x[0]), offset * np.exp(x[1])),
            np.full(2, centre - 2.0),
            method="L-BFGS-B",
            bounds=[(centre - _WIDEST, centre + _LARGEST)] * 2,
        )
        return float(found.fun), np.exp(found.x)

    both, variances = least(True, True)
    # A variance at its bound: the ratio is zero in half of all cases, else chi-square with one degree.
    needed = 0.5 * float(scipy.special.chdtri(1, 2.0 * SURPRISE))
    drifts = least(False, True)[0] - both > needed
    moves = least(True, False)[0] - both > needed
    if drifts and not moves:
        variances = least(True, False)[1]
    elif moves and not drifts:
        variances = least(False, True)[1]
    friction, offset = np.sqrt(variances)
    return float(friction) if drifts else 0.0, float(offset) if moves else 0.0
