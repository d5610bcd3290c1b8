"""A hand that takes an arm by its tool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class Hand:
    r"""Leads a point of the tool along a straight line, from rest to rest, through a spring and a damper.

    It goes the way Δ in the time T with the least jerk and then stays, and holds the point at p by the force

    $$f = k\,(p_h - p) + d\,(\dot p_h - \dot p), \qquad p_h = p_0 + s(t/T)\,\Delta, \qquad
      s(x) = 10 x^3 - 15 x^4 + 6 x^5.$$

    It does not turn the tool. The defaults, a firm grip that yields a little, are assumed.

    Attributes:
        way: Δ in the axes of the base, shape (3,), m.
        seconds: T, s.
        stiffness: k, N/m.
        damping: d, N·s/m.
    """

    way: Array
    seconds: float
    stiffness: float = 500.0
    damping: float = 20.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "way", read_only(checked("way", self.way, (3,))))
        for name in ("seconds", "stiffness", "damping"):
            number = float(checked(name, getattr(self, name), ()))
            if number <= 0.0 and not (name == "damping" and number == 0.0):
                raise InputError(f"must be positive, got {number:g}.", place=f"{name} of the hand")
            object.__setattr__(self, name, number)

    def force(self, time: float, start: Array, position: Array, velocity: Array) -> Array:
        """What the hand exerts on the tool.

        Args:
            time: since it took hold, s.
            start: p_0, where it took hold, shape (3,), m.
            position: p, shape (3,), m.
            velocity: the point's velocity, shape (3,), m/s.

        Returns:
            f in the axes of the base, shape (3,), N.
        """
        x = min(time / self.seconds, 1.0)
        there = start + x**3 * (10.0 - 15.0 * x + 6.0 * x * x) * self.way
        speed = 30.0 * (x * (1.0 - x)) ** 2 / self.seconds * self.way
        return np.asarray(self.stiffness * (there - position) + self.damping * (speed - velocity))
