"""The states of a tube around a Bezier curve as jets in time and errors, for the checker.

A piece of a Bezier curve is a Bezier curve, and stays within the hull of its control points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.motion import SplineMotion
from steelyard.online.jets import Jet, zeros

_LOST = 2.0**-44


@dataclass(frozen=True, eq=False)
class CheckedStates:
    """Positions, velocities, and velocities and accelerations of the reference, each shape (K, nv).

    Attributes:
        q: positions.
        v: velocities.
        v_a: velocities of the reference.
        a_a: accelerations of the reference.
    """

    q: Jet
    v: Jet
    v_a: Jet
    a_a: Jet


def curve_spans(plan: SplineMotion, start: Array, end: Array, order: int) -> tuple[Array, Array]:
    """What a derivative of a Bezier curve does over pieces of it.

    Args:
        plan: the curve, of one polynomial piece.
        start: where each piece starts, shape (K,), s.
        end: where it ends, shape (K,), s.
        order: 0 for the position, and so on.

    Returns:
        Middle and radius, each shape (K, nv), rad or m over the order's power of s.

    Raises:
        InputError: the plan has several polynomial pieces.
    """
    if len(plan.breaks) != 2:
        raise InputError("only a plan of one polynomial piece can be checked.", place="plan")
    c = np.array(plan.control.T)
    bulk = np.abs(c).max(axis=0)
    for k in range(order):
        c = np.diff(c, axis=0) * ((plan.degree - k) / plan.duration)
        bulk = bulk * 2.0 * (plan.degree - k) / plan.duration
    n = len(c) - 1
    s, e = (x[:, None] / plan.duration for x in (start, end))
    corners = []
    for i in range(n + 1):
        # The i-th control point of the piece: n - i steps of de Casteljau at its start, i at its end.
        points = [np.broadcast_to(x, (len(start), c.shape[1])) for x in c]
        for k in range(n):
            t = e if k < i else s
            points = [(1.0 - t) * a + t * b for a, b in pairwise(points)]
        corners.append(points[0])
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    middle = 0.5 * (low + high)
    return middle, (high - low) * (0.5 + _LOST) + _LOST * bulk


def checked_states(plan: SplineMotion, start: Array, end: Array, tube: Tube) -> CheckedStates:
    """The states of a tube over pieces of a plan, about the middle of each piece without errors.

    Their variables are the time, e and r, each over its greatest size: one number and two balls.

    Args:
        plan: the plan.
        start: where each piece starts, shape (K,), s.
        end: where it ends, shape (K,), s.
        tube: the errors that are allowed.

    Returns:
        The states.
    """
    t = 0.5 * (start + end)
    h = (0.5 * (end - start) + math.ulp(float(end.max())))[:, None]
    points = [curve_spans(plan, t, t, order) for order in range(3)]
    spans = [curve_spans(plan, start, end, order) for order in range(4)]
    K, e, r = tube.kr, tube.position, tube.radius

    def state(order: int, along_e: float, along_r: float) -> Jet:
        (c, lost), (hull, reach), n = points[order], spans[order], len(plan.joints)
        middle, radius = zeros(2 + 2 * n, *c.shape), zeros(2 + 2 * n, *c.shape)
        middle[0], radius[0] = c, np.abs(hull - c) + reach + lost
        radius[0] += (abs(along_e) * e + abs(along_r) * r) * (1.0 + _LOST)
        middle[1], radius[1] = (h * x for x in spans[order + 1])
        joint = np.arange(n)
        middle[2 + joint, :, joint] = along_e * e
        middle[2 + n + joint, :, joint] = along_r * r
        return Jet(middle, radius + _LOST * np.abs(middle), np.asfortranarray(lost), (1, n, n))

    return CheckedStates(state(0, -1.0, 0.0), state(1, K, -1.0), state(1, K, 0.0), state(2, -K * K, K))
