r"""A logarithmic barrier with an end: what is far from its limit costs nothing.

$$\varphi(u) = -(1 - u)^3 \log u \quad\text{for } 0 < u < 1, \qquad \varphi(u) = 0 \quad\text{for } u \ge 1,$$

with u the distance from the limit over the range of the barrier. It is infinite at the limit and has two
continuous derivatives.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array


def barrier(distance: Array) -> tuple[float, Array]:
    """The sum of the barriers of many distances, and its slope in each.

    Args:
        distance: u, any shape, dimensionless.

    Returns:
        The sum, infinite where a distance is not positive, and the slopes, same shape, dimensionless.
    """
    slope = np.zeros_like(distance)
    near = distance < 1.0
    u = distance[near]
    if not u.size:
        return 0.0, slope
    if u.min() <= 0.0:
        return np.inf, slope
    log, far = np.log(u), 1.0 - u
    slope[near] = 3.0 * far**2 * log - far**3 / u
    return float(-(far**3) @ log), slope
