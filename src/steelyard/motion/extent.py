r"""How far a Fourier motion goes, for all time: bounds that hold between the samples too.

A trigonometric polynomial p of degree L, sampled at M > 2L equispaced points of its period, obeys

$$\max_t |p(t)| \le \frac{\max_k |p(t_k)|}{\cos(\pi L/M)}$$

(Ehlich and Zeller, 1964). With M = 40 L the bound is at most 0.31 % above the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.motion.fourier import FourierMotion

_POINTS_PER_HARMONIC = 40


@dataclass(frozen=True, eq=False)
class Extent:
    """What a motion never leaves, at no time.

    Attributes:
        lower: positions are never below, shape (nv,), rad or m.
        upper: positions are never above, shape (nv,), rad or m.
        velocity: speeds are never above, shape (nv,), rad/s or m/s.
        acceleration: accelerations are never above in size, shape (nv,), rad/s² or m/s².
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "velocity", "acceleration"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def extent(motion: FourierMotion) -> Extent:
    """Bound a motion over all time.

    The position is bounded about the middle of its samples, since subtracting a constant leaves it a
    trigonometric polynomial of the same degree.

    Args:
        motion: the motion.

    Returns:
        The bounds.
    """
    M = _POINTS_PER_HARMONIC * motion.harmonics
    slack = 1.0 / math.cos(math.pi * motion.harmonics / M)
    at = motion.sample(motion.period / M * np.arange(M))
    middle = 0.5 * (at.q.max(axis=0) + at.q.min(axis=0))
    reach = slack * np.abs(at.q - middle).max(axis=0)
    return Extent(
        lower=middle - reach,
        upper=middle + reach,
        velocity=slack * np.abs(at.v).max(axis=0),
        acceleration=slack * np.abs(at.a).max(axis=0),
    )
