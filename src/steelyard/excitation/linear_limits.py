r"""Limits of position, velocity and acceleration for all time, as linear inequalities in the unknowns.

Every joint obeys $|R x_j + r_j| \le h_j$ row by row, with the same rows R for all joints but for their scale.
For a Fourier series a row is the value at one of M equispaced times, and the limit is tightened by
$\cos(\pi L/M)$ (Ehlich and Zeller). For a spline a row is a Bernstein coefficient on a part of a piece, in
whose hull the polynomial stays. Either way the inequalities imply the limits at every instant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array
from steelyard.excitation.ranges import Ranges
from steelyard.excitation.unknowns import Unknowns
from steelyard.motion import Basis, FourierMotion, LinearMotion, SplineMotion, between_samples

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
