"""The estimator that the data asks for, and why."""

from __future__ import annotations

from dataclasses import replace

from steelyard.errors import NoSolutionError
from steelyard.estimation.entropic import fit_entropic
from steelyard.estimation.friction import fit_friction
from steelyard.estimation.full_set import with_full_set
from steelyard.estimation.huber import fit_huber
from steelyard.estimation.lmi import fit_lmi
from steelyard.estimation.load_friction import fit_load_friction
from steelyard.estimation.weighted import fit_weighted
from steelyard.finding import Finding, Severity
from steelyard.problem import Estimate, Problem


def fit_auto(problem: Problem) -> Estimate:
    r"""Start from weighted least squares and leave it only where the data gives a reason.

    - A layout with friction that grows with the load is bilinear; one with Stribeck friction has shapes that
      are not linear: they are fitted with the rest.
    - A motion that hides base parameters, with a prior that states every link: the prior decides what the
      data does not, by the entropic fit. Without a prior they stay unknown, with infinite variance.
    - Far more large residuals than normal noise has: Huber's loss, which they cannot pull.
    - No possible links predict the same torques: the best of those that can exist.

    Args:
        problem: the question, with its samples.

    Returns:
        The estimate; its first finding, `method-chosen`, says which and why.

    Raises:
        NoSolutionError: there are too few samples for the number of base parameters.
    """
    if "load" in problem.layout.drive:
        return _because(
            fit_load_friction(problem, on_blind="infinite"),
            "bilinear least squares, because friction that grows with the load multiplies the links' numbers",
        )
    if "stribeck" in problem.layout.drive:
        return _because(
            fit_friction(problem, on_blind="infinite"),
            "separable least squares, because the shape of Stribeck friction is not linear in its numbers",
        )
    try:
        plain = fit_weighted(problem)
    except NoSolutionError as hidden:
        return _blind(problem, hidden)
    robust = fit_huber(problem)
    if outliers := [x for x in robust.findings if x.code == "outliers"]:
        plain = robust
        reason = f"Huber's loss, because {outliers[0].message.rstrip('.')}"
    else:
        reason = "weighted least squares, because residuals hold no outliers and the motion shows every base"
        reason += " parameter"
    full = with_full_set(problem, plain)
    if any(x.code == "no-possible-links" for x in full.findings):
        possible = replace(fit_lmi(problem, weights=plain.weights), covariance=plain.covariance)
        return _because(
            possible,
            "least squares over possible links, because no links that can exist predict the torques of the "
            "unconstrained fit; intervals are those of the unconstrained fit",
        )
    return _because(plain, reason)


def _blind(problem: Problem, hidden: NoSolutionError) -> Estimate:
    """What to do where the motion hides base parameters."""
    weighted = fit_weighted(problem, on_blind="infinite")
    links = [problem.layout.of_link(link) for link in problem.layout.links]
    stated = problem.prior is not None and all(not any(x != x for x in problem.prior[part]) for part in links)
    why = hidden.message.rstrip(".")
    if not stated:
        return _because(
            weighted,
            f"weighted least squares with infinite intervals for what the motion hides: {why}; there is no "
            "prior that could decide it",
        )
    entropic = replace(fit_entropic(problem, weights=weighted.weights), covariance=weighted.covariance)
    return _because(
        entropic,
        f"the entropic fit towards the prior, because the motion hides base parameters: {why}; the prior "
        "decides these, and their intervals are infinite",
    )


def _because(estimate: Estimate, reason: str) -> Estimate:
    finding = Finding(Severity.INFO, "method-chosen", f"{reason}.", "auto")
    return replace(
        estimate,
        findings=(finding, *estimate.findings),
        detail={**estimate.detail, "chosen": reason},
    )
