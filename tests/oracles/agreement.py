"""When two judges agree: the largest difference against the largest number."""

from __future__ import annotations

import numpy as np

RELATIVE = 1e-10


def assert_agree(
    actual: np.ndarray, expected: np.ndarray, *, relative: float = RELATIVE, scale: float = 0.0
) -> None:
    """Fail unless max |actual - expected| <= relative * max(|expected|, scale).

    Args:
        actual: what the code says, any shape and unit.
        expected: what the judge says, same shape and unit.
        relative: tolerance, dimensionless.
        scale: size of the terms that make up `expected`, in its unit, where they may cancel.
    """
    assert np.shape(actual) == np.shape(expected)
    largest = max(float(np.abs(expected).max(initial=0.0)), scale)
    off = float(np.abs(np.asarray(actual) - expected).max(initial=0.0))
    assert off <= relative * largest, f"off by {off:.2e} where the largest number is {largest:.2e}"
