r"""Closed-loop refinement: the parameters of which the simulated loop does what the real one did.

$$\hat\beta = \arg\min_\beta \sum_k \lVert W\,(\tau_m(t_k) - \tau_s(t_k; \beta)) \rVert^2$$

(paper 004, (9), closed-loop input error). The controller is inside the simulation, so it corrects for the
motion that noise and delay really made, where a regression on measured accelerations is biased.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.estimation.closed_loop_refine import BUDGET, TOLERANCE, Search, refine
from steelyard.estimation.closed_loop_response import LoopComparison
from steelyard.estimation.closed_loop_run import LoopRun
from steelyard.estimation.refinement import Refinement
from steelyard.estimation.refinement_constraints import StepConstraint
from steelyard.identifiability import MinimalModel
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
        constraint: where steps may go, such as a `SearchBox` or `possible_links`; None for anywhere.
        tolerance: change of the simulated torques, relative to the residual, below which a step is none and
            the search has converged, dimensionless.
        budget: most steps tried.
        approach: whether a start that diverges is moved to the parameters that fit best with the references'
            accelerations, or part of the way where these diverge too; the share of the way is in
            `detail["approach"]`, why in `detail["approach_reason"]`.

    Returns:
        The refinement.

    Raises:
        InputError: an argument does not fit; names it.
        NoSolutionError: the constraint leaves no room.
    """
    compared = {"tau": torque_weights(model, weights)}
    comparison = LoopComparison(model, runs, loop, compared)
    search = Search(jacobian, constraint, tolerance, budget, approach=approach)
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
