"""Ranges of an MJCF file: whether they hold, and what a range of efforts is as one limit."""

from __future__ import annotations

import math

from steelyard.errors import DescriptionError
from steelyard.finding import Finding, Severity
from steelyard.robot.xml import Element

_SWITCH = ("false", "true", "auto")


def read_range(element: Element, key: str, switch: str, autolimits: bool) -> tuple[float, float]:
    """A range with the attribute that switches it on.

    Args:
        element: defaults resolved.
        key: attribute of the range.
        switch: attribute that says whether it holds; `auto` is where it is not empty.
        autolimits: whether `auto` is allowed.

    Returns:
        Its ends as stated, infinite where it does not hold.

    Raises:
        DescriptionError: the range is empty but must hold, or nothing says whether it does.
    """
    stated = key in element.attributes
    lower, upper = element.numbers(key, 2) if stated else (0.0, 0.0)
    limited = element.choice(switch, _SWITCH, "auto")
    if limited == "auto":
        if stated and not autolimits:
            raise DescriptionError(
                f"<{element.tag}> states '{key}' but not '{switch}'.",
                place=element.place,
                remedy='Set autolimits="true" in <compiler>, or state it.',
            )
        limited = "true" if lower < upper else "false"
    elif limited == "true" and not lower < upper:
        raise DescriptionError(
            f"<{element.tag}> is limited to the range {lower:g} to {upper:g}.", place=element.place
        )
    return (lower, upper) if limited == "true" else (-math.inf, math.inf)


def symmetric(ends: tuple[float, float], joint: str, element: Element, findings: list[Finding]) -> float:
    """The effort limit a range of efforts stands for: the smaller of its ends, if both are on their side.

    A limit here holds in both directions, so the smaller end promises no effort that is not there. Where the
    range has one side only, the limit is its far end.

    Args:
        ends: lower and upper end, N·m or N.
        joint: the joint's name.
        element: where they are stated.
        findings: where to report ends that differ.

    Returns:
        The limit, N·m or N.
    """
    lower, upper = ends
    narrow, wide = sorted((max(-lower, 0.0), max(upper, 0.0)))
    limit = narrow if narrow > 0.0 else wide
    if narrow != wide:
        message = f"joint '{joint}' may give {lower:g} to {upper:g}; the limit kept is ±{limit:g}."
        findings.append(Finding(Severity.WARNING, "asymmetric-effort", message, element.place))
    return limit
