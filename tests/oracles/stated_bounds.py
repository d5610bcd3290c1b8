"""Bounds of a payload that are stated and not computed, for tests of what is said of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from steelyard.uncertainty import GuaranteedBounds


def stated_bounds(lower: np.ndarray, upper: np.ndarray, **more: Any) -> Any:
    """Bounds with the centre of mass that follows from them, and with whatever else is stated."""
    made = SimpleNamespace(lower=lower, upper=upper, **more)
    made.com_bounds = GuaranteedBounds.com_bounds.fget(made)  # type: ignore[attr-defined]
    return made
