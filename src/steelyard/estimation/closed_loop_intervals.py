"""One refinement for each sampling interval, of the same runs.

Paper 004 refines at 10, 20, 40 and 80 ms, each from a start of its own. What the loop does at 20 ms is the
mean of what it does at 10 ms, derivatives included: sharing them, the coarser intervals cost a few
simulations and no derivatives, and an interval whose own start cannot be simulated is not lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from steelyard.errors import InputError
from steelyard.estimation.closed_loop_fit import INPUT_ERROR, torque_weights
from steelyard.estimation.closed_loop_refine import BUDGET, TOLERANCE, Search, refine
from steelyard.estimation.closed_loop_response import LoopComparison, Response
from steelyard.estimation.closed_loop_run import LoopRun
from steelyard.estimation.refinement import Refinement
from steelyard.estimation.refinement_constraints import Point, StepConstraint
from steelyard.identifiability import MinimalModel
from steelyard.rollout import ClosedLoop
from steelyard.threads import with_one_blas_thread

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
            its own start and search, as in paper 004.
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
    search = Search(jacobian, constraint, tolerance, budget, approach=approach)
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
