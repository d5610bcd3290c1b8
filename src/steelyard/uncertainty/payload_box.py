r"""What a payload can be before it is weighed: intervals of its ten numbers, and what binds them together.

A body of density $\rho \ge 0$ inside the ball of radius $\ell$ about c satisfies

$$\int \rho(x)\,(\ell^2 - |x - c|^2)\,dx
  = (\ell^2 - |c|^2)\,m + 2\,c^T h - \tfrac12 \operatorname{tr} I \ge 0,$$

and each of its first moments is the mass times a place inside: both are linear in the ten numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

_OUTWARD = 1.0 + 1e-12  # more than rounding can take from a product of three numbers
_PRODUCTS = ((5, 0, 1), (7, 0, 2), (8, 1, 2))
_MOMENTS = ((4, 1, 2), (6, 0, 2), (9, 0, 1))


@dataclass(frozen=True, eq=False)
class PayloadBox:
    r"""The payloads with $l \le \theta \le u$ and $G\,\theta \le g$.

    Attributes:
        lower: l, of the ten numbers in the payload's frame, finite, shape (10,), SI.
        upper: u, shape (10,), SI.
        conditions: G, shape (k, 10), SI.
        limits: g, shape (k,), SI.
        meaning: what is assumed of the payload, in words.
    """

    lower: Array
    upper: Array
    conditions: Array
    limits: Array
    meaning: str

    def __post_init__(self) -> None:
        k = len(checked("limits", self.limits, ("k",)))
        if k == 0:  # no rows have no width in a file
            object.__setattr__(self, "conditions", np.zeros((0, 10)))
        for name, shape in (("lower", (10,)), ("upper", (10,)), ("conditions", (k, 10)), ("limits", (k,))):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))
        if (self.lower > self.upper).any():
            raise InputError("lies above the upper end.", place="lower")

    @classmethod
    def between(cls, lower: ArrayLike, upper: ArrayLike) -> PayloadBox:
        """Intervals of the ten numbers and nothing else.

        Args:
            lower: lower ends, shape (10,), SI.
            upper: upper ends, shape (10,), SI.

        Returns:
            The box.

        Raises:
            InputError: a lower end lies above its upper one.
        """
        low, high = checked("lower", lower, (10,)), checked("upper", upper, (10,))
        words = "The payload's ten numbers lie within the stated intervals."
        return cls(low, high, np.zeros((0, 10)), np.zeros(0), words)

    @classmethod
    def in_ball(cls, heaviest: float, extent: float, centre: ArrayLike = (0.0, 0.0, 0.0)) -> PayloadBox:
        r"""Every body up to a mass, all of it inside a ball.

        The intervals are those of the moments over the ball, $I_{xx} \le m\,(\ell + \sqrt{c_y^2 + c_z^2})^2$
        and $-\tfrac14(|c_x - c_y| + \sqrt2\,\ell)^2 \le xy \le \tfrac14(|c_x + c_y| + \sqrt2\,\ell)^2$.

        Args:
            heaviest: largest mass, kg.
            extent: radius of the ball, m.
            centre: c, of the ball in the payload's frame, shape (3,), m.

        Returns:
            The box, with the linear conditions of this file.

        Raises:
            InputError: the mass or the radius is not positive and finite.
        """
        for name, value in (("heaviest", heaviest), ("extent", extent)):
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}.", place=name)
        c, e = checked("centre", centre, (3,)), float(extent)
        low, high = np.zeros(10), np.zeros(10)
        high[0] = 1.0
        low[1:4], high[1:4] = np.minimum(c - e, 0.0), np.maximum(c + e, 0.0)
        for k, i, j in _MOMENTS:
            high[k] = (e + np.hypot(c[i], c[j])) ** 2
        for k, i, j in _PRODUCTS:
            low[k] = -0.25 * (abs(c[i] + c[j]) + np.sqrt(2.0) * e) ** 2
            high[k] = 0.25 * (abs(c[i] - c[j]) + np.sqrt(2.0) * e) ** 2
        G = np.zeros((7, 10))
        G[0, 0], G[0, 1:4], G[0, [4, 6, 9]] = c @ c / _OUTWARD - e**2 * _OUTWARD, -2.0 * c, 0.5
        for axis in range(3):
            G[1 + axis, [0, 1 + axis]] = c[axis] - e * _OUTWARD, -1.0
            G[4 + axis, [0, 1 + axis]] = -c[axis] - e * _OUTWARD, 1.0
        place = np.array2string(c, precision=4, separator=", ")
        words = (
            f"The payload weighs at most {heaviest:g} kg and lies within {e:g} m of {place} m of its frame."
        )
        mass = heaviest * _OUTWARD
        return cls(mass * low, mass * high, G, np.zeros(7), words)

    def narrowed(self, lower: ArrayLike, upper: ArrayLike) -> PayloadBox:
        """The same payloads within smaller intervals, as bounds from earlier data give them.

        Args:
            lower: lower ends, shape (10,), SI.
            upper: upper ends, shape (10,), SI.

        Returns:
            The box; it assumes nothing more than this one and what the bounds assume.

        Raises:
            InputError: the intervals do not meet.
        """
        low, high = checked("lower", lower, (10,)), checked("upper", upper, (10,))
        return replace(self, lower=np.maximum(low, self.lower), upper=np.minimum(high, self.upper))

    @property
    def centre(self) -> Array:
        """Middle of the intervals, shape (10,), SI."""
        return np.asarray(0.5 * self.lower + 0.5 * self.upper)

    @property
    def spread(self) -> Array:
        """Half their width, shape (10,), SI."""
        return np.asarray(0.5 * (self.upper - self.lower))

    @property
    def largest(self) -> Array:
        """Largest size of each number, shape (10,), SI."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))
