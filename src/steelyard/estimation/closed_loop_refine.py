"""One refinement from start to report: approach, search, covariance."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.estimation.closed_loop_response import JACOBIANS, LoopComparison, Response
from steelyard.estimation.refinement import Refinement
from steelyard.estimation.refinement_constraints import BLIND, Point, SearchBox, StepConstraint, Unconstrained
from steelyard.estimation.refinement_search import FRESH, SearchEnd, gauss_newton, triangle

TOLERANCE = 1e-4
"""Change of the simulated signals by a step that is none, relative to the residual, dimensionless."""
BUDGET = 30
"""Most steps tried."""
_APPROACH = 0.1
# The aim before what lies on the way: barely simulated is a bad place to start from.
_SHARES = (0.0, 1.0, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Search:
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
    search: Search,
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
