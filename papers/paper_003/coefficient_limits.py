r"""Limits of Tian et al. on the coefficients of a Fourier series, (9c) to (9g).

With q_0 the offset (zero in the paper), $\bar q = q_{max} - q_0$, $\underline q = q_{min} - q_0$, per joint:

- (9c) corrected: $\sum_l b_l/l = 0$, $\sum_l a_l = 0$, $\sum_l l\,b_l = 0$ (the paper exchanges a and b): the
  start is the offset, at rest;
- (9d): $\sum_l \frac{1}{l}\sqrt{a_l^2 + b_l^2} \le \omega\min(\bar q, -\underline q)$; the paper has
  $\omega q_{max}$, which is the same where the limits are symmetric, and is not enough where they are not;
- (9e): $\sum_l \sqrt{a_l^2 + b_l^2} \le \dot q_{max}$;
- (9f), (9g): every $a_l$ and $b_l$ within $\min(\omega l \bar q/L,\ \dot q_{max})$ and
  $\max(\omega l \underline q/L,\ -\dot q_{max})$.

(9d) and (9e) suffice for the limits at all times, and are far from necessary: they add up amplitudes whose
peaks never meet. (9f) and (9g) are neither sufficient nor necessary; they bound the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.motion import FourierMotion


@dataclass(frozen=True, eq=False)
class CoefficientMargins:
    """How far the coefficients stay from the paper's limits: negative where one is broken.

    Attributes:
        rest: what (9c) wants to be zero: Σ b_l/l, Σ a_l, Σ l b_l, shape (nv, 3), rad/s or m/s.
        position: of (9d), shape (nv,), rad/s or m/s.
        velocity: of (9e), shape (nv,), rad/s or m/s.
        upper: of (9f), columns a_1 … a_L, b_1 … b_L, shape (nv, 2L), rad/s or m/s.
        lower: of (9g), in the same columns, shape (nv, 2L), rad/s or m/s.
    """

    rest: Array
    position: Array
    velocity: Array
    upper: Array
    lower: Array

    def __post_init__(self) -> None:
        for name in ("rest", "position", "velocity", "upper", "lower"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def smallest(self) -> float:
        """The smallest margin of (9d) to (9g), rad/s or m/s."""
        return float(min(each.min() for each in (self.position, self.velocity, self.upper, self.lower)))


def coefficient_margins(
    motion: FourierMotion, lower: ArrayLike, upper: ArrayLike, velocity: ArrayLike
) -> CoefficientMargins:
    """Evaluate the limits (9c) to (9g) of Tian et al. (2024) on a Fourier series.

    Args:
        motion: the series.
        lower: position limits, -inf where there is none, shape (nv,), rad or m.
        upper: position limits, inf where there is none, shape (nv,), rad or m.
        velocity: speed limits, inf where there is none, shape (nv,), rad/s or m/s.

    Returns:
        The margins.
    """
    nv, L = len(motion.joints), motion.harmonics
    down = checked("lower", lower, (nv,), finite=False) - motion.offset
    up = checked("upper", upper, (nv,), finite=False) - motion.offset
    v_max = checked("velocity", velocity, (nv,), finite=False)
    w = 2.0 * math.pi / motion.period
    l = np.arange(1.0, L + 1.0)  # noqa: E741  (the harmonic's letter)
    a, b = motion.sine, motion.cosine
    amplitude = np.hypot(a, b)
    most = np.minimum(w / L * np.outer(up, l), v_max[:, None])
    least = np.maximum(w / L * np.outer(down, l), -v_max[:, None])
    both = np.hstack((a, b))
    return CoefficientMargins(
        rest=np.column_stack(((b / l).sum(axis=1), a.sum(axis=1), b @ l)),
        position=w * np.minimum(up, -down) - (amplitude / l).sum(axis=1),
        velocity=v_max - amplitude.sum(axis=1),
        upper=np.hstack((most, most)) - both,
        lower=both - np.hstack((least, least)),
    )
