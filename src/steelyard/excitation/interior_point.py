"""Limits for all time as linear inequalities, and a primal-dual interior-point method under them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from steelyard.arrays import Array
from steelyard.excitation.problem import Ranges
from steelyard.excitation.unknowns import Unknowns
from steelyard.motion import Basis, FourierMotion, LinearMotion, SplineMotion, between_samples

# Limits of position, velocity and acceleration for all time, as linear inequalities in the unknowns.
#
# Every joint obeys $|R x_j + r_j| \le h_j$ row by row, with the same rows R for all joints but for their
# scale. For a Fourier series a row is the value at one of M equispaced times, and the limit is tightened by
# $\cos(\pi L/M)$ (Ehlich and Zeller). For a spline a row is a Bernstein coefficient on a part of a piece, in
# whose hull the polynomial stays. Either way the inequalities imply the limits at every instant.

POINTS_PER_HARMONIC = 40
"""Times in a period of the fastest harmonic: the limits are tightened by 0.31 %."""
PARTS = 3
"""Parts of a spline's piece, each with Bernstein coefficients of its own: their hull is then tight."""
_ROUNDING = 1e-9
"""Share of a limit that is kept free, far above round-off."""


@dataclass(frozen=True, eq=False)
class LinearLimits:
    """The inequalities of all joints.

    Attributes:
        rows: R, shape (m, n), SI; one joint's are `scales[j] * rows`.
        scales: s, shape (nv,), rad/s or m/s.
        at_middle: r, values at x = 0 from the middle of the range, shape (nv, m), SI.
        half: h, infinite where nothing limits, shape (nv, m), SI.
    """

    rows: Array
    scales: Array
    at_middle: Array
    half: Array

    @cached_property
    def shares(self) -> Array:
        """The ratio s / h, the change of a row over its limit, shape (nv, m), 1/SI."""
        return self.scales[:, None] / self.half

    def values(self, x: Array) -> Array:
        """Every row over its limit.

        Args:
            x: unknowns, shape (nv, n), dimensionless.

        Returns:
            Between -1 and 1 where the limits hold, shape (nv, m), dimensionless.
        """
        return self.at_middle / self.half + self.change(x)

    def change(self, step: Array) -> Array:
        """How the rows over their limits change with the unknowns.

        Args:
            step: change of the unknowns, shape (nv, n), dimensionless.

        Returns:
            The change, shape (nv, m), dimensionless.
        """
        return self.shares * (step @ self.rows.T)

    def pull(self, weights: Array) -> Array:
        """The adjoint of `change`.

        Args:
            weights: one for each row, shape (nv, m), SI.

        Returns:
            Their sum in the unknowns, shape (nv, n), SI.
        """
        return (weights * self.shares) @ self.rows

    def blocks(self, weights: Array) -> Array:
        r"""The Hessians $R^T \mathrm{diag}(w_j) R$ of all joints, which do not mix.

        Args:
            weights: w, one for each row, shape (nv, m), SI.

        Returns:
            One block for each joint, shape (nv, n, n), SI.
        """
        w = weights * self.shares**2
        return np.asarray(np.matmul(w[:, None, :] * self.rows.T, self.rows))


def linear_limits(unknowns: Unknowns, ranges: Ranges) -> LinearLimits:
    """Collect the inequalities of a problem.

    Args:
        unknowns: of the problem.
        ranges: of its joints.

    Returns:
        The inequalities.
    """
    family = unknowns.family
    nv = len(unknowns.scales)
    tight = 1.0 - _ROUNDING
    if isinstance(family, FourierMotion):
        M = POINTS_PER_HARMONIC * family.harmonics
        basis = family.basis(family.period / M * np.arange(M))
        tight /= between_samples(family.harmonics, M)
    else:
        basis = _bernstein(family)
    rows, at_middle, half = [], [], []
    zeros = np.zeros(nv)
    for B, middle, limit in (
        (basis.q, ranges.middle, ranges.reach),
        (basis.v, zeros, ranges.velocity),
        (basis.a, zeros, ranges.acceleration),
    ):
        if np.isfinite(limit).any():
            rows.append(B @ unknowns.directions)
            at_middle.append(unknowns.middle @ B.T - middle[:, None])
            half.append(np.broadcast_to(tight * limit[:, None], (nv, len(B))))
    return LinearLimits(np.vstack(rows), unknowns.scales, np.hstack(at_middle), np.hstack(half))


