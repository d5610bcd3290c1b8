"""Least squares within bounds on the full parameters, taken from the description's numbers."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, SolverError
from steelyard.estimation.residual import residual_rms
from steelyard.estimation.weighted_solution import solved
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

TOUCHING = 1e-6
"""Share of a bound's range within which a parameter counts as lying on the bound."""
_UNSEEN, _OPTIMAL, _ROUND_OFF = 1e-12, 1e-14, 1e-13
_GROUPS = (slice(0, 1), slice(1, 4), slice(4, 10))


@with_one_blas_thread
def fit_bounded(problem: Problem, relative: float, *, weights: ArrayLike | None = None) -> Estimate:
    r"""The parameters within a stated range of the nominal ones that explain the torques best.

    $$\min_\phi \sum_k w_k^2 \lVert W_k\phi - \tau_k \rVert^2 \quad\text{with}\quad
      \phi_{min} \le \phi \le \phi_{max}$$

    This is paper 003 (13) with the bounds on the full parameters: those on base parameters are their image,
    $\beta = K\phi$, so no interval arithmetic widens them. See `relative_bounds` for the range. A parameter
    on its bound says that the range decided it; no covariance is given.

    Args:
        problem: the question; the layout's nominal values are the middle of the ranges.
        relative: half the range by the size of the parameter, dimensionless; 0.3 for ±30 %.
        weights: w, one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

    Returns:
        The estimate, with its full parameters and a finding that names those on a bound.

    Raises:
        InputError: the range is not positive.
        SolverError: the active set did not settle.
    """
    layout, free = problem.layout, np.flatnonzero(problem.layout.free)
    lower, upper = (bound[free] for bound in relative_bounds(layout, relative))
    nominal = np.clip(np.nan_to_num(layout.nominal[free]), lower, upper)
    R = problem.factor(weights)
    W, tau = R[:, free], R[:, -1] - R[:, free] @ nominal
    if np.linalg.norm(tau) <= _ROUND_OFF * np.linalg.norm(R[:, -1]):
        # The nominal values explain the torques: what is left is round-off, which must not move anything.
        tau = np.zeros_like(tau)
    norms = np.linalg.norm(W, axis=0)
    seen = norms > _UNSEEN * norms.max()
    scale = norms[seen]
    # Solved for the change from the nominal values, so what no torque shows stays there.
    found = scipy.optimize.lsq_linear(
        W[:, seen] / scale,
        tau,
        ((lower - nominal)[seen] * scale, (upper - nominal)[seen] * scale),
        method="bvls",
        tol=_OPTIMAL,
        max_iter=50 * len(free),
    )
    if found.status < 1:
        raise SolverError(
            f"the active set did not settle in {found.nit} steps: {found.message}",
            place="bounded least squares",
        )
    phi = np.array(problem.known)
    phi[free] = nominal
    phi[free[seen]] += found.x / scale
    beta = problem.base.matrix @ phi
    width = np.where(np.isfinite(upper - lower), upper - lower, np.maximum(np.abs(phi[free]), 1.0))
    low = phi[free] - lower < TOUCHING * width
    high = upper - phi[free] < TOUCHING * width
    touching = [layout.names[k] for k, on in zip(free, low | high, strict=True) if on]
    finding = Finding(
        Severity.WARNING,
        "on-bound",
        f"{len(touching)} of {len(free)} parameters lie on a bound, which decided them rather than the data: "
        f"{', '.join(touching)}.",
    )
    return Estimate(
        method="bounded least squares",
        layout=layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.compressed.samples,
        condition=solved(problem.base_factor(weights), problem.base.names, "infinite").condition,
        parameters=phi,
        weights=None if weights is None else np.asarray(weights, dtype=float),
        findings=(finding,) if touching else (),
        recordings=problem.digests,
        detail={"relative": float(relative), "on_bound": touching},
    )


def relative_bounds(layout: Layout, relative: float) -> tuple[Array, Array]:
    r"""Bounds around the nominal values, as wide as a share of each parameter's size.

    The size of a link's parameter is the largest of its kind: its mass, its first moments, its moments and
    products of inertia; so a product of inertia that the description calls zero is not nailed there. A drive
    term is its own size; where the description states none, or zero, it is free down to what is physically
    possible. No bound is looser than that.

    Args:
        layout: the parameters and their nominal values.
        relative: half the range by that size, dimensionless.

    Returns:
        Lower bounds, shape (p,), SI; and upper bounds, shape (p,), SI; infinite where there is none.

    Raises:
        InputError: the range is not positive.
    """
    if not (np.isfinite(relative) and relative > 0.0):
        raise InputError(f"must be positive and finite, got {relative}.", place="relative")
    nominal = layout.nominal
    size = np.abs(nominal)
    for link in layout.links:
        mine = layout.of_link(link)
        for group in _GROUPS:
            part = slice(mine.start + group.start, mine.start + group.stop)
            size[part] = np.abs(nominal[part]).max()
    stated = np.isfinite(size) & (size > 0.0)
    half = np.where(stated, relative * np.where(stated, size, 0.0), np.inf)
    middle = np.where(stated, nominal, 0.0)
    possible = np.array([parameter.lower for parameter in layout.parameters])
    lower = np.maximum(middle - half, possible)
    return checked("lower", lower, ("p",), finite=False), middle + half
