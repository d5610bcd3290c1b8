r"""Point-to-point segments: from waypoint to waypoint along straight lines, all joints in step.

On a segment every joint follows one path coordinate, $q(t) = q_0 + s(t)\,(q_1 - q_0)$ with s from 0 to 1. Its
acceleration is a trapezoid, then zero while s goes at its peak speed, then the same trapezoid downwards:

$$R = \frac{V}{A\,(1 - \rho)},\qquad C = \frac{1}{V} - R,$$

with the peak speed V, the peak acceleration A, the time R of a ramp, of which a share ρ is spent on raising
the acceleration and as much on lowering it, and the time C at peak speed. Where the segment is too short to
reach the speed allowed, C = 0 and $V = \sqrt{A (1 - \rho)}$. Position, velocity and acceleration are
continuous and the jerk is bounded: the whole way is one cubic spline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.motion.spline import SplineMotion

RISE = 0.3
"""ρ: share of a ramp that the acceleration takes to rise, and again to fall."""
_SHORTEST_CRUISE = 0.02
"""A time at peak speed shorter than this share of a ramp is given to the ramps: breaks must not crowd."""


def through_waypoints(
    joints: Sequence[str],
    waypoints: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    *,
    dwell: float = 0.0,
    robot: str = "",
) -> SplineMotion:
    """Go from waypoint to waypoint in straight lines, at rest at each, as fast as the limits allow.

    On every segment one joint reaches its speed or its acceleration limit and the others keep in step.

    Args:
        joints: names of the nv joints.
        waypoints: poses to rest at, two or more, each unlike the one before, shape (n, nv), rad or m.
        velocity: largest speeds, positive for joints that move, infinite where there is no limit, shape
            (nv,), or one row for each segment, shape (n - 1, nv), rad/s or m/s.
        acceleration: largest accelerations, positive for joints that move, finite, shape (nv,), or one row
            for each segment, shape (n - 1, nv), rad/s² or m/s².
        dwell: how long to rest at each waypoint between the first and the last, s.
        robot: digest of the robot it is made for.

    Returns:
        The motion, a cubic spline; at the waypoints velocity and acceleration are zero to the last bit.

    Raises:
        InputError: there is no segment, one goes nowhere, or a limit is not positive.
    """
    poses = checked("waypoints", waypoints, ("n", len(joints)))
    if len(poses) < 2:
        raise InputError(f"must be two or more, got {len(poses)}.", place="waypoints")
    if not (math.isfinite(dwell) and dwell >= 0.0):
        raise InputError(f"must be zero or more, got {dwell} s.", place="dwell")
    delta = np.diff(poses, axis=0)
    still = ~delta.any(axis=1)
    if still.any():
        k = int(still.argmax())
        raise InputError(f"numbers {k} and {k + 1} are the same pose.", place="waypoints")
    V = _path_limit("velocity", velocity, delta, finite=False)
    A = _path_limit("acceleration", acceleration, delta, finite=True)
    steps, states, rests = [0.0], [_at_rest(poses[0])], [0]
    for k, d in enumerate(delta):
        times, inner = _profile(float(V[k]), float(A[k]))
        moving = inner[:, :, None] * d
        moving[:, 0] += poses[k]
        steps += times
        states += [moving, _at_rest(poses[k + 1])]
        rests.append(len(steps) - 1)
        if dwell > 0.0 and k + 1 < len(delta):
            steps.append(dwell)
            states.append(states[-1])
            rests.append(len(steps) - 1)
    breaks = np.cumsum(steps)
    control = _control_points(breaks, np.concatenate(states), np.array(rests))
    return SplineMotion(tuple(joints), breaks, control, 3, robot)


def _path_limit(name: str, limits: ArrayLike, delta: Array, *, finite: bool) -> Array:
    """What the joints that move leave to the path coordinate on each segment, (n - 1,), per s or per s²."""
    rows = np.ndim(limits) == 2
    values = checked(name, limits, delta.shape if rows else delta.shape[1:], finite=finite)
    most = np.broadcast_to(values, delta.shape)
    moves = delta != 0.0
    if not (most[moves] > 0.0).all():
        raise InputError(f"must be positive for joints that move, got {most[moves].min()}.", place=name)
    share = np.full(delta.shape, np.inf)
    np.divide(most, np.abs(delta), out=share, where=moves)
    return np.asarray(share.min(axis=1))


def _at_rest(pose: Array) -> Array:
    """The state at a waypoint, (1, 3, nv)."""
    return np.stack((pose, 0.0 * pose, 0.0 * pose))[None]


def _profile(speed: float, acceleration: float) -> tuple[list[float], Array]:
    """How long the m pieces of a segment last, and s, its speed and acceleration between, (m - 1, 3)."""
    V = min(speed, math.sqrt(acceleration * (1.0 - RISE)))
    R = V / (acceleration * (1.0 - RISE))
    C = 1.0 / V - R
    if C < _SHORTEST_CRUISE * R:
        R, C = 1.0 / V, 0.0
    A, rise = V / (R * (1.0 - RISE)), RISE * R
    # The ramp up, at the ends of its three pieces; the ramp down is the same, backwards in time.
    up = [
        (A * rise**2 / 6.0, A * rise / 2.0, A),
        (V * (R / 2.0 - rise) + A * rise**2 / 6.0, V - A * rise / 2.0, A),
        (V * R / 2.0, V, 0.0),
    ]
    down = [(1.0 - s, v, -a) for s, v, a in reversed(up)]
    pieces = [rise, R - 2.0 * rise, rise]
    if C > 0.0:
        return [*pieces, C, *pieces], np.array([*up, *down])
    return [*pieces, *pieces], np.array([*up, *down[1:]])


def _control_points(breaks: Array, states: Array, rests: Array) -> Array:
    r"""Control points of the cubic spline with these states at its breaks, (m + 1, 3, nv) to (nv, m + 3).

    The control point over three neighbouring knots depends on the state at the middle one alone (de Boor and
    Fix): $c = q + \tfrac{1}{3} (h_+ - h_-)\,v - \tfrac{1}{6} h_+ h_-\,a$, with the distances h to the others.
    """
    m = len(breaks) - 1
    i = np.arange(m + 3)
    before, at, after = (np.clip(i + shift, 0, m) for shift in (-2, -1, 0))
    down, up = (breaks[at] - breaks[before])[:, None], (breaks[after] - breaks[at])[:, None]
    q, v, a = states[at, 0], states[at, 1], states[at, 2]
    control = q + (up - down) / 3.0 * v - up * down / 6.0 * a
    # A spline rests at a break exactly where the three control points about it are one.
    for shift in range(3):
        control[rests + shift] = states[rests, 0]
    return np.ascontiguousarray(control.T)
