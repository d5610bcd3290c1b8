"""An estimate from a full parameter vector: what all estimators over possible links return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.consistency import PossibleFit, PossibleSet, possible_set
from steelyard.estimation.residual import residual_rms
from steelyard.finding import Finding, Severity
from steelyard.identifiability import Criterion, Information, score
from steelyard.problem import Estimate, Problem


def possible_for(
    problem: Problem,
    R: Array,
    *,
    floor: float = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
) -> PossibleSet:
    """What is possible for a problem, referred to its prior; drive terms count by their share of torque.

    Args:
        problem: the question.
        R: the factor of its equations, shape (p + 1, p + 1), SI.
        floor: smallest eigenvalue asked of each link's scaled pseudo-inertia, dimensionless.
        lower: further lower bounds, shape (p,), SI; None for none.
        upper: further upper bounds, shape (p,), SI; None for none.

    Returns:
        The set; a drive term's size is what gives a tenth of all torque.
    """
    tenth = 0.1 * float(np.linalg.norm(R[:, -1])) or 1.0
    lengths = np.linalg.norm(R[:, :-1], axis=0)
    sizes = np.divide(tenth, lengths, out=np.ones_like(lengths), where=lengths > 1e-9 * tenth)
    return possible_set(
        problem.layout, problem.prior, floor=floor, lower=lower, upper=upper, drive_scales=sizes
    )


def full_set_estimate(
    method: str,
    problem: Problem,
    parameters: Array,
    *,
    weights: ArrayLike | None,
    findings: Sequence[Finding] = (),
    detail: Mapping[str, object],
) -> Estimate:
    """Wrap a full parameter vector.

    Args:
        method: name of the estimator.
        problem: the question.
        parameters: phi, shape (p,), SI.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        findings: what was noticed.
        detail: settings and diagnostics.

    Returns:
        The estimate, with the base parameters of phi.
    """
    beta = problem.base.matrix @ parameters
    W = problem.base_factor(weights)[:, :-1]
    return Estimate(
        method=method,
        layout=problem.layout,
        base=problem.base,
        values=beta,
        residual=residual_rms(problem, beta),
        samples=problem.compressed.samples,
        condition=score(Criterion.COND_NORMALISED, Information.of_regressor(W)).value,
        parameters=parameters,
        weights=None if weights is None else checked("weights", weights, (problem.robot.nv,)),
        findings=tuple(findings),
        recordings=problem.digests,
        detail=detail,
    )


def edge_findings(fit: PossibleFit, possible: PossibleSet) -> list[Finding]:
    """Name what holds a fit back, and the links nothing was known of.

    Args:
        fit: the fit.
        possible: what was possible.

    Returns:
        One finding for each active constraint, and one for each link without a reference.
    """
    found = [
        Finding(
            Severity.WARNING,
            "edge-of-the-possible",
            f"is on the edge of the possible: torques would fit better with values no body has "
            f"(price {price:.2g} of the squared residual per unit).",
            name,
        )
        for name, price in fit.active.items()
    ]
    found += [
        Finding(
            Severity.INFO,
            "no-prior",
            "neither prior nor description states its inertia; what torques do not show is kept near a ball.",
            link,
        )
        for link in possible.unknown
    ]
    return found


def fit_detail(fit: PossibleFit) -> dict[str, object]:
    """The diagnostics of a conic fit as values JSON can hold.

    Args:
        fit: the fit.

    Returns:
        Status, iterations, gap and tie-break relative to `PossibleFit.measure`, distance and active links.
    """
    return {
        "status": "optimal" if fit.full_accuracy else "optimal, reduced accuracy",
        "iterations": fit.iterations,
        "squared_residual": fit.squares,
        "gap": fit.gap / fit.measure,
        "tie_break": fit.tie_break / fit.measure,
        "distance_to_prior": fit.distance,
        "active": dict(fit.active),
    }
