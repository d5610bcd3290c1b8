"""Integration schemes, and how a delay divides the control cycle."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, read_only


class Scheme(NamedTuple):
    r"""A one-step scheme for $\dot q = v$, $\dot v = a(q, v, \tau)$ with the torque held.

    $$q_s = q + h c_s v_{s-1}, \quad v_s = v + h c_s a_{s-1}, \quad a_s = a(q_s, v_s, \tau),$$
    $$v^+ = v + h \sum_s w_s a_s, \qquad q^+ = q + h \sum_s w_s v_s + \lambda h^2 \sum_s w_s a_s$$

    Attributes:
        nodes: c, shape (stages,), dimensionless.
        weights: w, shape (stages,), dimensionless.
        lift: λ, dimensionless.
    """

    nodes: Array
    weights: Array
    lift: float


def _scheme(nodes: list[float], weights: list[float], lift: float = 0.0) -> Scheme:
    return Scheme(read_only(np.array(nodes)), read_only(np.array(weights)), lift)


SCHEMES: dict[str, Scheme] = {
    "euler-trapezoid": _scheme([0.0], [1.0], 0.5),
    "heun": _scheme([0.0, 1.0], [0.5, 0.5]),
    "rk4": _scheme([0.0, 0.5, 0.5, 1.0], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}
"""Schemes by name: velocity by explicit Euler and position by the trapezoid of velocities (order 1, as the
simulations of paper 004 are read here), Heun (order 2), the classical Runge-Kutta scheme (order 4)."""


class Timing(NamedTuple):
    """One control cycle in steps of equal length on either side of the instant when a new torque arrives.

    Attributes:
        lag: whole cycles by which the torque of the later part is late; the earlier part has one more.
        early_steps: steps before the new torque arrives; zero when it arrives with the cycle.
        early_step: their length, s.
        late_steps: steps after it.
        late_step: their length, s.
    """

    lag: int
    early_steps: int
    early_step: float
    late_steps: int
    late_step: float


# A delay this close to a whole number of cycles, in cycles, is one: it is the rounding of the user's numbers.
_WHOLE = 1e-9


def divide_cycle(cycle: float, delay: float, steps_per_cycle: int) -> Timing:
    """Divide the control cycle where the delayed torque arrives; no step is longer than cycle / steps.

    Args:
        cycle: length of a control cycle, s.
        delay: time from a measurement to the arrival of its torque, s.
        steps_per_cycle: integration steps of an undivided cycle.

    Returns:
        The division.
    """
    late = delay / cycle
    lag = math.floor(late + _WHOLE)
    early = late - lag
    if early <= _WHOLE:
        return Timing(lag, 0, 0.0, steps_per_cycle, cycle / steps_per_cycle)
    before = math.ceil(early * steps_per_cycle - _WHOLE)
    after = math.ceil((1.0 - early) * steps_per_cycle - _WHOLE)
    return Timing(lag, before, early * cycle / before, after, (1.0 - early) * cycle / after)
