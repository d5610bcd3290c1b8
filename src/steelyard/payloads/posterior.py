"""What a payload can be: before it is weighed, by the best fit, and by all bodies that agree with data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.special

from steelyard.arrays import Array, keep_checked, read_only
from steelyard.cones import AtMost, ConeProgram, Semidefinite, solve
from steelyard.errors import InputError, NoSolutionError
from steelyard.inertia import (
    check_body,
    from_log_cholesky,
    log_cholesky,
    log_cholesky_jacobian,
    nearest_consistent,
    pseudo_inertia,
)
from steelyard.payloads.weighing import SCALES, Weighing

# What a payload can be before it is weighed: how heavy at most, and inside which ball.
#
# A body of mass density $\rho \ge 0$ inside the ball of radius $\ell$ about $c$ satisfies, beside
# $J(\varphi) \succeq 0$,
#
# $$\int \rho(x)\,(\ell^2 - |x - c|^2)\,dx = \ell^2 m - \operatorname{tr}\Sigma + 2\,c^T h - m\,|c|^2 \ge 0,$$
#
# which is linear in the ten numbers: $\operatorname{tr}\Sigma = \tfrac12 \operatorname{tr} I$ (Wensing, Kim
# and Slotine 2018). It bounds every moment of inertia where the data does not.

HEAVIEST = 100.0
"""Mass that no payload exceeds where nothing is stated, kg."""
EXTENT = 0.5
"""Radius of the ball that holds a payload where nothing is stated, m."""


@dataclass(frozen=True, eq=False)
class PayloadPrior:
    """What a payload can be.

    Attributes:
        heaviest: largest mass, kg.
        extent: radius of a ball that holds the payload, m.
        centre: of the ball in the payload's frame, shape (3,), m.
    """

    heaviest: float = HEAVIEST
    extent: float = EXTENT
    centre: Array = (0.0, 0.0, 0.0)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name in ("heaviest", "extent"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}.", place=name)
        keep_checked(self, (3,), "centre")

    @property
    def rows(self) -> tuple[Array, Array]:
        """A and b of the linear conditions A phi <= b, shapes (2, 10) and (2,), SI: mass, then the ball."""
        c, e = self.centre, self.extent
        A = np.zeros((2, 10))
        A[0, 0] = 1.0
        A[1, 0] = c @ c - e**2
        A[1, 1:4] = -2.0 * c
        A[1, [4, 6, 9]] = 0.5
        return A, np.array([self.heaviest, 0.0])


# The one body that can exist and fits best: over a cone, or in coordinates without constraints.

BALL = np.array([1.0, 0, 0, 0, 0.4, 0, 0.4, 0, 0, 0.4])
"""A ball of unit mass and unit radius at the origin."""
INWARD = 1e-3
"""Share of a ball that is mixed in to come away from the edge."""


def best_body(weighing: Weighing, prior: PayloadPrior) -> Array:
    r"""$\min \lVert R\varphi - r\rVert$ over $J(\varphi) \succeq 0$ and the prior's mass and ball.

    Args:
        weighing: what the data says.
        prior: what a payload can be.

    Returns:
        The ten numbers, shape (10,), SI; on the edge of the possible where the data would go beyond it.

    Raises:
        SolverError: the cone program could not be solved.
    """
    scale = float(np.linalg.norm(weighing.factor * SCALES, 2))
    A, b = prior.rows
    program = ConeProgram.least_squares(
        weighing.factor * SCALES / scale,
        weighing.target / scale,
        (
            Semidefinite(np.zeros((4, 4)), pseudo_inertia(np.eye(10))),
            AtMost(A * SCALES / np.array([[1.0], [SCALES[-1]]]), b),
        ),
    )
    # The solver stops a hair outside of cones as often as inside.
    return np.asarray(nearest_consistent(solve(program).x * SCALES))


def body_without_constraints(weighing: Weighing, start: Array) -> Array:
    """The same least squares in log-Cholesky coordinates, always consistent (Zhang et al. 2025, eq. (25)).

    Args:
        weighing: what the data says.
        start: a body strictly inside the possible, shape (10,), SI.

    Returns:
        The ten numbers, shape (10,), SI.
    """
    s = SCALES
    R = weighing.factor * s

    def residual(eta: Array) -> Array:
        return np.asarray(R @ from_log_cholesky(eta) - weighing.target)

    def slope(eta: Array) -> Array:
        return np.asarray(R @ log_cholesky_jacobian(eta))

    found = scipy.optimize.least_squares(residual, log_cholesky(start / s), slope, xtol=1e-12, ftol=1e-12)
    return np.asarray(from_log_cholesky(found.x) * s)


def moved_inside(ten: Array, prior: PayloadPrior) -> Array:
    """A body strictly inside the possible, next to one that may be on its edge.

    Args:
        ten: the ten numbers of a body that can exist, shape (10,), SI.
        prior: what a payload can be.

    Returns:
        The ten numbers mixed with a ball in the middle of the prior's, shape (10,), SI.
    """
    c, e = prior.centre, 0.5 * prior.extent
    m = min(max(float(ten[0]), 1e-3), 0.5 * prior.heaviest)
    ball: Array = m * (BALL * np.array([1.0, e, e, e, *(6 * [e**2])]))
    ball[1:4] = m * c
    ball[[4, 6, 9]] += m * (c @ c - c**2)
    ball[[5, 7, 8]] -= m * np.array([c[0] * c[1], c[0] * c[2], c[1] * c[2]])
    A, b = prior.rows
    share = INWARD
    while share < 1.0:
        mixed: Array = (1.0 - share) * ten + share * ball
        inside = np.linalg.eigvalsh(pseudo_inertia(mixed / SCALES)).min() > 0.0
        if check_body(mixed) and inside and (A @ mixed < b).all():
            return mixed
        share *= 4.0
    return ball


# All bodies that can exist and agree with the data: drawn, averaged, and spread.
#
# The likelihood of the ten numbers is normal, $\exp(-\tfrac12\lVert R\varphi - r\rVert^2)$. Bodies that can
# exist, $J(\varphi) \succeq 0$ within the prior's mass and ball, are equally likely before the data. The
# posterior is that normal distribution cut off at a convex set, from which hit-and-run draws: along a random
# line the set is an interval, found from the eigenvalues of a 4 × 4 matrix, and the normal distribution is
# one in a single number. Its mean lies inside the set, so it is a body that can exist, with room on all
# sides, even where the best fit is on the edge: a point mass, a sheet, a rod.

CHAINS, STEPS = 64, 400
"""Walks at the same time, and steps of each that count."""
WARM_UP = (100, 150, 250)
"""Steps before, after each of which the walks learn the shape of the set from where they have been."""
_THIN = 1e-16
_INSIDE, _STRAIGHT, _FLAT, _STEEP = 1e-9, 1e-8, 1e-8, 700.0


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of the ten numbers.

    Attributes:
        draws: shape (n, 10), SI; each can exist.
        mean: shape (10,), SI; it can exist.
        mixing: largest ratio of the spread between walks to that within them (Gelman and Rubin),
            dimensionless; close to one where the walks agree.
    """

    draws: Array
    mean: Array
    mixing: float


