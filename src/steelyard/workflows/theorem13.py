"""What results say of Theorem 13 beside their own bounds: in JSON and in a line."""

from __future__ import annotations

from typing import Any

from steelyard.arrays import Array
from steelyard.inertia import PARAMETER_NAMES
from steelyard.uncertainty import Minimiser, Theorem13


def theorem13_document(found: Theorem13 | None) -> dict[str, Any] | None:
    """Both forms for a script; ends that are not finite become text.

    Args:
        found: what the theorem says.

    Returns:
        The document; None where the theorem was not asked.
    """
    if found is None:
        return None
    linear, published = found.linear, found.log_cholesky
    return {
        "linear": _ends(linear.lower, linear.upper),
        "log_cholesky": _ends(published.lower, published.upper),
        "minimiser": published.minimiser.name.lower(),
        "reason": published.reason,
    }


def _ends(lower: Array, upper: Array) -> dict[str, list[float]]:
    ends = zip(PARAMETER_NAMES, lower.tolist(), upper.tolist(), strict=True)
    return {name: [low, high] for name, low, high in ends}


def theorem13_line(found: Theorem13) -> str:
    """The same of the mass alone, in a line.

    Args:
        found: what the theorem says.

    Returns:
        The line.
    """
    low, high = found.linear.lower[0], found.linear.upper[0]
    worth = {
        Minimiser.EVERYWHERE: "has its minimiser everywhere",
        Minimiser.HERE: "has its minimiser here, not shown everywhere: no guarantee",
        Minimiser.NOWHERE: "has no minimiser here: no guarantee",
    }[found.log_cholesky.minimiser]
    return (
        f"Theorem 13 of Zhang et al. (2025) in its linear form: {low:.4g} to {high:.4g} kg; "
        f"its log-Cholesky form {worth}."
    )
