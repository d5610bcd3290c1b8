"""The size of a body, by which the deviations of its ten numbers are called small or large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError


def by_kind(mass: float, first_moment: float, inertia: float) -> Array:
    """Ten numbers of a body that differ by kind only, such as wanted deviations.

    Args:
        mass: of m, kg.
        first_moment: of mx, my and mz, kg m.
        inertia: of the six of the tensor, kg m².

    Returns:
        One for each of the ten numbers, shape (10,), SI.
    """
    return np.array([mass, *(first_moment,) * 3, *(inertia,) * 6])


@dataclass(frozen=True)
class PayloadScale:
    """The size of a body by which deviations are called small or large.

    Attributes:
        mass: m, kg.
        length: l, m.
    """

    mass: float = 1.0
    length: float = 0.1

    def __post_init__(self) -> None:
        for name in ("mass", "length"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InputError(f"must be positive and finite, got {getattr(self, name)}.", place=name)

    @property
    def ten(self) -> Array:
        """The scales m, m l and m l² of the ten numbers, shape (10,), SI."""
        return by_kind(self.mass, self.mass * self.length, self.mass * self.length**2)

    def __str__(self) -> str:
        """A few words: `1 kg and 0.1 m`."""
        return f"{self.mass:g} kg and {self.length:g} m"
