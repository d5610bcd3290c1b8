"""Least squares over links that can exist."""

from __future__ import annotations

from numpy.typing import ArrayLike

from steelyard.consistency import fit_possible
from steelyard.estimation.full_set_estimate import edge_findings, fit_detail, full_set_estimate, possible_for
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread


@with_one_blas_thread
def fit_lmi(
    problem: Problem,
    *,
    weights: ArrayLike | None = None,
    floor: float = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> Estimate:
    r"""The full parameters of possible links that leave the least squared torque.

    $$\min_\phi \lVert R\,(\phi, -1) \rVert^2 \quad\text{with}\quad J_i(\phi) \succeq 0 \text{ for all links},
      \quad F_v, F_c, I_a, \dots \ge 0, \quad \phi_{fixed} = \phi_{known}$$

    on the compressed equations. Where the torques do not tell parameters apart, the vector nearest to the
    prior is taken (the description's numbers where there is no prior), in the distance of
    `steelyard.consistency.PossibleSet`; what this costs the fit is in `detail["tie_break"]`, relative to the
    squared residual.

    Args:
        problem: the question.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        floor: smallest eigenvalue asked of each link's pseudo-inertia, with the link's reference mass and
            length as units, dimensionless.
        lower: further lower bounds on phi, shape (p,), SI; -inf for none.
        upper: further upper bounds on phi, shape (p,), SI; inf for none.

    Returns:
        The estimate, with `parameters`; its findings name the links on the edge of the possible.

    Raises:
        NoSolutionError: bounds and fixed parameters leave no room for possible links.
    """
    R = problem.compressed.factor(weights)
    possible = possible_for(problem, R, floor=floor, lower=lower, upper=upper)
    fit = fit_possible(R[:, :-1], R[:, -1], possible)
    return full_set_estimate(
        "possible links",
        problem,
        fit.parameters,
        weights=weights,
        findings=edge_findings(fit, possible),
        detail={**fit_detail(fit), "floor": floor},
    )
