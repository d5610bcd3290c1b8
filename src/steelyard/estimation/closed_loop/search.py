"""`Refinement`: Gauss-Newton among simulated closed loops, where it ended, why, and how sure it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.estimation.closed_loop.constraints import (
    BLIND,
    Point,
    SearchBox,
    StepConstraint,
    Unconstrained,
)
from steelyard.estimation.closed_loop.response import JACOBIANS, LoopComparison, Response
from steelyard.finding import Finding, Severity
from steelyard.identifiable import BaseParameters, MinimalModel
from steelyard.problem import Estimate

# The result: where the search ended, why, and its covariance


class RefinementOutcome(StrEnum):
    """How a refinement ended."""

    CONVERGED = "converged"
    STALLED = "stalled"
    DIVERGED = "diverged at the start"
    BUDGET = "budget"


@dataclass(frozen=True, eq=False)
class Refinement:
    """Parameters of which the simulated closed loop is nearest to the measured one.

    A search that did not converge is an answer too: the best point it reached, with the reason. Where the
    start itself cannot be simulated the values are the start's, and residual and history are empty.

    Attributes:
        method: name of the estimator.
        model: the base parameters.
        outcome: how the search ended.
        reason: in words, where it did not converge; empty where it did.
        values: beta, shape (b,), SI.
        start: where the search began, after it was moved to what is allowed, shape (b,), SI.
        covariance: of beta, from the residual as white noise and the last Jacobian, constraints aside, shape
            (b, b), SI; infinite variances where the data is blind; None where nothing could be simulated.
        parameters: a full vector of possible links behind beta, shape (p,), SI; None where not asked for.
        residual: rms of measured minus simulated by signal (`tau`, or `q` and `v`), each shape (nv,), SI.
        history: weighted rms residual at the start and after every accepted step, shape (k,), SI.
        samples: number of blocks compared.
        condition: condition number of the last Jacobian with columns scaled to unit norm, dimensionless.
        iterations: steps tried.
        simulations: runs simulated.
        sensitivity_runs: runs simulated with their derivatives.
        recordings: digests of the data used.
        detail: settings, as values JSON can hold.
        seconds: processor time of the search, s; not part of the result.
    """

    method: str
    model: MinimalModel
    outcome: RefinementOutcome
    reason: str
    values: Array
    start: Array
    covariance: Array | None
    parameters: Array | None
    residual: Mapping[str, Array]
    history: Array
    samples: int
    condition: float
    iterations: int
    simulations: int
    sensitivity_runs: int
    recordings: tuple[str, ...] = ()
    detail: Mapping[str, object] = field(default_factory=dict)
    seconds: float = field(default=float("nan"), compare=False)

    def __post_init__(self) -> None:
        b, p = self.model.size, self.model.layout.size
        keep_checked(self, (b,), "values", "start")
        keep_checked(self, (b, b), "covariance", finite=False, optional=True)
        keep_checked(self, (p,), "parameters", optional=True)
        keep_checked(self, ("k",), "history")
        residual = {name: read_only(value) for name, value in self.residual.items()}
        object.__setattr__(self, "residual", MappingProxyType(residual))
        object.__setattr__(self, "detail", MappingProxyType(dict(self.detail)))

    @property
    def converged(self) -> bool:
        """Whether the search ended at an optimum."""
        return self.outcome is RefinementOutcome.CONVERGED

    @property
    def rms(self) -> float:
        """Weighted rms residual at the end, SI; infinite where nothing could be simulated."""
        return float(self.history[-1]) if self.history.size else float("inf")

    @property
    def deviations(self) -> Array:
        """Standard deviations of beta, shape (b,), SI; infinite where nothing is known of them."""
        if self.covariance is None:
            return np.full(self.model.size, np.inf)
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def representative(self) -> Array:
        """A full vector that predicts what beta predicts, shape (p,), SI; possible links where there are."""
        return self.model.standard(self.values) if self.parameters is None else self.parameters

    def estimate(self, base: BaseParameters) -> Estimate:
        r"""The refinement as an `Estimate` of the layout's base parameters, for audit, export and report.

        With a reduction the layout has more of them than beta. Their values are those of the full vector
        behind beta, and their covariance $K S\,\Sigma\,S^T K^T$ says nothing of what the reduction assumes.

        Args:
            base: the base parameters of the layout, K, such as `problem.base`.

        Returns:
            The estimate; its findings say how the search ended where it did not converge.
        """
        phi, spread = self.representative, base.matrix @ self.model.basis
        covariance = None
        if self.covariance is not None and np.isfinite(self.covariance).all():
            covariance = spread @ self.covariance @ spread.T
        nv = self.model.robot.nv
        warning = Finding(Severity.WARNING, "not-converged", f"{self.outcome.value}: {self.reason}", "search")
        return Estimate(
            method=self.method,
            layout=self.model.layout,
            base=base,
            values=base.matrix @ phi,
            residual=np.asarray(self.residual.get("tau", np.zeros(nv))),
            samples=self.samples,
            condition=self.condition,
            covariance=covariance,
            parameters=phi,
            findings=() if self.converged else (warning,),
            recordings=self.recordings,
            detail={
                **self.detail,
                "outcome": self.outcome.value,
                "reason": self.reason,
                "iterations": self.iterations,
                "simulations": self.simulations,
                "sensitivity_runs": self.sensitivity_runs,
                "history": self.history.tolist(),
            },
        )


# Gauss-Newton among simulated closed loops, damped where a step fails.
#
# With residual r and derivatives J of the simulated signals a step solves
#
# $$\min_x \lVert J\,(x - \beta) - r\rVert^2 + \lambda\,\lVert D\,(x - \beta)\rVert^2$$
#
# over the allowed x, D the lengths of J's columns. $\lambda$ is zero as long as steps succeed; a step that
# does not lower the squares, or that cannot be simulated, is asked again with more of it.
#
# The search has converged when the step without damping changes the simulated signals by at most `tolerance`
# of the residual, or would lower the squares by no more than round-off. A Jacobian serves on as long as the
# signals have moved by less than `fresh` of themselves since it was found. On 110 s of a simulated CRANE-X7
# with friction that the model lacks, 2e-3 left the parameters within 2e-4 (a tenth of a standard deviation)
# of the optimum, 1e-4 within 2e-5, for two thirds of the derivatives.

FRESH = 1e-4
"""Change of the signals, relative to them, up to which a Jacobian serves on, dimensionless."""
NEGLIGIBLE = 1e-7
"""Residual that is as good as none, relative to the signals, dimensionless."""
_ROUND_OFF = 1e-12
_WORTH = 1e-4
_FIRST_DAMPING = 1e-2
_LEAST_DAMPING = 1e-4
_NEARLY_SINGULAR = 1e-5


@dataclass(frozen=True, eq=False)
class SearchEnd:
    """Where a search ended.

    Attributes:
        point: the best point.
        start: where it began.
        response: what the loop does there, with the last Jacobian; None where the start diverged.
        outcome: how it ended.
        reason: why, where it did not converge.
        history: rms residual at the start and after every accepted step.
        iterations: steps tried.
    """

    point: Point
    start: Point
    response: Response | None
    outcome: RefinementOutcome
    reason: str
    history: tuple[float, ...]
    iterations: int


def gauss_newton(
    comparison: LoopComparison,
    constraint: StepConstraint,
    start: Point,
    *,
    jacobian: str,
    tolerance: float,
    budget: int,
    fresh: float = FRESH,
    damped: bool = True,
    known: Response | None = None,
) -> SearchEnd:
    """Search from a start that is allowed.

    Args:
        comparison: the loop and what was measured.
        constraint: where steps may go.
        start: an allowed point.
        jacobian: how derivatives are found, one of `JACOBIANS`.
        tolerance: change of the signals, relative to the residual, below which a step is none, dimensionless.
        budget: most steps tried.
        fresh: change of the signals, relative to them, up to which a Jacobian serves on, dimensionless.
        damped: whether a step that failed is tried again with damping; otherwise the search stalls there.
        known: what the loop does at a start, with its derivatives, where that is known.
    """
    try:
        here = comparison.at(start.beta, jacobian) if known is None else known
    except NoSolutionError as error:
        return SearchEnd(start, start, None, RefinementOutcome.DIVERGED, str(error), (), 0)
    point, linear, history, damping, failure = start, here, [here.rms], 0.0, ""

    def ended(outcome: RefinementOutcome, reason: str = "") -> SearchEnd:
        at = Response(here.beta, here.signals, here.residual, linear.jacobian)
        return SearchEnd(point, start, at, outcome, reason, tuple(history), tried)

    tried = 0
    while True:
        R, z = triangle(linear.jacobian, here.residual)
        D = np.sqrt(damping) * np.linalg.norm(R, axis=0)
        try:
            goal = constraint.best(np.vstack([R, np.diag(D)]), np.append(z, 0.0 * D), point)
        except NoSolutionError as error:
            return ended(RefinementOutcome.STALLED, f"no step was found: {error}")
        move = R @ (goal.beta - here.beta)
        promised = float(z @ z - (z - move) @ (z - move))
        least = tolerance * max(np.sqrt(here.squares), NEGLIGIBLE * comparison.size)
        if np.linalg.norm(move) <= least or abs(promised) <= _ROUND_OFF * here.squares:
            if damping > 0.0:
                return ended(RefinementOutcome.STALLED, failure)
            return ended(RefinementOutcome.CONVERGED)
        if tried == budget:
            return ended(RefinementOutcome.BUDGET, f"not converged after {budget} steps.")
        tried += 1
        stale = here.beta is not linear.beta
        far = float(np.linalg.norm(R @ (goal.beta - linear.beta))) > fresh * comparison.size
        # Where the Jacobian will be wanted anew it comes with the trial, unless that is likely to fail.
        together = far and damping == 0.0 and jacobian != "differences"
        gained = -np.inf
        try:
            trial = comparison.at(goal.beta, jacobian if together else None)
            gained = (here.squares - trial.squares) / promised if promised > 0.0 else -np.inf
            failure = f"the squares do not fall along a step: by {gained:.2g} of what it promised."
        except NoSolutionError as error:
            failure = str(error)
        worth = gained > _WORTH
        if worth:
            here, point = trial, goal
            history.append(here.rms)
            damping = 0.1 * damping if gained > 0.5 else damping
            damping = damping if damping >= _LEAST_DAMPING else 0.0
            linear = here if together else linear
        elif not stale:
            if not damped:
                return ended(RefinementOutcome.STALLED, failure)
            damping = max(10.0 * damping, _FIRST_DAMPING)
        if (worth and far and not together) or (stale and not worth):
            try:
                here = linear = comparison.at(here.beta, jacobian)
            except NoSolutionError as error:
                return ended(RefinementOutcome.STALLED, f"no derivatives were found: {error}")


def triangle(jacobian: Array | None, residual: Array) -> tuple[Array, Array]:
    r"""The triangle R of J and $z = Q^T r$, by the normal equations unless these would lose digits.

    Args:
        jacobian: J, shape (n, b), SI.
        residual: r, shape (n,), SI.

    Returns:
        R, shape (b, b), SI, and z, shape (b,), SI.
    """
    J = np.zeros((residual.size, 0)) if jacobian is None else jacobian
    lengths = np.linalg.norm(J, axis=0)
    s = np.where(lengths > 0.0, lengths, 1.0)
    try:
        C = scipy.linalg.cholesky((J.T @ J) / np.outer(s, s))
        if np.abs(np.diag(C)).min(initial=1.0) > _NEARLY_SINGULAR:
            z = scipy.linalg.solve_triangular(C, (J.T @ residual) / s, trans="T")
            return np.asarray(C * s), np.asarray(z)
    except scipy.linalg.LinAlgError:
        pass
    b = J.shape[1]
    whole = np.asarray(np.linalg.qr(np.column_stack([J / s, residual]), mode="r"))[:b]
    return whole[:, :b] * s, whole[:, b]


# One refinement from start to report: approach, search, covariance.

TOLERANCE = 1e-4
"""Change of the simulated signals by a step that is none, relative to the residual, dimensionless."""
BUDGET = 30
"""Most steps tried."""
_APPROACH = 0.1
# The aim before what lies on the way: barely simulated is a bad place to start from.
_SHARES = (0.0, 1.0, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class RefinementSearch:
    """How a refinement searches, see `fit_closed_loop_input`.

    Attributes:
        jacobian: `exact`, `didim` (polished by the exact one) or `differences`.
        constraint: where steps may go; None for anywhere.
        tolerance: when it has converged, dimensionless.
        budget: most steps tried.
        fresh: change of the signals, relative to them, up to which a Jacobian serves on, dimensionless.
        approach: whether a start that diverges is replaced by one that does not.
    """

    jacobian: str = "exact"
    constraint: StepConstraint | None = None
    tolerance: float = TOLERANCE
    budget: int = BUDGET
    fresh: float = FRESH
    approach: bool = False

    def __post_init__(self) -> None:
        if self.jacobian not in JACOBIANS:
            raise UnknownNameError("jacobian", self.jacobian, JACOBIANS)
        if not 0.0 < self.tolerance < 1.0:
            raise InputError(f"must lie between 0 and 1, got {self.tolerance}.", place="tolerance")
        if isinstance(self.budget, bool) or not isinstance(self.budget, int) or self.budget < 1:
            raise InputError(f"must be a whole number from 1 on, got {self.budget!r}.", place="budget")


def refine(
    method: str,
    comparison: LoopComparison,
    start: ArrayLike | Point,
    search: RefinementSearch,
    known: Response | None = None,
) -> tuple[Refinement, Response | None]:
    """Search from a start, and report.

    Args:
        method: name of the estimator.
        comparison: the loop and what was measured.
        start: beta, shape (b,), SI; or an allowed point, which is not moved.
        search: how to search.
        known: what the loop does at the start, with its derivatives, where that is known.

    Returns:
        The refinement, and what the loop does at its end; None where the start diverged.
    """
    began, counted = time.process_time(), (comparison.simulations, comparison.sensitivity_runs)
    rule = Unconstrained() if search.constraint is None else search.constraint
    R, z = comparison.along_references()
    if isinstance(start, Point):
        beta, point = start.beta, start
    else:
        beta = checked("start", start, (comparison.model.size,))
        point = rule.begin(beta, R)
    share, reason = 0.0, ""
    if search.approach and known is None:
        aim = rule.best(R, z - R @ point.beta, point)
        point, share, reason = _approached(comparison, point, aim)
    before: SearchEnd | None = None
    if search.jacobian == "didim":
        # It leads beside the optimum, where the squares rise again: it is left as soon as a step fails.
        before = gauss_newton(
            comparison,
            rule,
            point,
            jacobian="didim",
            tolerance=max(_APPROACH, search.tolerance),
            budget=search.budget,
            fresh=search.fresh,
            damped=False,
        )
    end = before
    if end is None or end.response is not None:
        end = gauss_newton(
            comparison,
            rule,
            point if before is None else before.point,
            jacobian="differences" if search.jacobian == "differences" else "exact",
            tolerance=search.tolerance,
            budget=search.budget,
            fresh=search.fresh,
            known=known if before is None else None,
        )
    tried = end.iterations + (before.iterations if before is not None and before is not end else 0)
    history = end.history if before is None or before is end else (*before.history, *end.history[1:])
    spread, condition = _spread(end.response)
    refinement = Refinement(
        method=method,
        model=comparison.model,
        outcome=end.outcome,
        reason=end.reason,
        values=end.point.beta,
        start=point.beta,
        covariance=spread,
        parameters=end.point.parameters,
        residual=_residual(comparison, end.response),
        history=np.array(history),
        samples=len(comparison.measured),
        condition=condition,
        iterations=tried,
        simulations=comparison.simulations - counted[0],
        sensitivity_runs=comparison.sensitivity_runs - counted[1],
        recordings=tuple(run.recording for run in comparison.runs if run.recording),
        detail={
            "jacobian": search.jacobian,
            "constraint": rule.name,
            "tolerance": search.tolerance,
            "fresh": search.fresh,
            "scheme": comparison.loop.scheme,
            "steps_per_cycle": comparison.loop.steps_per_cycle,
            "delay": comparison.loop.delay,
            "cycles_in_a_block": [run.average for run in comparison.runs],
            "start_moved": not np.array_equal(point.beta, beta),
            "at_bounds": _at_bounds(comparison, rule, end.point.beta),
            "approach": share,
            "approach_reason": reason,
        },
        seconds=time.process_time() - began,
    )
    return refinement, end.response


def _at_bounds(comparison: LoopComparison, rule: StepConstraint, beta: Array) -> list[str]:
    """Parameters that a search box holds back."""
    if not isinstance(rule, SearchBox):
        return []
    held = (beta <= rule.lower) | (beta >= rule.upper)
    return [comparison.model.names[k] for k in np.flatnonzero(held)]


def _approached(comparison: LoopComparison, start: Point, aim: Point) -> tuple[Point, float, str]:
    """A start, or else an aim, or else a point between that can be simulated; its share, and why it moved.

    The way is straight, so it stays in a convex set. Where nothing on it can be simulated the start is kept.
    """
    reason = ""
    for share in _SHARES:
        full = None
        if start.parameters is not None and aim.parameters is not None:
            full = start.parameters + share * (aim.parameters - start.parameters)
        point = Point(start.beta + share * (aim.beta - start.beta), full) if share else start
        try:
            comparison.at(point.beta)
        except NoSolutionError as error:
            reason = reason or str(error)
        else:
            return point, share, reason
    return start, 0.0, reason


def _residual(comparison: LoopComparison, response: Response | None) -> dict[str, Array]:
    if response is None:
        return {}
    rms = np.sqrt(((comparison.measured - response.signals) ** 2).mean(axis=0))
    return dict(zip(comparison.weights, rms, strict=True))


def _spread(response: Response | None) -> tuple[Array | None, float]:
    r"""The covariance $\sigma^2 (J^T J)^{-1}$, infinite where J is blind, and J's condition number."""
    if response is None or response.jacobian is None:
        return None, float("inf")
    n, b = response.jacobian.shape
    R, _ = triangle(response.jacobian, response.residual)
    lengths = np.linalg.norm(R, axis=0)
    s = np.where(lengths > 0.0, lengths, 1.0)
    _, sizes, Vt = np.linalg.svd(R / s)
    seen = sizes > BLIND * sizes[0]
    G = (Vt[seen].T / sizes[seen]) / s[:, None]
    covariance = response.squares / max(n - b, 1) * (G @ G.T)
    blind = (np.abs(Vt[~seen]) > np.sqrt(BLIND)).any(axis=0)
    covariance[blind, :] = covariance[:, blind] = 0.0
    covariance[blind, blind] = np.inf
    return covariance, float(sizes[0] / sizes[-1]) if seen.all() else float("inf")
