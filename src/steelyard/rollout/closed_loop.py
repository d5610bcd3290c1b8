"""`ClosedLoop`: a controller, its clock, and how the time between its cycles is integrated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from steelyard.control import Controller
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Robot
from steelyard.rollout.timing import SCHEMES, Scheme, Timing, divide_cycle


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
