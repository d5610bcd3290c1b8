"""Numbers for the page's script, as text: 32 bits each, in base 64."""

from __future__ import annotations

import base64

import numpy as np

from steelyard.arrays import Array


def packed(values: Array) -> str:
    """Pack an array; the script's `unpacked` is the inverse.

    Args:
        values: any shape, any unit; packed row by row.

    Returns:
        Text of ASCII letters.
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")
