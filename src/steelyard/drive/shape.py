"""The two numbers in which Stribeck friction is not linear."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.errors import InputError


@dataclass(frozen=True)
class StribeckShape:
    r"""How static friction fades with speed: $e^{-(|v|/v_s)^\delta}$.

    With $\delta = 1$ it is Tustin's exponential, with $\delta = 2$ the Gaussian. A smaller exponent fades
    faster below v_s and slower above.

    Attributes:
        velocity: v_s, speed at which 1/e of the excess is left, rad/s or m/s.
        exponent: δ, dimensionless.
    """

    velocity: float
    exponent: float

    def __post_init__(self) -> None:
        for name, value, unit in (
            ("velocity", self.velocity, " rad/s or m/s"),
            ("exponent", self.exponent, ""),
        ):
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}{unit}.", place=f"Stribeck {name}")
