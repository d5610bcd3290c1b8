"""Why a motion is not certified, in words."""

from __future__ import annotations

from steelyard.enclosure import Tracking
from steelyard.limits.certificate import NotCertifiedError
from steelyard.limits.stretch_margins import Limit, StretchMargins


def broken_limit(
    margins: StretchMargins, tracking: Tracking, limit: Limit, instant: float, margin: float
) -> NotCertifiedError:
    """The refusal of a motion that breaks a limit at an instant, or may, given what is uncertain.

    Args:
        margins: all limits, with the box of parameters.
        tracking: how far the robot may be from the motion.
        limit: the one that is not kept.
        instant: when, s.
        margin: what is left of it, below zero, in its unit.

    Returns:
        The error to raise.
    """
    certain = not any(x.any() for x in (tracking.position, tracking.velocity, tracking.acceleration))
    if limit.kind == "torque":
        certain = certain and bool((margins.lower == margins.upper).all())
    if limit.kind == "clearance":
        required = margins.limits.distance
        distance = margin + required
        how = "comes to" if distance >= 0.0 else "overlaps by"
        what = f"{how} {1e3 * abs(distance):.3g} mm where {1e3 * required:g} mm is required"
    else:
        what = f"its {limit.kind} exceeds its limit by {-margin:.3g} {limit.unit}"
    doubt = "" if certain else ", for some error of tracking or parameters within bounds"
    message = f"{what} at t = {instant:.6g} s{doubt}."
    return _refusal(message, limit, instant, margin, broken=certain)


def unproven_limit(limit: Limit, instant: float, margin: float) -> NotCertifiedError:
    """The refusal of a motion for which the search has ended without a proof.

    Args:
        limit: the one that is not proven.
        instant: about when, s.
        margin: what is proven to be left of it, below zero, in its unit.

    Returns:
        The error to raise.
    """
    message = f"its {limit.kind} is not proven near t = {instant:.6g} s."
    remedy = "Leave more room to the limit, or allow more stretches."
    return _refusal(message, limit, instant, margin, broken=False, remedy=remedy)


def _refusal(
    message: str, limit: Limit, instant: float, margin: float, *, broken: bool, remedy: str = ""
) -> NotCertifiedError:
    return NotCertifiedError(
        message,
        kind=limit.kind,
        name=limit.name,
        instant=instant,
        margin=margin,
        broken=broken,
        remedy=remedy,
    )
