"""Ridge regression towards a prior: what the motion does not show stays what was believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.errors import InputError
from steelyard.estimation.residual import residual_rms
from steelyard.estimation.weighted_solution import solved
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread


@with_one_blas_thread
def fit_ridge(
    problem: Problem,
    strength: float,
    *,
    scales: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Estimate:
    r"""The full parameters that explain the torques and stay near the prior (paper 001, (4.13)).

    $$\min_\phi \sum_k w_k^2 \lVert W_k\phi - \tau_k \rVert^2
      + \lambda \lVert \operatorname{diag}(s)\,(\phi - \phi_0) \rVert^2$$

    It is biased towards the prior by design, and by how much depends on how wrong the prior is, which no data
    tells: no covariance is given.

    Args:
        problem: the question, with a prior of every free parameter.
        strength: λ, positive; squared torque per squared parameter times s, SI.
        scales: s, factors that make parameters comparable, such as `problem.structure.scales`, shape (p,),
            SI; None for ones, as in the paper.
        weights: w, one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

    Returns:
        The estimate, with its full parameters.

    Raises:
        InputError: the strength or a scale is not positive, or the prior does not say every free parameter.
    """
    if not (np.isfinite(strength) and strength > 0.0):
        raise InputError(f"must be positive and finite, got {strength}.", place="strength")
    layout, free = problem.layout, np.flatnonzero(problem.layout.free)
    s = np.ones(layout.size) if scales is None else checked("scales", scales, (layout.size,))
    if not (s[free] > 0.0).all():
        raise InputError("must be positive.", place="scales")
    prior = np.full(layout.size, np.nan) if problem.prior is None else np.array(problem.prior)
    if missing := [layout.names[k] for k in free if np.isnan(prior[k])]:
        raise InputError(
            f"says nothing of {', '.join(missing)}.",
            place="prior",
            remedy="Give a value for each free parameter, or fit base parameters instead.",
            evidence={"missing": missing},
        )
    R = problem.factor(weights)
    W, tau = R[:, free], R[:, -1]
    pull = np.sqrt(strength) * s[free]
    stacked = np.vstack([W, np.diag(pull)])
    target = np.concatenate([tau, pull * prior[free]])
    # Scaled by the pull the stacked matrix has no singular value below 1, so no rank is in question.
    change = np.linalg.lstsq(stacked / pull, target - stacked @ prior[free], rcond=None)[0]
    phi = np.array(problem.known)
    phi[free] = prior[free] + change / pull
    beta = problem.base.matrix @ phi
    return Estimate(
        method="ridge",
        layout=layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.compressed.samples,
        condition=solved(problem.base_factor(weights), problem.base.names, "infinite").condition,
        parameters=phi,
        weights=None if weights is None else np.asarray(weights, dtype=float),
        recordings=problem.digests,
        detail={"strength": float(strength), "scaled": scales is not None},
    )