def posterior_of(
    weighing: Weighing, prior: PayloadPrior, start: Array, rng: np.random.Generator
) -> Posterior:
    """Draw from the bodies that can exist.

    Args:
        weighing: what the data says.
        prior: what a payload can be.
        start: a body strictly inside the set, shape (10,), SI.
        rng: source of the draws.

    Raises:
        NoSolutionError: the start is not strictly inside.
    """
    R, s = weighing.factor * SCALES, SCALES
    A, b = prior.rows
    A = A * s
    x = np.tile(start / s, (CHAINS, 1))
    if not (np.linalg.eigvalsh(pseudo_inertia(x[0])).min() > 0.0 and (A @ x[0] < b).all()):
        raise NoSolutionError("the walk starts outside the bodies that can exist.", place="posterior")

    def walked(x: Array, steer: Array, steps: int) -> Array:
        path, before = np.empty((steps, CHAINS, 10)), x
        for step in range(steps):
            d = rng.standard_normal((CHAINS, 10)) @ steer
            try:
                low, high = _inside(x, d, A, b)
            except np.linalg.LinAlgError:
                # Rounding can end a step a hair outside of the set's edge: that step is not taken.
                x = before
                low, high = _inside(x, d, A, b)
            before = x
            # Along the line: |R (x + t d) - r|^2 = a t^2 + 2 c t + ...
            Rd = d @ R.T
            a = np.einsum("ki,ki->k", Rd, Rd)
            c = np.einsum("ki,ki->k", Rd, x @ R.T - weighing.target)
            x = x + _cut_normal(a, c, low, high, rng)[:, None] * d
            path[step] = x
        return path

    steer = _directions(R, A, b, x[0])
    for steps in WARM_UP:
        path = walked(x, steer, steps)
        x = path[-1]
        values, vectors = np.linalg.eigh(np.cov(path[steps // 2 :].reshape(-1, 10).T))
        steer = (vectors * np.sqrt(np.maximum(values, _THIN * values[-1]))).T
    kept = walked(x, steer, STEPS)
    draws = kept * s
    return Posterior(read_only(draws.reshape(-1, 10)), read_only(draws.mean(axis=(0, 1))), _mixing(kept))


def _directions(R: Array, A: Array, b: Array, x: Array) -> Array:
    """A root of the covariance that data and the shape of the set around x suggest, shape (10, 10)."""
    J = pseudo_inertia(np.eye(10))
    inverse = np.linalg.inv(pseudo_inertia(x))
    # The curvature of the barrier -log det J - sum log(b - A x) has the shape of the set around x.
    H = np.einsum("aij,jk,bkl,li->ab", J, inverse, J, inverse)
    slack = b - A @ x
    H += (A.T / slack**2) @ A
    values, vectors = np.linalg.eigh(R.T @ R + H)
    return np.asarray((vectors / np.sqrt(values)).T)


def _inside(x: Array, d: Array, A: Array, b: Array) -> tuple[Array, Array]:
    """The interval of t for which x + t d can exist, each shape (CHAINS,)."""
    L = np.linalg.cholesky(pseudo_inertia(x))
    M = np.linalg.solve(L, pseudo_inertia(d))
    M = np.linalg.solve(L, np.swapaxes(M, 1, 2))
    mu = np.linalg.eigvalsh(0.5 * (M + np.swapaxes(M, 1, 2)))
    rate = np.column_stack([-mu[:, [0, -1]], (d @ A.T) / (b - x @ A.T)])
    with np.errstate(divide="ignore"):
        high = np.where(rate > 0.0, 1.0 / rate, np.inf).min(axis=1)
        low = np.where(rate < 0.0, 1.0 / rate, -np.inf).max(axis=1)
    return (1.0 - _INSIDE) * low, (1.0 - _INSIDE) * high


def _cut_normal(a: Array, c: Array, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """Draws of t with density exp(-(a t^2 + 2 c t) / 2) between low and high."""
    share = rng.uniform(size=len(a))
    # Where the square hardly matters over the interval the density is an exponential or flat.
    straight = a * (high - low) ** 2 < _STRAIGHT
    deviation = 1.0 / np.sqrt(np.where(straight, 1.0, a))
    mean = -c * deviation**2
    u, v = (low - mean) / deviation, (high - mean) / deviation
    # In the left tail the logarithm of the distribution keeps its digits; the right tail is its mirror.
    flip = u > 0.0
    u, v = np.where(flip, -v, u), np.where(flip, -u, v)
    below, above = scipy.special.log_ndtr(u), scipy.special.log_ndtr(v)
    z = scipy.special.ndtri_exp(above + np.log(share + (1.0 - share) * np.exp(below - above)))
    curved = mean + deviation * np.where(flip, -z, z)
    k = np.clip(c * (high - low), -_STEEP, _STEEP)
    slope = np.where(np.abs(k) > _FLAT, k, 1.0)
    leaning = -np.log1p(-share * -np.expm1(-slope)) / slope
    along = low + (high - low) * np.where(np.abs(k) > _FLAT, leaning, share)
    return np.clip(np.where(straight, along, curved), low, high)


def _mixing(kept: Array) -> float:
    """Gelman and Rubin's ratio, the largest of the ten."""
    n = len(kept)
    within = kept.var(axis=0, ddof=1).mean(axis=0)
    between = kept.mean(axis=0).var(axis=0, ddof=1)
    return float(np.sqrt((n - 1) / n + between / np.maximum(within, 1e-300)).max())
