"""The checks behind the verdict of `steelyard payload`."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.audit import Check, Status
from steelyard.payload import QUANTITIES, DecidedBy, PayloadEstimate

COARSE = 0.1
"""Half the interval of the mass over the mass from which on the answer is coarse."""


def checks_of(estimate: PayloadEstimate) -> Iterator[Check]:
    """Judge an estimate.

    Args:
        estimate: what the arm holds.

    Yields:
        Checks of mass, motion and physical possibility.
    """
    yield _mass(estimate)
    yield _motion(estimate)
    yield _possible(estimate)
    yield _inertia(estimate)


def _mass(estimate: PayloadEstimate) -> Check:
    m, low, high = (float(x[0]) for x in (estimate.values, estimate.lower, estimate.upper))
    words = f"{m:.4g} kg, 95 % between {low:.4g} and {high:.4g} kg"
    parts = {source: float(each[0]) for source, each in estimate.deviations.items()}
    if len(parts) > 1:
        listed = ", ".join(f"{deviation:.2g} kg by {source}" for source, deviation in parts.items())
        words = f"{words} (standard deviations: {listed})"
    alone = float(estimate.weighing.deviations[0])
    if not estimate.weighing.values[0] > 2.0 * alone:
        return Check("mass", Status.FAIL, f"{words}: the data does not show that anything is held.")
    if 0.5 * (high - low) > COARSE * m:
        return Check("mass", Status.WARN, f"{words}: coarse.")
    return Check("mass", Status.PASS, f"{words}.")


def _motion(estimate: PayloadEstimate) -> Check:
    shown, condition = estimate.weighing.shown, estimate.weighing.condition
    if shown == 10:
        return Check("motion", Status.PASS, f"shows all ten numbers, condition number {condition:.3g}.")
    return Check("motion", Status.WARN, f"shows {shown} combinations of the ten numbers.")


def _possible(estimate: PayloadEstimate) -> Check:
    name = "physical possibility"
    for finding in estimate.findings:
        if finding.code == "impossible-payload":
            return Check(name, Status.WARN, finding.message)
    return Check(name, Status.PASS, "a body that can exist fits the data.")


def _inertia(estimate: PayloadEstimate) -> Check:
    guessed = [
        name
        for name in QUANTITIES
        if estimate.decided[name] is DecidedBy.PRIOR and name.startswith(("com", "moment"))
    ]
    if not guessed:
        return Check("inertia", Status.PASS, "decided by the data.")
    return Check("inertia", Status.WARN, f"decided by what can exist, not by the data: {', '.join(guessed)}.")
