r"""The tube around a reference that a robust tracking law keeps.

With $V_M$ the level of $V = \tfrac12 r^T H r$ that is never exceeded and $\sigma_m$ a lower bound of the
smallest eigenvalue of H at all poses and for all parameters of the box, $\|r\| \le \varepsilon =
\sqrt{2 V_M / \sigma_m}$. The position error is $\dot e = r - K_r e$, a filter of r, so once
$\|e\| \le \varepsilon / K_r$ it stays so, and

$$\|e\| \le \frac{\varepsilon}{K_r}, \quad \|\dot e\| \le 2\varepsilon, \quad \|v_a - v_d\| \le \varepsilon,
  \quad \|a_a - a_d\| \le 2 K_r \varepsilon.$$

These are balls, since $K_r$ is one number for all joints. They hold from a start with $V \le V_M$ and
$\|e\| \le \varepsilon / K_r$, for instance on the reference. At a change of plan e and r are continuous if
position and velocity of the reference are (its acceleration may jump), so the tube goes on. It does at a
change of the box too, with the same $K_r$, if the new level and radius are not below the old ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.control.arm_law import positive_number

_OUTWARD = 1.0 + 1e-12


@dataclass(frozen=True)
class Tube:
    """How far the arm can be from its reference, Euclidean norms over all joints.

    Attributes:
        level: V_M, J.
        smallest_inertia: σ_m, kg·m² or kg.
        kr: K_r, 1/s.
    """

    level: float
    smallest_inertia: float
    kr: float

    def __post_init__(self) -> None:
        for name, unit in (("level", "J"), ("smallest_inertia", "kg·m²"), ("kr", "1/s")):
            object.__setattr__(self, name, positive_number(name, getattr(self, name), unit))

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
        """ε, the bound of r, rad/s or m/s."""
        return math.sqrt(2.0 * self.level / self.smallest_inertia) * _OUTWARD

    @property
    def position(self) -> float:
        """Bound of q_ref - q, rad or m."""
        return self.radius / self.kr * _OUTWARD

    @property
    def velocity(self) -> float:
        """Bound of v_ref - v, rad/s or m/s."""
        return 2.0 * self.radius

    @property
    def reference_acceleration(self) -> float:
        """Bound of a_a - a_ref, rad/s² or m/s²."""
        return 2.0 * self.kr * self.radius * _OUTWARD
