r"""Closed-loop input error as an estimator: a problem, its runs and its loop become an estimate.

It starts at the possible links that fit the prepared samples best, and every step ends at links that can
exist. The residual in blocks still has a memory, so the covariance is that of the linearised estimate,

$$\hat\beta - \beta \approx (J^T W^2 J)^{-1} J^T W^2 e,$$

under noise e that is an autoregression at each joint.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.closed_loop_fit import INPUT_ERROR
from steelyard.estimation.closed_loop_refine import Search, refine
from steelyard.estimation.closed_loop_response import LoopComparison, Response
from steelyard.estimation.closed_loop_run import LoopRun
from steelyard.estimation.lmi import fit_lmi
from steelyard.estimation.noise_covariance import linear_covariance
from steelyard.estimation.refinement import Refinement, RefinementOutcome
from steelyard.estimation.refinement_constraints import Point
from steelyard.estimation.refinement_possible import PossibleLinks, possible_links
from steelyard.estimation.refinement_search import triangle
from steelyard.estimation.weighted import settled_weights
from steelyard.estimation.weighted_rows import Rows
from steelyard.finding import Finding, Severity
from steelyard.identifiability import minimal_model
from steelyard.problem import Estimate, Problem
from steelyard.rollout import ClosedLoop
from steelyard.threads import with_one_blas_thread

SIMULATED_TERMS = ("viscous", "coulomb", "offset", "rotor")
"""Drive terms of which a simulated loop has derivatives."""
NEGLIGIBLE = 0.05
"""Change of the simulated torques by a step that is none, in units of what noise alone changes them by, the
square root of parameters per measurement; dry friction makes the squares too rough for much less."""
WITHIN_NOISE = 0.5
"""Step, in the same units, that a stalled search may leave undone: the answer is as good as its data."""


@with_one_blas_thread
def fit_closed_loop(problem: Problem, runs: Sequence[LoopRun], loop: ClosedLoop) -> Estimate:
    r"""Refine the possible links that fit best until the simulated loop commands what the real one did.

    Joints weigh by the noise that weighted least squares finds. Where the start cannot be simulated the
    search begins nearer to what the references' accelerations suggest, see `fit_closed_loop_input`.

    Args:
        problem: the question, with the samples that give the start.
        runs: what was commanded and measured.
        loop: controller, clock and delay.

    Returns:
        The estimate, with `parameters`. A search that did not converge is told in its findings and in
        `detail["outcome"]` and `detail["reason"]`; where nothing could be simulated it is the start.
        `detail["next_step"]` is the step left undone, in units of `NEGLIGIBLE`.
        `detail["rms_before"]` and `detail["rms_after"]` are the rms of measured minus simulated torques in
        blocks of each degree of freedom, in N·m or N; None where there are none.

    Raises:
        InputError: runs or loop are of another robot, or the layout has a drive term without derivatives.
        NoSolutionError: the samples are too few, or no links are possible.
    """
    _refuse_terms(problem)
    weights = settled_weights(problem, "infinite")[0]
    begin = fit_lmi(problem, weights=weights)
    model = minimal_model(problem.robot, problem.layout)
    phi = begin.representative
    comparison = LoopComparison(model, runs, loop, {"tau": weights})
    # Rotors may vanish: a floor would be an assumption about drives nobody described.
    rule = possible_links(model, rotor_floor=0.0)
    tolerance = NEGLIGIBLE * min(1.0, float(np.sqrt(model.size / comparison.measured.size)))
    search = Search(constraint=rule, tolerance=tolerance, approach=True)
    found, response = refine(INPUT_ERROR, comparison, Point(model.of_standard(phi), phi), search)
    before, after = _rms(comparison, found.start), found.residual.get("tau")
    estimate = found.estimate(problem.base)
    if (covariance := _covariance(found, comparison, response, weights)) is not None:
        S = problem.base.matrix @ model.basis
        estimate = replace(estimate, covariance=S @ covariance @ S.T)
    detail = {
        **estimate.detail,
        "cycle": loop.cycle,
        "rms_before": None if before is None else before.tolist(),
        "rms_after": None if after is None else after.tolist(),
        "next_step": _next_step(found, rule, response),
    }
    if response is None or after is None:
        # Nothing was simulated: what is known is what the samples say.
        kept = (*begin.findings, *estimate.findings)
        return replace(begin, method=INPUT_ERROR, findings=kept, detail={**begin.detail, **detail})
    return replace(estimate, weights=weights, findings=_told(estimate.findings, detail), detail=detail)


def within_noise(detail: Mapping[str, Any]) -> bool:
    """Whether one more step would change less than noise does, by an estimate's detail.

    Args:
        detail: of an estimate by `fit_closed_loop`.

    Returns:
        Whether it would.
    """
    left = detail["next_step"]
    return left is not None and bool(left <= WITHIN_NOISE)


def _told(findings: Sequence[Finding], detail: Mapping[str, Any]) -> tuple[Finding, ...]:
    """How the search went, each at its weight."""
    told = list(findings)
    if detail["outcome"] != RefinementOutcome.CONVERGED and within_noise(detail):
        told = [replace(x, severity=Severity.INFO) if x.code == "not-converged" else x for x in told]
    if detail["approach_reason"]:
        share = f"{100 * detail['approach']:.0f} % of the way"
        message = (
            f"the links that fit the samples best cannot be simulated ({detail['approach_reason']}) The "
            f"search began {share} to those that fit best with the references' accelerations."
        )
        told.append(Finding(Severity.INFO, "start-moved", message, "search"))
    return tuple(told)


def _next_step(found: Refinement, rule: PossibleLinks, response: Response | None) -> float | None:
    r"""Change of torques that one more step asks for, over what noise alone makes of it, $\sigma\sqrt b$."""
    if response is None or response.jacobian is None:
        return None
    R, z = triangle(response.jacobian, response.residual)
    try:
        goal = rule.best(R, z, Point(found.values, found.parameters))
    except NoSolutionError:
        return None
    n, b = response.jacobian.shape
    noise = np.sqrt(response.squares * b / max(n - b, 1))
    return float(np.linalg.norm(R @ (goal.beta - found.values)) / noise) if noise > 0.0 else 0.0


def _refuse_terms(problem: Problem) -> None:
    terms = [term for term in problem.layout.drive if term not in SIMULATED_TERMS]
    if terms:
        raise InputError(
            f"the terms {', '.join(terms)} have no derivatives in a simulated loop.",
            place="layout",
            remedy=f"Leave them out; {', '.join(SIMULATED_TERMS)} can be refined.",
        )


def _rms(comparison: LoopComparison, beta: Array) -> Array | None:
    """The rms of measured minus simulated torques of base parameters, shape (nv,), N·m or N."""
    try:
        signals = comparison.at(beta).signals
    except NoSolutionError:
        return None
    return np.asarray(np.sqrt(((comparison.measured - signals) ** 2).mean(axis=0))[0])


def _covariance(
    found: Refinement, comparison: LoopComparison, response: Response | None, weights: Array
) -> Array | None:
    """The covariance of beta under coloured noise; None where the runs are blind or were not simulated."""
    if response is None or response.jacobian is None or found.covariance is None:
        return None
    if not np.isfinite(found.covariance).all():
        return None
    nv, b = weights.size, found.values.size
    J = response.jacobian.reshape(-1, nv, b) / weights[:, None]
    left = response.residual.reshape(-1, nv) / weights
    ends = [0, *itertools.accumulate(run.blocks for run in comparison.runs)]
    parts = [slice(first, last) for first, last in itertools.pairwise(ends)]

    def rows() -> Iterator[Rows]:
        for part in parts:
            yield Rows(J[part], J[part], left[part])

    spare = max(response.residual.size - b, 1)
    gain = found.covariance * (spare / response.squares) if response.squares > 0.0 else found.covariance
    residual = [left[part] for part in parts]
    return linear_covariance(rows, weights, gain, residual, "autoregressive")[0]