def _bernstein(family: LinearMotion) -> Basis:
    """Bernstein coefficients of position, velocity and acceleration of every basis function, part by part."""
    assert isinstance(family, SplineMotion)
    d = family.degree
    s = 0.5 - 0.5 * np.cos(math.pi * (np.arange(d + 1) + 0.5) / (d + 1))
    powers = np.arange(d + 1)
    binomials = np.array([math.comb(d, k) for k in powers])
    to_bernstein = np.linalg.inv(binomials * s[:, None] ** powers * (1.0 - s[:, None]) ** (d - powers))
    edges = np.concatenate(
        [
            np.linspace(a, b, PARTS, endpoint=False)
            for a, b in zip(family.breaks, family.breaks[1:], strict=False)
        ]
        + [family.breaks[-1:]]
    )
    times = edges[:-1, None] + np.diff(edges)[:, None] * s
    basis = family.basis(times.ravel())
    parts = [
        (to_bernstein @ B.reshape(len(times), d + 1, -1)).reshape(times.size, -1)
        for B in (basis.q, basis.v, basis.a, basis.jerk)
    ]
    return Basis(*parts)


# A primal-dual interior-point method for a smooth function under two-sided linear limits.
#
# $$\min_x f(x) - \mu \sum_i \log(1 - y_i) - \mu \sum_i \log(1 + y_i), \qquad y = Rx + r$$
#
# with the weight $\mu$ of each stage. The limits of one joint do not mix with those of another, so their
# exact Hessian is a small block for each; only f is approximated, by damped BFGS updates. Every iterate is
# strictly inside the limits, so whatever a search has reached when it is stopped can be used.

Function = Callable[[Array], tuple[float, Array]]
"""From unknowns (nv, n) to f and its gradient (nv, n); f is infinite where it is not allowed."""

TO_BOUNDARY = 0.99
"""Share of the way to the nearest limit that a step may go."""
ARMIJO = 1e-4
SHORTEST = 1e-7
"""A shorter step than this share of the full one is no progress."""
DUAL_SPREAD = 1e4
"""How far a multiplier may be from mu over its slack."""


@dataclass(eq=False)
class Iterate:
    """Where the method is, and what it has learnt.

    Attributes:
        x: unknowns, strictly inside the limits, shape (nv, n), dimensionless.
        curvature: BFGS approximation of f's Hessian, shape (nv n, nv n), dimensionless; None before the first
            step.
        evaluations: of f and its gradient so far.
    """

    x: Array
    curvature: Array | None = None
    evaluations: int = 0


def minimise_within_limits(
    f: Function, limits: LinearLimits, iterate: Iterate, weight: float, *, tolerance: float, iterations: int
) -> None:
    """Improve an iterate until a step promises less than the tolerance.

    Args:
        f: what to minimise.
        limits: what x must respect.
        iterate: in and out; x strictly inside the limits, with a finite f.
        weight: mu, of the limits' barrier.
        tolerance: decrease of the objective that a step must promise to be worth taking.
        iterations: most steps to take.
    """
    x = iterate.x
    value, g = f(x)
    iterate.evaluations += 1
    y = limits.values(x)
    above, below = 1.0 - y, 1.0 + y
    z_above, z_below = weight / above, weight / below
    merit = value - weight * _logarithms(above, below)
    slow = 0
    for _ in range(iterations):
        slope = g + limits.pull(weight / above - weight / below)
        step = _step(iterate, limits, slope, z_above / above + z_below / below)
        if step is None:
            break
        promised = -float((slope * step).sum())
        if promised < tolerance:
            break
        dy = limits.change(step)
        reach = _to_boundary(above, below, dy)
        length, found = min(1.0, TO_BOUNDARY * reach), None
        while length > SHORTEST:
            candidate = x + length * step
            y_new = y + length * dy
            above_new, below_new = 1.0 - y_new, 1.0 + y_new
            value_new, g_new = f(candidate)
            iterate.evaluations += 1
            merit_new = value_new - weight * _logarithms(above_new, below_new)
            if merit_new <= merit - ARMIJO * length * promised:
                found = candidate
                break
            length *= _shorter(merit, merit_new, promised, length)
        if found is None:
            # A curvature that no longer fits is forgotten once; a second failure ends the search.
            if iterate.curvature is None or slow:
                break
            iterate.curvature, slow = None, 1
            continue
        dz_above = weight / above - z_above + z_above / above * dy
        dz_below = weight / below - z_below - z_below / below * dy
        dual = min(1.0, TO_BOUNDARY * min(_ratio(z_above, dz_above), _ratio(z_below, dz_below)))
        z_above = _near(z_above + dual * dz_above, weight / above_new)
        z_below = _near(z_below + dual * dz_below, weight / below_new)
        _learn(iterate, length * step, g_new - g)
        slow = slow + 1 if merit - merit_new < tolerance else 0
        x, g, y, above, below, merit = found, g_new, y_new, above_new, below_new, merit_new
        iterate.x = x
        if slow > 3:
            break


