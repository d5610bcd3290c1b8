"""The torque of a drive as a form: its linear terms, and friction over all velocities it may meet (compiled).

The coefficients are those of `dynamics.batch.Numbers`: viscous, coulomb, offset, rotor, stribeck, asymmetric,
load, and the shape of Stribeck friction.
"""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.enclosure.arithmetic import (
    CENTRE,
    DEVIATION,
    EPSILON,
    FIRST,
    RADIUS,
    TERMS,
    add_number,
    add_own,
    add_scaled,
    size,
)

_LIBRARY = 2.0**-40
"""What the library's powers and exponentials may be off by, relatively, for arguments below `_FADED`."""
_FADED = 32.0
_UNSEALED = 1e-12
"""Share of its terms that a form may lose to rounding before it is sealed, with room to spare."""


@kernel
def add_drive(X: Array, tau: int, v: int, a: int, middle: Array, spread: Array, load_extra: float) -> None:
    """Add the torque of a drive to tau, which holds the torque of the links alone and is not sealed.

    The half widths of the link parameters add load_extra to the torque of the links.
    """
    slowest, fastest, sign, either = _speeds(X, v)
    # Friction under load takes the torque of the links, before anything else is added to it.
    lowest, highest = _sizes(X, tau, load_extra)
    add_scaled(X, tau, middle[0], v)
    add_number(X, tau, middle[2])
    add_scaled(X, tau, middle[3], a)
    more = spread[0] * size(X, v) + spread[2] + spread[3] * size(X, a)
    add_own(X, tau, more)
    X[tau, TERMS] += more
    _add_between(X, tau, middle[1], spread[1], 1.0, 1.0, sign, either)
    if middle[4] != 0.0 or spread[4] != 0.0:
        low, high = _stribeck(slowest, fastest, middle[7], middle[8])
        _add_between(X, tau, middle[4], spread[4], low, high, sign, either)
    _add_between(X, tau, middle[5], spread[5], slowest, fastest, 1.0, False)
    _add_between(X, tau, middle[6], spread[6], lowest, highest, sign, either)


@kernel
def _stribeck(slowest: float, fastest: float, velocity: float, exponent: float) -> tuple[float, float]:
    """Smallest and largest value of Stribeck's column over speeds, rounded outwards.

    The exponential loses digits as its argument grows; where that would count it is next to nothing.
    """
    near, far = (slowest / velocity) ** exponent, (fastest / velocity) ** exponent
    high = math.exp(-near) * (1.0 + _LIBRARY) if near < _FADED else math.exp(1.0 - _FADED)
    low = math.exp(-far) * (1.0 - _LIBRARY) if far < _FADED else 0.0
    return low, min(high, 1.0)


@kernel
def _speeds(X: Array, v: int) -> tuple[float, float, float, bool]:
    """Smallest and largest speed, the sign of the velocity, and whether it may be either."""
    most = X[v, DEVIATION] * (1.0 + 4.0 * EPSILON)
    fastest = (abs(X[v, CENTRE]) + most) * (1.0 + EPSILON)
    slowest = (abs(X[v, CENTRE]) - most) * (1.0 - EPSILON)
    if slowest > 0.0:
        return slowest, fastest, math.copysign(1.0, X[v, CENTRE]), False
    return 0.0, fastest, 0.0, True


@kernel
def _sizes(X: Array, tau: int, extra: float) -> tuple[float, float]:
    """Smallest and largest absolute value of a form that is not sealed, and of anything within extra."""
    deviation = extra + X[tau, RADIUS] + _UNSEALED * X[tau, TERMS]
    for s in range(FIRST, X.shape[1]):
        deviation += abs(X[tau, s])
    middle = abs(X[tau, CENTRE])
    return max(0.0, middle - deviation), middle + deviation


@kernel
def _add_between(
    X: Array, tau: int, k: float, half: float, low: float, high: float, sign: float, either: bool
) -> None:
    """Add (k ± half) x for every x between low and high of the given sign, or of either."""
    if k == 0.0 and half == 0.0:
        return
    if either:
        add_own(X, tau, (abs(k) + half) * high)
    else:
        X[tau, CENTRE] += sign * k * 0.5 * (low + high)
        add_own(X, tau, abs(k) * 0.5 * (high - low) + half * high)
    X[tau, TERMS] += (abs(k) + half) * high
