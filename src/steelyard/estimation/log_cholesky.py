"""Least squares over log-Cholesky coordinates: no constraint is left, every point is a possible robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.consistency import fit_possible
from steelyard.drive import drive_term
from steelyard.errors import InputError
from steelyard.estimation.full_set_estimate import edge_findings, full_set_estimate, possible_for
from steelyard.estimation.log_cholesky_coordinates import LogCoordinates
from steelyard.estimation.log_cholesky_newton import minimise_squares
from steelyard.inertia import pseudo_inertia
from steelyard.layout import Layout
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

INWARD = 1e-5
"""Size of the ball added to each link of the conic solution, relative to it: coordinates need an inside."""
_BALL = np.array([1.0, 0, 0, 0, 2, 0, 2, 0, 0, 2])


@with_one_blas_thread
def fit_log_cholesky(
    problem: Problem,
    *,
    weights: ArrayLike | None = None,
    start: ArrayLike | None = None,
    iteration_limit: int = 200,
) -> Estimate:
    r"""Possible links that leave the least squared torque, in coordinates without constraints.

    Paper 000, (25): $\min_{\eta} \lVert R\,(\phi(\eta), -1)\rVert^2$, where each link's ten numbers come from
    log-Cholesky coordinates, (14)-(16), and each drive term that cannot be negative from its logarithm. The
    problem is not convex, so the start matters: it is the conic solution of `fit_lmi`, moved inside. Steps
    are Newton's with exact second derivatives, within a trust region. Where the best links are on the edge
    of the possible, coordinates run to infinity and the residual tends to its least value; the iteration
    ends when a step can gain less than 1e-10 of it.

    Args:
        problem: the question.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        start: a strictly possible vector to start from, shape (p,), SI; None for the conic solution.
        iteration_limit: most steps.

    Returns:
        The estimate, with `parameters`.

    Raises:
        InputError: a link is known in part, which the coordinates cannot say, or the start is on the edge.
    """
    layout = problem.layout
    partly = [x for x in layout.links if 0 < layout.free[layout.of_link(x)].sum() < 10]
    if partly:
        raise InputError(
            f"{', '.join(partly)}: some of the ten numbers are fixed.",
            place="layout",
            remedy="Use --method lmi, which takes any fixed parameters.",
        )
    R = problem.compressed.factor(weights)
    possible = possible_for(problem, R)
    conic = fit_possible(R[:, :-1], R[:, -1], possible)
    A, s = R[:, :-1] * possible.scales, possible.scales
    inside = _moved_inside(conic.parameters / s, layout)
    x = inside if start is None else np.array(start, dtype=float) / s
    coordinates = LogCoordinates.at(layout, x)
    found = minimise_squares(A, R[:, -1], coordinates, coordinates.of(x), iteration_limit)
    return full_set_estimate(
        "log-Cholesky",
        problem,
        coordinates.x(found.coordinates) * s,
        weights=weights,
        findings=edge_findings(conic, possible),
        detail={
            "status": found.status,
            "iterations": found.iterations,
            "squared_residual": found.squares,
            "gradient": found.gradient,
            "above_conic_optimum": found.squares / conic.squares - 1.0 if conic.squares > 0 else 0.0,
            "active": dict(conic.active),
        },
    )


def _moved_inside(x: Array, layout: Layout) -> Array:
    """Some of a ball added to each free link, and some torque to each drive term that cannot be negative."""
    x = x.copy()
    for k, link in enumerate(layout.links):
        if layout.free[10 * k]:
            size = float(np.trace(pseudo_inertia(x[layout.of_link(link)])))
            x[layout.of_link(link)] += INWARD * size * _BALL
    for k in range(10 * len(layout.links), layout.size):
        if layout.free[k] and not drive_term(layout.parameters[k].term).signed:
            x[k] += INWARD
    return x
