"""Whether what an arm holds stayed where it was held, as a check and a finding of a weighing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.audit import Check, Status
from steelyard.finding import Finding, Severity
from steelyard.payloads import GraspSlip

GRASP = "grasp"
"""Name of the check."""
_REMEDY = (
    "The answer is a mean of two places: weigh a log that ends before that time, "
    "or grip it tighter and run again"
)


def grasp_check(slip: GraspSlip | None) -> Check:
    """Judge what was seen of a grasp.

    Args:
        slip: what was seen; None where nothing can be said.
    """
    if slip is None:
        message = "the runs are too short or the motion too poor, or the arm was estimated with the load."
        return Check(GRASP, Status.NOT_RUN, message)
    evidence = {"chance": slip.chance, "time": slip.time, "distance": slip.distance}
    if not slip.noticed:
        seen = f"chance of what was seen {slip.chance:.2g}"
        return Check(GRASP, Status.PASS, f"the load stayed where it was held ({seen}).", evidence)
    return Check(GRASP, Status.WARN, f"the load slips: {_said(slip)}.", evidence)


def grasp_findings(slip: GraspSlip | None, loaded: Sequence[str]) -> list[Finding]:
    """Say when and how far a load slipped, and what to do; nothing where it did not.

    Args:
        slip: what was seen; None where nothing can be said.
        loaded: names of the loaded logs.
    """
    if slip is None or not slip.noticed:
        return []
    message = f"the load slips in its grasp: {_said(slip)}. {_REMEDY}."
    return [Finding(Severity.WARNING, "grasp-slips", message, Path(loaded[slip.run]).name)]


def _said(slip: GraspSlip) -> str:
    return f"its centre of mass moved by about {1e3 * slip.distance:.2g} mm at {slip.time:.3g} s"
