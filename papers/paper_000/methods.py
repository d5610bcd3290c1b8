"""The eleven methods of Table II as control laws.

The paper states none of the gains. Chosen here: K_r = 5 1/s and a tube of 0.016 rad/s for the robust law and
K_r = 5 1/s for the adaptive one; otherwise a bandwidth of 10 rad/s with critical damping, on the gears'
inertia, which is nearly all that the joints feel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paper_000.arm import (
    END_EFFECTOR,
    END_EFFECTOR_LOWER,
    END_EFFECTOR_UPPER,
    SPREAD,
    arm,
    end_effector,
    layout,
    nominal,
)
from paper_000.knowledge import Identified
from steelyard.arrays import Array
from steelyard.control import Controller, GravityPID, RobustTracking, Tube
from steelyard.control.adaptive_payload import AdaptivePayload
from steelyard.control.computed_torque import AdaptiveRobust

CYCLE = 1.0 / 4000.0
"""Of the controller, s (VI-A)."""
KR, RADIUS, ALPHA, REST = 5.0, 0.016, 1.0, 0.02
"""Of the robust law: K_r, 1/s; ε, rad/s; α, 1/s (ARMOUR's value); v_0, rad/s."""
BANDWIDTH = 10.0
"""rad/s."""
INTEGRAL, INTEGRAL_LIMIT = 0.2, 30.0
"""Integral gain over the cube of the bandwidth; most torque of the integral, N·m."""
ADAPTATION = np.array([20.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
"""Γ of adap-1."""
SIZE_ADAPTATION, LAYER = 2e4, 1e-4
"""γ and δ of adap-2."""


@dataclass(frozen=True)
class Method:
    """One row of Table II.

    Attributes:
        name: as the paper calls it.
        law: `robust`, `adaptive`, `adaptive-robust` or `gravity-pid`.
        model: what the law is told of the end effector: `empty`, `table` or `identified`.
        excitation: the motion before the task: ``, `optimised`, `random` or `fourier`.
    """

    name: str
    law: str
    model: str
    excitation: str = ""

    @property
    def learns(self) -> bool:
        """Whether the law goes on from what it learnt by itself during the excitation."""
        return self.law.startswith("adaptive") and bool(self.excitation)

    def controller(self, identified: Identified | None = None) -> Controller:
        """The law before its task.

        Args:
            identified: what is known of the end effector, where the method identifies it.

        Returns:
            The controller.
        """
        theta, half = nominal(), SPREAD * np.abs(nominal())
        ten = end_effector()
        if self.model == "table":
            theta[ten] = END_EFFECTOR
            half[ten] = np.maximum(END_EFFECTOR - END_EFFECTOR_LOWER, END_EFFECTOR_UPPER - END_EFFECTOR)
        elif self.model == "identified":
            assert identified is not None, f"{self.name} needs to know what was identified"
            theta[ten], half[ten] = identified.centre, identified.half_width
        elif self.law == "robust":
            half[:] = 0.0
        return self._law(theta, half)

    def _law(self, theta: Array, half: Array) -> Controller:
        known = (arm(), layout(), theta)
        gears = gear_inertias()
        if self.law == "robust":
            least = smallest_inertia()
            level = Tube.of_radius(RADIUS, least, KR).level
            return RobustTracking(
                *known, half, KR, level, least, alpha=ALPHA, rest_velocity=REST, cycle=CYCLE
            )
        if self.law == "adaptive":
            kr = np.full(len(gears), KR)
            return AdaptivePayload(*known, kr, 2.0 * BANDWIDTH * gears, ADAPTATION, cycle=CYCLE)
        if self.law == "adaptive-robust":
            one = np.ones(len(gears))
            gains = (BANDWIDTH**2 * one, 2.0 * BANDWIDTH * one)
            return AdaptiveRobust(*known, *gains, SIZE_ADAPTATION, LAYER, cycle=CYCLE)
        kp, ki, kd = BANDWIDTH**2, INTEGRAL * BANDWIDTH**3, 2.0 * BANDWIDTH
        most = np.full(len(gears), INTEGRAL_LIMIT)
        return GravityPID(*known, kp * gears, ki * gears, kd * gears, most, cycle=CYCLE)


METHODS = {
    method.name: method
    for method in (
        Method("ours", "robust", "identified", "optimised"),
        Method("wrong", "robust", "empty"),
        Method("conservative", "robust", "table"),
        Method("random", "robust", "identified", "random"),
        Method("adap-1", "adaptive", "empty"),
        Method("adap-1-excit", "adaptive", "empty", "optimised"),
        Method("adap-2", "adaptive-robust", "empty"),
        Method("adap-2-excit", "adaptive-robust", "empty", "optimised"),
        Method("grav-pid", "gravity-pid", "empty"),
        Method("grav-pid-ours", "gravity-pid", "identified", "optimised"),
        Method("grav-pid-excit", "gravity-pid", "identified", "fourier"),
    )
}
"""Table II in its order."""


def gear_inertias() -> Array:
    """Of every joint, shape (nv,), kg·m²."""
    return np.array([joint.drive.rotor for joint in arm().joints], dtype=float)


def smallest_inertia() -> float:
    """What no mass matrix of any arm within the spread falls below, kg·m²: that of the lightest gear."""
    return float((1.0 - SPREAD) * gear_inertias().min())
