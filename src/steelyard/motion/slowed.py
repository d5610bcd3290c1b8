"""The same path at another pace: a slowed rehearsal, and how slow it must be to keep limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.errors import InputError
from steelyard.motion.composition import AnyMotion, SequenceMotion, SumMotion
from steelyard.motion.extent import extent
from steelyard.motion.fourier import FourierMotion
from steelyard.motion.sinusoid import SinusoidMotion
from steelyard.motion.spline import SplineMotion

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
