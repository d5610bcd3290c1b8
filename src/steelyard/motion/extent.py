r"""How far a motion goes, for all time: bounds that hold between the samples too.

Most motions are enclosed piece by piece (`enclose`). For Fourier series there is a cheaper bound, from which
linear constraints on the coefficients are made as well. A trigonometric polynomial p of degree L, sampled at
M > 2L equispaced points of its period, obeys

$$\max_t |p(t)| \le \frac{\max_k |p(t_k)|}{\cos(\pi L/M)}$$

(Ehlich and Zeller, 1964). With M = 40 L the bound is at most 0.31 % above the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import InputError
from steelyard.motion.enclosure import enclose, rounding_share
from steelyard.motion.fourier import FourierMotion
from steelyard.motion.motion import SmoothMotion

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


def extent(motion: SmoothMotion) -> Extent:
    """Bound a motion over all its time.

    Args:
        motion: the motion.

    Returns:
        The bounds; for a Fourier series those of Ehlich and Zeller, otherwise those of `enclose`.
    """
    if isinstance(motion, FourierMotion):
        return _fourier_extent(motion)
    within = enclose(motion)
    lower, upper = within.lower, within.upper
    return Extent(
        lower=lower.q[0],
        upper=upper.q[0],
        velocity=np.maximum(np.abs(lower.v[0]), np.abs(upper.v[0])),
        acceleration=np.maximum(np.abs(lower.a[0]), np.abs(upper.a[0])),
    )


def between_samples(harmonics: int, samples: int) -> float:
    r"""The factor $1/\cos(\pi L/M)$ by which a Fourier series may exceed its samples.

    A limit that holds at the M samples after division by it holds at all times.

    Args:
        harmonics: L.
        samples: M, equispaced over one period, more than 2 L.

    Returns:
        The factor, dimensionless, above 1.

    Raises:
        InputError: there are too few samples to say anything.
    """
    if samples <= 2 * harmonics:
        raise InputError(f"must be more than {2 * harmonics}, got {samples}.", place="samples")
    return 1.0 / math.cos(math.pi * harmonics / samples)


def _fourier_extent(motion: FourierMotion) -> Extent:
    """The position is bounded about the middle of its samples: less a constant it has the same degree."""
    M = _POINTS_PER_HARMONIC * motion.harmonics
    slack = between_samples(motion.harmonics, M)
    at = motion.sample(motion.period / M * np.arange(M))
    share = rounding_share(motion)
    lost = [share * motion.derivative_bounds(order)[0] for order in range(3)]
    middle = 0.5 * (at.q.max(axis=0) + at.q.min(axis=0))
    reach = slack * np.abs(at.q - middle).max(axis=0) + lost[0]
    return Extent(
        lower=middle - reach,
        upper=middle + reach,
        velocity=slack * np.abs(at.v).max(axis=0) + lost[1],
        acceleration=slack * np.abs(at.a).max(axis=0) + lost[2],
    )
