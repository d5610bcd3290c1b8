"""What an axis spans, and its round values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array

_MINUS = "\u2212"


@dataclass(frozen=True)
class Scale:
    """What an axis spans.

    Attributes:
        low: its beginning.
        high: its end.
        logarithmic: whether equal factors are equally far apart.
    """

    low: float
    high: float
    logarithmic: bool = False

    def shares(self, values: Array) -> Array:
        """How far along the axis values lie.

        Args:
            values: shape (n,), SI.

        Returns:
            From 0 to 1 between its ends, shape (n,), dimensionless.
        """
        low, high, x = self.low, self.high, values
        if self.logarithmic:
            low, high, x = math.log10(low), math.log10(high), np.log10(x)
        return np.asarray((x - low) / (high - low))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Round values along the axis, each with its label.

        Args:
            most: how many there may be on a linear axis; a logarithmic one has its powers of ten.

        Returns:
            Values and labels.
        """
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [(10.0**k, f"{10.0**k:g}") for k in range(first, last + 1)]
        span = self.high - self.low
        decade = 10.0 ** math.floor(math.log10(span / most))
        step = next(decade * k for k in (1, 2, 5, 10) if span / (decade * k) <= most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:.6g}".replace("-", _MINUS)) for k in range(first, last + 1)]
