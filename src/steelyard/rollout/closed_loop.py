"""`ClosedLoop`: a controller, its clock, and how the time between its cycles is integrated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.control import Controller
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Robot

# Integration schemes, and how a delay divides the control cycle.


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
simulations of Oaki et al. 2026 are read here), Heun (order 2), the classical Runge-Kutta scheme (order 4)."""


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


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """How a robot is controlled and simulated.

    At the start of every cycle the controller reads the state and commands a torque. It reaches the joints
    `delay` later and is held until the next one arrives; until the first arrives, the first command acts too,
    as if the controller had held still before. A step of the integration never spans the arrival of a torque.

    Attributes:
        controller: the law.
        cycle: length of a control cycle, s.
        delay: from the measurement to the arrival of its torque, s.
        scheme: `euler-trapezoid` (order 1), `heun` (order 2) or `rk4` (order 4).
        steps_per_cycle: integration steps in a cycle; a delay that is no multiple of the step adds one.
    """

    controller: Controller
    cycle: float
    delay: float = 0.0
    scheme: str = "heun"
    steps_per_cycle: int = 1

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cycle) and self.cycle > 0.0):
            raise InputError(f"must be positive and finite, got {self.cycle} s.", place="cycle")
        made_for = self.controller.cycle
        if made_for is not None and not math.isclose(made_for, self.cycle, rel_tol=1e-9):
            raise InputError(
                f"is {self.cycle:g} s, but the controller is made for {made_for:g} s.", place="cycle"
            )
        if not (math.isfinite(self.delay) and self.delay >= 0.0):
            raise InputError(f"must be finite and not negative, got {self.delay} s.", place="delay")
        if self.scheme not in SCHEMES:
            raise UnknownNameError("scheme", self.scheme, SCHEMES)
        if isinstance(self.steps_per_cycle, bool) or not isinstance(self.steps_per_cycle, int):
            raise InputError(
                f"must be a whole number, got {self.steps_per_cycle!r}.", place="steps_per_cycle"
            )
        if self.steps_per_cycle < 1:
            raise InputError(f"must be at least 1, got {self.steps_per_cycle}.", place="steps_per_cycle")

    @property
    def coefficients(self) -> Scheme:
        """Those of the scheme."""
        return SCHEMES[self.scheme]

    @cached_property
    def timing(self) -> Timing:
        """The division of the control cycle."""
        return divide_cycle(self.cycle, self.delay, self.steps_per_cycle)

    def commands(self, robot: Robot) -> None:
        """Refuse a robot with other joints than the controller's.

        Args:
            robot: the robot to control.

        Raises:
            InputError: the joints differ, or one of them floats.
        """
        if robot.nv != len(robot.joints):
            raise InputError(
                f"'{robot.name}' has a joint with more than one degree of freedom.",
                place="robot",
                remedy="Only arms on a fixed base are simulated in closed loop.",
            )
        if self.controller.joints != robot.joint_names:
            raise InputError(
                f"it is for the joints {list(self.controller.joints)}, but '{robot.name}' has "
                f"{list(robot.joint_names)}.",
                place="controller",
            )
