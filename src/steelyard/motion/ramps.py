"""Ways into a motion and out of it: from rest to its first state, and from its last state to rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.motion.composition import AnyMotion, SequenceMotion, in_sequence
from steelyard.motion.fields import checked_seconds
from steelyard.motion.point_to_point import quintic
from steelyard.motion.spline import SplineMotion


def ramp_in(motion: AnyMotion, seconds: float, start: ArrayLike | None = None) -> SplineMotion:
    r"""A quintic from rest to the state in which a motion starts.

    Args:
        motion: what follows.
        seconds: how long it takes, T, s.
        start: pose at rest, shape (nv,), rad or m; None for $q(0) - T v(0)/2 + T^2 a(0)/12$, from where the
            velocity is a cubic: the way of least jerk among all start poses.

    Returns:
        The ramp.
    """
    T = checked_seconds("seconds", seconds)
    q, v, a = _state(motion, 0.0)
    begin = q - T * v / 2.0 + T**2 * a / 12.0 if start is None else checked("start", start, q.shape)
    return quintic(motion.joints, T, begin, q, end_velocity=v, end_acceleration=a, robot=motion.robot)


def ramp_out(motion: AnyMotion, seconds: float, end: ArrayLike | None = None) -> SplineMotion:
    r"""A quintic from the state in which a motion ends to rest.

    Args:
        motion: what comes before.
        seconds: how long it takes, T, s.
        end: pose at rest, shape (nv,), rad or m; None for $q + T v/2 + T^2 a/12$ of the last state, where the
            velocity is a cubic: the way of least jerk among all end poses.

    Returns:
        The ramp.
    """
    T = checked_seconds("seconds", seconds)
    q, v, a = _state(motion, motion.duration)
    finish = q + T * v / 2.0 + T**2 * a / 12.0 if end is None else checked("end", end, q.shape)
    return quintic(motion.joints, T, q, finish, start_velocity=v, start_acceleration=a, robot=motion.robot)


def with_ramps(
    motion: AnyMotion, seconds: float, *, start: ArrayLike | None = None, end: ArrayLike | None = None
) -> SequenceMotion:
    """A motion with a ramp before and behind it: from rest to rest.

    Args:
        motion: the motion.
        seconds: how long each ramp takes, s.
        start: pose at rest before it, shape (nv,), rad or m; None for the nearest in jerk.
        end: pose at rest behind it, shape (nv,), rad or m; None for the nearest in jerk.

    Returns:
        The ramp in, the motion, the ramp out.
    """
    return in_sequence([ramp_in(motion, seconds, start), motion, ramp_out(motion, seconds, end)])


def _state(motion: AnyMotion, time: float) -> tuple[Array, Array, Array]:
    at = motion.sample(np.array([time]))
    return at.q[0], at.v[0], at.a[0]
