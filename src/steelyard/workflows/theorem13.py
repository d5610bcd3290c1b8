"""What is said of Theorem 13 beside bounds of our own: in a document, in a line, and on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.inertia import PARAMETER_NAMES
from steelyard.report import PublishedBounds
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
        f"Theorem 13 of paper 000 in its linear form: {low:.4g} to {high:.4g} kg; "
        f"its log-Cholesky form {worth}."
    )


def theorem13_on_page(found: Theorem13 | None) -> PublishedBounds | None:
    """The same for a page.

    Args:
        found: what the theorem says.

    Returns:
        Plain data; None where the theorem was not asked.
    """
    if found is None:
        return None
    linear, published = found.linear, found.log_cholesky
    return PublishedBounds(
        np.array([linear.lower, linear.upper]), np.array([published.lower, published.upper]), found.sentence
    )
