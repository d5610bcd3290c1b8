"""The delay of a closed loop, found together with the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from steelyard.arrays import checked
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation.closed_loop_fit import INPUT_ERROR, torque_weights
from steelyard.estimation.closed_loop_refine import BUDGET, TOLERANCE, Search, refine
from steelyard.estimation.closed_loop_response import LoopComparison
from steelyard.estimation.closed_loop_run import LoopRun
from steelyard.estimation.refinement import Refinement
from steelyard.estimation.refinement_constraints import StepConstraint
from steelyard.identifiability import MinimalModel
from steelyard.rollout import ClosedLoop
from steelyard.threads import with_one_blas_thread

RESOLUTION = 2e-5
"""How well the delay is found, s."""


@with_one_blas_thread
def refine_delay(
    model: MinimalModel,
    runs: Sequence[LoopRun],
    loop: ClosedLoop,
    start: ArrayLike,
    bounds: tuple[float, float],
    *,
    weights: ArrayLike | None = None,
    constraint: StepConstraint | None = None,
    resolution: float = RESOLUTION,
) -> tuple[ClosedLoop, Refinement]:
    """Refine base parameters for the delay that leaves the least residual.

    Golden sections with parabolas (Brent) over the delay, each with a refinement of its own that starts from
    the best one so far. A delay whose loop cannot be simulated is worse than any that can.

    Args:
        model: the robot with its base parameters.
        runs: what was commanded and measured.
        loop: controller, clock and integration scheme; its delay is not used.
        start: beta, shape (b,), SI.
        bounds: least and largest delay, s.
        weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.
        constraint: where steps may go; None for anywhere.
        resolution: how well the delay is found, s.

    Returns:
        The loop with the delay found, and its refinement.

    Raises:
        InputError: the bounds are no interval from zero on, or the resolution is not positive.
        NoSolutionError: no delay within the bounds has a loop that can be simulated from the start.
    """
    low, high = bounds
    if not (0.0 <= low < high < np.inf):
        raise InputError(f"({low}, {high}) s is no interval from zero on.", place="bounds")
    if not resolution > 0.0:
        raise InputError(f"must be positive, got {resolution} s.", place="resolution")
    compared, search = {"tau": torque_weights(model, weights)}, Search("exact", constraint, TOLERANCE, BUDGET)
    beta = checked("start", start, (model.size,))
    best: tuple[ClosedLoop, Refinement] | None = None

    def left(delay: float) -> float:
        nonlocal best
        tried = replace(loop, delay=float(delay))
        begin = beta if best is None else best[1].values
        found, _ = refine(INPUT_ERROR, LoopComparison(model, runs, tried, compared), begin, search)
        if best is None or found.rms < best[1].rms:
            best = (tried, found)
        return found.rms if np.isfinite(found.rms) else float(np.finfo(float).max)

    minimize_scalar(left, bounds=(low, high), method="bounded", options={"xatol": resolution})
    if best is None or not np.isfinite(best[1].rms):
        reason = "" if best is None else best[1].reason
        raise NoSolutionError(
            f"no delay from {low:g} to {high:g} s can be simulated from the start: {reason}", place="start"
        )
    return best