def _step(iterate: Iterate, limits: LinearLimits, slope: Array, weights: Array) -> Array | None:
    """The Newton step with the limits' exact blocks and the learnt curvature; None where it has no number.

    So it is where f is steeper than floating point can say: nothing better is found there.
    """
    nv, n = slope.shape
    if iterate.curvature is None:
        # Without any knowledge of f a step of about a tenth of the ranges is tried.
        iterate.curvature = 10.0 * float(np.linalg.norm(slope)) * np.eye(nv * n)
    K = iterate.curvature.copy()
    blocks = limits.blocks(weights)
    for j in range(nv):
        K[j * n : (j + 1) * n, j * n : (j + 1) * n] += blocks[j]
    if not (np.isfinite(K).all() and np.isfinite(slope).all()):
        return None
    return -np.asarray(scipy.linalg.cho_solve(_factorised(K), slope.ravel(), check_finite=False)).reshape(
        nv, n
    )


def _factorised(K: Array) -> tuple[Array, bool]:
    """The Cholesky factor of finite K; many updates cost the curvature its last digits, then raised."""
    # A trace that is not positive tells no size; raised by its largest row at the latest, K is definite.
    size = float(np.trace(K))
    if size <= 0.0:
        size = max(float(np.abs(K).sum(axis=1).max()), np.finfo(float).tiny / np.finfo(float).eps)
    raised = np.finfo(float).eps * size
    lifted = K
    while True:
        try:
            factor: tuple[Array, bool] = scipy.linalg.cho_factor(lifted, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            lifted = K + raised * np.eye(len(K))
            raised *= 100.0
        else:
            return factor


def _learn(iterate: Iterate, step: Array, change: Array) -> None:
    """Powell's damped BFGS update: the curvature stays positive definite."""
    assert iterate.curvature is not None
    s, t = step.ravel(), change.ravel()
    H = iterate.curvature
    Hs = H @ s
    sHs, st = float(s @ Hs), float(s @ t)
    if st < 0.2 * sHs:
        share = 0.8 * sHs / (sHs - st)
        t = share * t + (1.0 - share) * Hs
        st = float(s @ t)
    if st > 0.0:
        iterate.curvature = H + np.outer(t, t) / st - np.outer(Hs, Hs) / sHs


def _logarithms(above: Array, below: Array) -> float:
    return float(np.log(above).sum() + np.log(below).sum())


def _to_boundary(above: Array, below: Array, dy: Array) -> float:
    """The length at which the first limit is reached."""
    return 1.0 / max(float((dy / above).max()), float((-dy / below).max()), 1e-300)


def _ratio(z: Array, dz: Array) -> float:
    return 1.0 / max(float((-dz / z).max()), 1e-300)


def _near(z: Array, target: Array) -> Array:
    return np.clip(z, target / DUAL_SPREAD, target * DUAL_SPREAD)


def _shorter(merit: float, tried: float, promised: float, length: float) -> float:
    """By how much to shorten: to the minimum of the parabola through what is known, within bounds."""
    if not np.isfinite(tried):
        return 0.3
    curve = tried - merit + length * promised
    return float(np.clip(0.5 * length * promised / curve, 0.1, 0.5))
