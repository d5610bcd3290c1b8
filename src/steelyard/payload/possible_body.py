r"""The one body that can exist and fits best: over a cone, or in coordinates without constraints."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from steelyard.arrays import Array
from steelyard.cones import AtMost, ConeProgram, Semidefinite, solve
from steelyard.inertia import (
    check_body,
    from_log_cholesky,
    log_cholesky,
    log_cholesky_jacobian,
    nearest_consistent,
    pseudo_inertia,
)
from steelyard.payload.prior import PayloadPrior
from steelyard.payload.weighing import SCALES, Weighing

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
    """The same least squares in log-Cholesky coordinates (paper 000, (25)), every point of which can exist.

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
