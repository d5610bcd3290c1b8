r"""What a payload can be before it is weighed: how heavy at most, and inside which ball.

A body of mass density $\rho \ge 0$ inside the ball of radius $\ell$ about $c$ satisfies, beside
$J(\varphi) \succeq 0$,

$$\int \rho(x)\,(\ell^2 - |x - c|^2)\,dx = \ell^2 m - \operatorname{tr}\Sigma + 2\,c^T h - m\,|c|^2 \ge 0,$$

which is linear in the ten numbers: $\operatorname{tr}\Sigma = \tfrac12 \operatorname{tr} I$ (Wensing, Kim and
Slotine 2018). It bounds every moment of inertia where the data does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

HEAVIEST = 100.0
"""Mass that no payload exceeds where nothing is stated, kg."""
EXTENT = 0.5
"""Radius of the ball that holds a payload where nothing is stated, m."""


@dataclass(frozen=True, eq=False)
class PayloadPrior:
    """What a payload can be.

    Attributes:
        heaviest: largest mass, kg.
        extent: radius of a ball that holds the payload, m.
        centre: of the ball in the payload's frame, shape (3,), m.
    """

    heaviest: float = HEAVIEST
    extent: float = EXTENT
    centre: Array = (0.0, 0.0, 0.0)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name in ("heaviest", "extent"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}.", place=name)
        object.__setattr__(self, "centre", read_only(checked("centre", self.centre, (3,))))

    @property
    def rows(self) -> tuple[Array, Array]:
        """A and b of the linear conditions A phi <= b, shapes (2, 10) and (2,), SI: mass, then the ball."""
        c, e = self.centre, self.extent
        A = np.zeros((2, 10))
        A[0, 0] = 1.0
        A[1, 0] = c @ c - e**2
        A[1, 1:4] = -2.0 * c
        A[1, [4, 6, 9]] = 0.5
        return A, np.array([self.heaviest, 0.0])
