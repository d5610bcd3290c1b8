"""Powers of two as units: scaling by them rounds nothing."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array


def power_of_two(sizes: Array) -> Array:
    """The powers of two nearest to some sizes, one for a size of zero.

    Args:
        sizes: not negative, any shape and unit.

    Returns:
        Powers of two, same shape and unit.
    """
    exponents = np.rint(np.log2(np.where(sizes > 0.0, sizes, 1.0)))
    return np.asarray(np.exp2(np.clip(exponents, -300.0, 300.0)))
