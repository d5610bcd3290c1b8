r"""How far a robot under a robust law may be from its plan: two balls that no error leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.errors import InputError

_OUTWARD = 1.0 + 1e-12


@dataclass(frozen=True)
class Tube:
    r"""All errors that a robust law allows, while the parameters are inside their box.

    With the error $e = q_d - q$ and $r = \dot e + K_r e$, the law keeps $\tfrac12 r^T H r \le V_M$ and so
    $\|r\| \le \epsilon = \sqrt{2 V_M / \sigma_m}$. As e is r behind a first-order filter,
    $\tfrac{d}{dt}\|e\| \le \|r\| - K_r\|e\|$: once $\|e\| \le \epsilon/K_r$ it stays so, and
    $\|\dot e\| \le 2\epsilon$.

    Attributes:
        level: V_M, J.
        smallest_inertia: σ_m, what no eigenvalue of H is below at any position and for any parameters of the
            box, kg·m² or kg.
        kr: K_r, 1/s.
    """

    level: float
    smallest_inertia: float
    kr: float

    def __post_init__(self) -> None:
        for name in ("level", "smallest_inertia", "kr"):
            value = getattr(self, name)
            if not 0.0 < value < math.inf:
                raise InputError(f"must be above zero and finite, got {value}.", place=name)

    @classmethod
    def of_radius(cls, radius: float, smallest_inertia: float, kr: float) -> Tube:
        """The tube with a wished bound of r.

        Args:
            radius: ε, rad/s or m/s.
            smallest_inertia: σ_m, kg·m² or kg.
            kr: K_r, 1/s.

        Returns:
            The tube.
        """
        return cls(0.5 * smallest_inertia * radius**2, smallest_inertia, kr)

    @property
    def radius(self) -> float:
        """ε, what r does not exceed in length, rounded up, rad/s or m/s."""
        return math.sqrt(2.0 * self.level / self.smallest_inertia) * _OUTWARD

    @property
    def position(self) -> float:
        """ε / K_r, what no position error exceeds in length, rounded up, rad or m."""
        return self.radius / self.kr * _OUTWARD

    @property
    def velocity(self) -> float:
        """2 ε, what no velocity error exceeds in length, rad/s or m/s."""
        return 2.0 * self.radius * _OUTWARD
