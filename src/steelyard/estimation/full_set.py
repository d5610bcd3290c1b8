"""Possible links for an estimate of base parameters."""

from __future__ import annotations

from dataclasses import replace

from steelyard.consistency import full_set
from steelyard.estimation.full_set_estimate import possible_for
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem
from steelyard.threads import with_one_blas_thread

LIGHTEST = 1e-6
"""Smallest eigenvalue of a link's pseudo-inertia, by its reference mass: of 1e-15 kg a metre aside, which are
possible too, a simulator reads back little more than rounding."""


@with_one_blas_thread
def with_full_set(problem: Problem, estimate: Estimate) -> Estimate:
    r"""Give an estimate of base parameters a full set of possible links that predicts the same torques.

    Where no such set exists the estimate keeps its base parameters, `parameters` is the possible vector with
    the least change of torque on the data, $\min \lVert R_b (K\phi - \beta) \rVert$, and a finding says so
    and why.

    Args:
        problem: the question it answers.
        estimate: of base parameters, from any method.

    Returns:
        The estimate with `parameters`; `detail["full_set"]` holds the change of torque and the distance to
        the prior, both dimensionless.
    """
    R = problem.compressed.factor(estimate.weights)
    possible = possible_for(problem, R, floor=LIGHTEST)
    metric = problem.base_factor(estimate.weights)[:, :-1]
    found = full_set(problem.base, estimate.values, possible, metric)
    findings = estimate.findings
    if not found.same:
        findings = (*findings, Finding(Severity.WARNING, "no-possible-links", found.reason, "parameters"))
    summary = {"same_torques": found.same, "change": found.change, "distance_to_prior": found.distance}
    return replace(
        estimate,
        parameters=found.parameters,
        findings=findings,
        detail={**estimate.detail, "full_set": summary},
    )
