r"""A plan of one polynomial piece, evaluated straight from its control points.

The enclosures ask a plan for six derivatives at the middle of every stretch, and for bounds of seven.
Differences of the control points give them all, $q^{(m)}(t) = \frac{d!}{(d-m)!\,T^m} \sum_i (\Delta^m c)_i
\binom{d-m}{i} s^i (1-s)^{d-m-i}$ with $s = t/T$, where building a spline for each costs several times more
than the enclosures themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.motion import SplineMotion


@dataclass(frozen=True, eq=False)
class BernsteinCurve:
    """What the enclosures need of a plan, the same to the last bits.

    Attributes:
        plan: the plan, of one polynomial piece.
    """

    plan: SplineMotion

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it moves."""
        return self.plan.joints

    @property
    def digest(self) -> str:
        """SHA-256 of the plan's content."""
        return self.plan.digest

    @property
    def duration(self) -> float:
        """How long it lasts, s."""
        return self.plan.duration

    @property
    def breaks(self) -> Array:
        """Start and end, shape (2,), s."""
        return self.plan.breaks

    @cached_property
    def _controls(self) -> tuple[Array, ...]:
        """Control points of every derivative, (d + 1 - m, nv)."""
        d, T = self.plan.degree, self.plan.duration
        c = self.plan.control.T
        return tuple(math.perm(d, m) / T**m * np.diff(c, m, axis=0) for m in range(d + 1))

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position, at times within the duration.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        t = checked("time", time, ("N",))
        if order > self.plan.degree:
            return np.zeros((len(t), len(self.joints)))
        c = self._controls[order]
        n, s = len(c) - 1, t / self.duration
        basis = [math.comb(n, i) * s**i * (1.0 - s) ** (n - i) for i in range(n + 1)]
        return np.stack(basis, axis=1) @ c

    def derivative_bounds(self, order: int) -> Array:
        """The largest control point of the derivative, which stays in their hull.

        Args:
            order: of the derivative.

        Returns:
            The bound, shape (1, nv), rad or m over the order's power of s.
        """
        if order > self.plan.degree:
            return np.zeros((1, len(self.joints)))
        bounds: Array = np.abs(self._controls[order]).max(axis=0, keepdims=True)
        return bounds
