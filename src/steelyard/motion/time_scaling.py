"""The same path at another pace, and how slow it must be to keep limits, of jerk too."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.motion.bernstein import from_taylor, largest_values
from steelyard.motion.bounds import DEGREE, extent, rounding_share
from steelyard.motion.composition import AnyMotion, SequenceMotion, SumMotion
from steelyard.motion.fourier import FourierMotion, SinusoidMotion
from steelyard.motion.motion import SmoothMotion
from steelyard.motion.spline import SplineMotion

# A slowed motion, and how slow it must be to keep limits

_ROUNDING = 1e-11


def slowed(motion: AnyMotion, factor: float) -> AnyMotion:
    r"""Run along the same path more slowly: $q(t/f)$, so that $v$ shrinks by $f$ and $a$ by $f^2$.

    Args:
        motion: the motion.
        factor: f, how many times longer it takes; below 1 it is hurried.

    Returns:
        A motion of the same family.

    Raises:
        InputError: the factor is not positive and finite.
    """
    f = float(factor)
    if not (math.isfinite(f) and f > 0.0):
        raise InputError(f"must be positive and finite, got {factor}.", place="factor")
    match motion:
        case FourierMotion():
            return replace(motion, period=f * motion.period, sine=motion.sine / f, cosine=motion.cosine / f)
        case SplineMotion():
            return replace(motion, breaks=f * motion.breaks)
        case SinusoidMotion():
            return replace(motion, duration=f * motion.duration, frequency=motion.frequency / f)
        case SumMotion():
            return SumMotion(tuple(slowed(part, f) for part in motion.parts))
        case SequenceMotion():
            return SequenceMotion(tuple(slowed(part, f) for part in motion.parts))


def slowdown_within(motion: AnyMotion, velocity: ArrayLike, acceleration: ArrayLike) -> float:
    """The least factor by which a motion must be slowed to keep limits at all times, round-off allowed for.

    Args:
        motion: the motion.
        velocity: limits, positive, infinite where there is none, shape (nv,), rad/s or m/s.
        acceleration: limits, positive, infinite where there is none, shape (nv,), rad/s² or m/s².

    Returns:
        The factor for `slowed`, dimensionless; below 1 where the motion could be hurried, 0 where nothing
        holds it back.

    Raises:
        InputError: a limit is not positive.
    """
    nv = len(motion.joints)
    v_max = checked("velocity", velocity, (nv,), finite=False)
    a_max = checked("acceleration", acceleration, (nv,), finite=False)
    for name, limits in (("velocity", v_max), ("acceleration", a_max)):
        if not (limits > 0.0).all():
            raise InputError(f"must be positive, got {limits.min()}.", place=name)
    goes = extent(motion)
    least = max((goes.velocity / v_max).max(), np.sqrt(goes.acceleration / a_max).max())
    return float(least) * (1.0 + _ROUNDING)


# How large the jerk of a motion gets, for all time, and the same path run slowly enough to keep a limit.

ORDER = 3
"""The jerk is the third derivative of the position."""
_SPARE = 1e-9
"""Share by which a motion is slowed beyond what is just enough."""


def largest_jerk(motion: SmoothMotion) -> Array:
    """Bound the jerk of a motion over all its time, as `enclose` bounds what is below it.

    Where pieces meet the jerk may jump; the bound holds on either side.

    Returns:
        What the jerk never exceeds in size, shape (nv,), rad/s³ or m/s³. It exceeds the largest by about a
        millionth of the spread, the Taylor remainder and the round-off.
    """
    breaks = motion.breaks
    middle, h = 0.5 * (breaks[:-1] + breaks[1:]), 0.5 * np.diff(breaks)
    derivatives = np.stack([motion.derivative(middle, order) for order in range(ORDER, DEGREE + 1)])
    b, n = from_taylor(derivatives, h), DEGREE + 1 - ORDER
    beyond = motion.derivative_bounds(DEGREE + 1) * (h**n / math.factorial(n))[:, None]
    error = (beyond + rounding_share(motion) * motion.derivative_bounds(ORDER))[..., None]
    K, nv = b.shape[:2]
    both = np.concatenate((b + error, error - b))
    return largest_values(both.reshape(-1, n), np.tile(np.arange(nv), 2 * K), nv)


def slowdown_within_jerk(motion: SmoothMotion, jerk: ArrayLike) -> float:
    r"""The factor by which a motion must be slowed to keep a jerk limit at all times: jerk falls by $f^3$.

    Args:
        motion: the motion.
        jerk: limits, positive, infinite where there is none, shape (nv,), rad/s³ or m/s³.

    Returns:
        The factor for `slowed`, dimensionless; 1 where the limit is kept already.

    Raises:
        InputError: a limit is not positive.
    """
    limits = checked("jerk", jerk, (len(motion.joints),), finite=False)
    if not (limits > 0.0).all():
        raise InputError(f"must be positive, got {limits.min()}.", place="jerk")
    share = float((largest_jerk(motion) / limits).max())
    return 1.0 if share <= 1.0 else math.cbrt(share) * (1.0 + _SPARE)


def slowed_within_jerk(motion: AnyMotion, jerk: ArrayLike) -> AnyMotion:
    """The same path, run as much more slowly as a jerk limit asks for.

    Args:
        motion: the motion.
        jerk: limits, positive, infinite where there is none, shape (nv,), rad/s³ or m/s³.

    Returns:
        A motion of the same family whose `largest_jerk` is within the limits; the same where it is already.

    Raises:
        InputError: a limit is not positive.
    """
    # The bound is tight to about a millionth only, and not the same share of the jerk at every speed.
    while (factor := slowdown_within_jerk(motion, jerk)) > 1.0:
        motion = slowed(motion, factor)
    return motion
