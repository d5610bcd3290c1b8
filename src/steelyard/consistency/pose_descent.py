"""Downhill to poses where the mass matrix is smallest (compiled)."""

from __future__ import annotations

import math

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.consistency.pose_arm import Arm
from steelyard.consistency.pose_kernel import lowest

_STEPS = 120
_TRIALS = 30
_SETTLED = 1e-10


@kernel
def descended(
    first: int,
    last: int,
    arm: Arm,
    bodies: Array,
    rotors: Array,
    middle: Array,
    half: Array,
    q: Array,
    values: Array,
) -> None:
    r"""Move every pose downhill, in place, by the method of Broyden, Fletcher, Goldfarb and Shanno.

    A bounded coordinate is $q = m + h \sin x$ with x unbounded; h is infinite where q itself is. The step
    keeps the weak conditions of Wolfe, with which the method also copes where two eigenvalues meet.
    """
    n = arm.parent.size
    x, x_new, g, g_new, d, y = (np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    H = np.empty((n, n))
    for start in range(first, last):
        for i in range(n):
            x[i] = q[start, i]
            if half[i] < np.inf:
                x[i] = math.asin(max(-1.0, min(1.0, (x[i] - middle[i]) / half[i])))
        value = _value(arm, bodies, rotors, middle, half, x, q[start], g)
        fresh = True
        _reset(H)
        for _step in range(_STEPS):
            falls, size = _direction(H, g, d)
            if falls >= 0.0 and not fresh:
                fresh = True
                _reset(H)
                falls, size = _direction(H, g, d)
            if size <= _SETTLED:
                break
            t, low, high, new = (min(1.0, 0.5 / size) if fresh else 1.0), 0.0, np.inf, value
            for _trial in range(_TRIALS):
                for i in range(n):
                    x_new[i] = x[i] + t * d[i]
                new = _value(arm, bodies, rotors, middle, half, x_new, q[start], g_new)
                if new > value + 1e-4 * t * falls:
                    high = t
                elif _dot(g_new, d) < 0.5 * falls:
                    low = t
                else:
                    break
                t = 2.0 * low if high == np.inf else 0.5 * (low + high)
            if new >= value:
                if fresh:
                    break
                fresh = True
                _reset(H)
                continue
            settled = value - new <= _SETTLED * abs(value)
            value = new
            for i in range(n):
                y[i] = g_new[i] - g[i]
                d[i] = x_new[i] - x[i]
                x[i], g[i] = x_new[i], g_new[i]
            if settled:
                break
            along = _dot(d, y)
            if along > 0.0:
                if fresh:
                    for i in range(n):
                        H[i, i] = along / _dot(y, y)
                    fresh = False
                _update(H, d, y, along)
        values[start] = _value(arm, bodies, rotors, middle, half, x, q[start], g)


@kernel
def _reset(H: Array) -> None:
    """Make H the identity."""
    for i in range(len(H)):
        for j in range(len(H)):
            H[i, j] = 1.0 if i == j else 0.0


@kernel
def _dot(left: Array, right: Array) -> float:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@kernel
def _direction(H: Array, g: Array, d: Array) -> tuple[float, float]:
    """Write d = -H g; returns its slope and its length."""
    for i in range(g.size):
        d[i] = -_dot(H[i], g)
    return _dot(d, g), math.sqrt(_dot(d, d))


@kernel
def _update(H: Array, s: Array, y: Array, along: float) -> None:
    r"""$H \leftarrow (1 - \rho s y^T)\,H\,(1 - \rho y s^T) + \rho s s^T$ with $1/\rho = s \cdot y$."""
    n = s.size
    Hy = np.empty(n)
    for i in range(n):
        Hy[i] = _dot(H[i], y)
    factor = (1.0 + _dot(y, Hy) / along) / along
    for i in range(n):
        for j in range(n):
            H[i, j] += factor * s[i] * s[j] - (Hy[i] * s[j] + s[i] * Hy[j]) / along


@kernel
def _value(
    arm: Arm, bodies: Array, rotors: Array, middle: Array, half: Array, x: Array, q: Array, g: Array
) -> float:
    """The smallest eigenvalue at unbounded coordinates; writes the pose q and the slope in x."""
    for i in range(x.size):
        q[i] = middle[i] + half[i] * math.sin(x[i]) if half[i] < np.inf else x[i]
    value = lowest(arm, bodies, rotors, q, g)
    for i in range(x.size):
        if half[i] < np.inf:
            g[i] *= half[i] * math.cos(x[i])
    return value
