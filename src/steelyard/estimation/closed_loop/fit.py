r"""Closed-loop refinement: the parameters of which the simulated loop does what the real one did.

$$\hat\beta = \arg\min_\beta \sum_k \lVert W\,(\tau_m(t_k) - \tau_s(t_k; \beta)) \rVert^2$$

(Oaki et al. 2026, eq. (9), closed-loop input error). The controller is inside the simulation, so it corrects
for the motion that noise and delay really made, where a regression on measured accelerations is biased.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.closed_loop.constraints import (
    FeasibleLinks,
    Point,
    StepConstraint,
    feasible_links,
)
from steelyard.estimation.closed_loop.response import LoopComparison, Response
from steelyard.estimation.closed_loop.run import LoopRun
from steelyard.estimation.closed_loop.search import (
    BUDGET,
    TOLERANCE,
    Refinement,
    RefinementOutcome,
    RefinementSearch,
    refine,
    triangle,
)
from steelyard.estimation.equations import Rows
from steelyard.estimation.linear import settled_weights
from steelyard.estimation.noise import linear_covariance
from steelyard.estimation.physical import fit_lmi
from steelyard.finding import Finding, Severity
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.problem import Estimate, Problem
from steelyard.rollout import ClosedLoop
from steelyard.threads import with_one_blas_thread

INPUT_ERROR = "closed-loop input error"


@with_one_blas_thread
def fit_closed_loop_input(
    model: MinimalModel,
    runs: Sequence[LoopRun],
    loop: ClosedLoop,
    start: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    jacobian: str = "exact",
    constraint: StepConstraint | None = None,
    tolerance: float = TOLERANCE,
    budget: int = BUDGET,
    approach: bool = False,
) -> Refinement:
    """Refine base parameters by the torques of the closed loop (CLIE).

    A simulation that diverges ends a step, not the search; where the start itself diverges that is the
    outcome, with its reason.

    Args:
        model: the robot with its base parameters.
        runs: what was commanded and measured.
        loop: controller, clock and integration scheme.
        start: beta, shape (b,), SI; moved to what the constraint allows where it is not.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        jacobian: `exact`, by forward sensitivities; `didim`, which approaches with the inverse-dynamics
            regressor on the simulated motion and is polished by the exact one; or `differences`.
        constraint: where steps may go, such as a `SearchBox` or `feasible_links`; None for anywhere.
        tolerance: change of the simulated torques, relative to the residual, below which a step is none and
            the search has converged, dimensionless.
        budget: most steps tried.
        approach: whether a start that diverges is moved to the parameters that fit best with the references'
            accelerations, or part of the way where these diverge too; the share of the way is in
            `detail["approach"]`, why in `detail["approach_reason"]`.

    Raises:
        InputError: an argument does not fit; names it.
        NoSolutionError: the constraint leaves no room.
    """
    compared = {"tau": torque_weights(model, weights)}
    comparison = LoopComparison(model, runs, loop, compared)
    search = RefinementSearch(jacobian, constraint, tolerance, budget, approach=approach)
    return refine(INPUT_ERROR, comparison, start, search)[0]


def torque_weights(model: MinimalModel, weights: ArrayLike | None) -> Array:
    """The weights of torques, checked.

    Args:
        model: the robot.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

    Returns:
        The weights, shape (nv,), 1/(N·m) or 1/N.

    Raises:
        InputError: one is not positive.
    """
    return _weights(model, "weights", weights)


def _weights(model: MinimalModel, name: str, weights: ArrayLike | None) -> Array:
    nv = model.robot.nv
    w = np.ones(nv) if weights is None else checked(name, weights, (nv,))
    if not (w > 0.0).all():
        raise InputError("must be positive.", place=name)
    return w


# One refinement for each sampling interval, of the same runs.
#
# Oaki et al. (2026) refine at 10, 20, 40 and 80 ms, each from a start of its own. What the loop does at 20
# ms is the mean of what it does at 10 ms, derivatives included: sharing them, the coarser intervals cost a
# few simulations and no derivatives, and an interval whose own start cannot be simulated is not lost.

FACTORS = (1, 2, 4, 8)
"""Lengths of the blocks, in blocks of the runs: 10, 20, 40 and 80 ms for runs in blocks of 10 ms."""
SHARED_FRESH = 2e-3
"""Change of the signals up to which a shared Jacobian serves on, relative to them, dimensionless."""


@with_one_blas_thread
def refine_intervals(
    model: MinimalModel,
    runs: Sequence[LoopRun],
    loop: ClosedLoop,
    starts: Sequence[ArrayLike],
    *,
    factors: Sequence[int] = FACTORS,
    share: bool = True,
    weights: ArrayLike | None = None,
    jacobian: str = "exact",
    constraint: StepConstraint | None = None,
    tolerance: float = TOLERANCE,
    budget: int = BUDGET,
    approach: bool = False,
) -> tuple[Refinement, ...]:
    """Refine base parameters by the torques of the closed loop, in blocks of several lengths.

    Args:
        model: the robot with its base parameters.
        runs: what was commanded and measured, in the shortest blocks.
        loop: controller, clock and integration scheme.
        starts: beta for each length, each shape (b,), SI; when shared the first serves, and the others only
            where those before them could not be simulated.
        factors: lengths of the blocks, in blocks of the runs; when shared they increase, and each is a
            multiple of the first.
        share: whether a length starts where the first one ended, with its derivatives. Otherwise each has
            its own start and search, as in Oaki et al. (2026).
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        jacobian: as for `fit_closed_loop_input`.
        constraint: where steps may go; None for anywhere.
        tolerance: as for `fit_closed_loop_input`, dimensionless.
        budget: most steps tried, for each length.
        approach: as for `fit_closed_loop_input`.

    Returns:
        One refinement for each length.

    Raises:
        InputError: an argument does not fit; names it.
    """
    if len(starts) != len(factors) or not factors:
        raise InputError(f"{len(starts)} were given for {len(factors)} lengths.", place="starts")
    if share and any(a >= b or b % factors[0] for a, b in itertools.pairwise(factors)):
        raise InputError(f"{tuple(factors)} do not increase by multiples of the first.", place="factors")
    compared = {"tau": torque_weights(model, weights)}
    whole = LoopComparison(model, runs, loop, compared)
    search = RefinementSearch(jacobian, constraint, tolerance, budget, approach=approach)
    made: list[Refinement] = []
    first: tuple[int, LoopComparison, Point, Response] | None = None
    for factor, start in zip(factors, starts, strict=True):
        if share and first is not None:
            length, comparison, point, response = first
            ratio = factor // length
            known = comparison.joined(response, ratio)
            shared = replace(search, jacobian="exact", fresh=SHARED_FRESH)
            made.append(refine(INPUT_ERROR, comparison.coarser(ratio), point, shared, known)[0])
            continue
        comparison = whole.coarser(factor)
        refinement, end = refine(INPUT_ERROR, comparison, start, search)
        made.append(refinement)
        if end is not None:
            first = (factor, comparison, Point(refinement.values, refinement.parameters), end)
    return tuple(made)


# Closed-loop input error as an estimator: a problem, its runs and its loop become an estimate.
#
# It starts at the possible links that fit the prepared samples best, and every step ends at links that can
# exist. The residual in blocks still has a memory, so the covariance is that of the linearised estimate,
#
# $$\hat\beta - \beta \approx (J^T W^2 J)^{-1} J^T W^2 e,$$
#
# under noise e that is an autoregression at each joint.

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
    rule = feasible_links(model, rotor_floor=0.0)
    tolerance = NEGLIGIBLE * min(1.0, float(np.sqrt(model.size / comparison.measured.size)))
    search = RefinementSearch(constraint=rule, tolerance=tolerance, approach=True)
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


def _next_step(found: Refinement, rule: FeasibleLinks, response: Response | None) -> float | None:
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
