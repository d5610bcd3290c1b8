"""A family of plans at chosen instants: affine in the parameter, so evaluated without building any plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.dynamics import Gradient
from steelyard.motion import MotionSample, RecedingPlans


@dataclass(frozen=True, eq=False)
class SampledPlans:
    """What every plan of a family does at N instants; arrays are read-only.

    Attributes:
        plans: the family.
        time: the instants, shape (N,), s.
    """

    plans: RecedingPlans
    time: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", read_only(self.time))

    @cached_property
    def _middle(self) -> MotionSample:
        return self.plans.plan(np.zeros(len(self.plans.joints))).motion.sample(self.time)

    @cached_property
    def slopes(self) -> MotionSample:
        """Derivatives in the parameter, each shape (N, nv), SI; see `RecedingPlans.slopes`."""
        return self.plans.slopes(self.time)

    def at(self, parameters: Array) -> tuple[Array, Array, Array]:
        """The motion of K plans, one after the other.

        Args:
            parameters: k of each plan, shape (K, nv), dimensionless.

        Returns:
            q, v and a, each shape (K N, nv), SI.
        """
        k = parameters[:, None, :]
        n = len(self.plans.joints)
        q, v, a = (
            (getattr(self._middle, name) + k * getattr(self.slopes, name)).reshape(-1, n) for name in "qva"
        )
        return q, v, a

    def in_parameter(self, gradient: Gradient, instants: Array | slice = slice(None)) -> Array:
        """Carry derivatives in the motion at instants over to the parameter.

        Args:
            gradient: of R functions, each of the motion at one instant.
            instants: which instant each belongs to, shape (R,), dimensionless; every one in turn by default.

        Returns:
            Derivatives in k, shape (R, nv), SI.
        """
        s = self.slopes
        in_k: Array = gradient.q * s.q[instants] + gradient.v * s.v[instants] + gradient.a * s.a[instants]
        return in_k
