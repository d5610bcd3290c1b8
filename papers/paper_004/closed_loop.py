"""The closed-loop refinement of Oaki et al. (2026) where it differs: its step and its search box."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.errors import InputError
from steelyard.estimation.closed_loop.constraints import SearchBox
from steelyard.identifiable import MinimalModel
from steelyard.rollout import ClosedLoop

PAPER_STEP = 0.25e-3
"""Integration step, s."""


def paper_loop(loop: ClosedLoop) -> ClosedLoop:
    """The same loop, simulated as in the paper: velocity by Euler, position by the trapezoid, in 0.25 ms.

    Args:
        loop: controller and clock.

    Returns:
        The loop; its step is the longest that divides the cycle and does not exceed the paper's.
    """
    steps = max(1, -int(-loop.cycle * (1.0 - 1e-9) // PAPER_STEP))
    return replace(loop, scheme="euler-trapezoid", steps_per_cycle=steps)


def search_box(
    model: MinimalModel, start: ArrayLike, *, factor: float = 100.0, rotor_floor: float = 0.0
) -> SearchBox:
    r"""The box of the search: $\beta_0 \pm 100\,|\beta_0|$, rotor inertias on the positive side.

    Args:
        model: the base parameters.
        start: beta_0, shape (b,), SI; a parameter that starts at zero has no bounds.
        factor: half the width, relative to the start, dimensionless.
        rotor_floor: smallest rotor inertia where one stands for itself, kg·m² or kg.

    Returns:
        The box.

    Raises:
        InputError: the factor is not positive, or a rotor starts at the floor or below it.
    """
    beta = checked("start", start, (model.size,))
    if not (np.isfinite(factor) and factor > 0.0):
        raise InputError(f"must be positive, got {factor}.", place="factor")
    width = np.where(beta == 0.0, np.inf, factor * np.abs(beta))
    lower = beta - width
    rotors = np.array([name.endswith(".rotor") for name in model.names])
    if below := [model.names[k] for k in np.flatnonzero(rotors & (beta <= rotor_floor))]:
        raise InputError(f"{', '.join(below)} must start above {rotor_floor:g}.", place="start")
    lower[rotors] = np.maximum(lower[rotors], rotor_floor)
    return SearchBox(lower, beta + width)
