r"""Gauss-Newton among simulated closed loops, damped where a step fails.

With residual r and derivatives J of the simulated signals a step solves

$$\min_x \lVert J\,(x - \beta) - r\rVert^2 + \lambda\,\lVert D\,(x - \beta)\rVert^2$$

over the allowed x, D the lengths of J's columns. $\lambda$ is zero as long as steps succeed; a step that
does not lower the squares, or that cannot be simulated, is asked again with more of it.

The search has converged when the step without damping changes the simulated signals by at most `tolerance`
of the residual, or would lower the squares by no more than round-off. A Jacobian serves on as long as the
signals have moved by less than `fresh` of themselves since it was found. On 110 s of a simulated CRANE-X7
with friction that the model lacks, 2e-3 left the parameters within 2e-4 (a tenth of a standard deviation) of
the optimum, 1e-4 within 2e-5, for two thirds of the derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.estimation.closed_loop_response import LoopComparison, Response
from steelyard.estimation.refinement import RefinementOutcome
from steelyard.estimation.refinement_constraints import Point, StepConstraint

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

    Returns:
        The end of the search.
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
