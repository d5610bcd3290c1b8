"""Whether to run a motion, in plain words."""

from __future__ import annotations

from steelyard.audit import Status
from steelyard.report.motion_content import MotionContent


def motion_verdict(content: MotionContent) -> tuple[Status, str, str]:
    """What is to be thought of a motion.

    Args:
        content: what the page says.

    Returns:
        The outcome, a headline, and a sentence that explains it: fail where a limit is broken, pass where all
        are proven to be kept, warn where neither is known or something is not part of the proof.
    """
    proof = content.proof
    if content.broken:
        count = "a limit" if len(content.broken) == 1 else f"{len(content.broken)} limits"
        first = content.broken[0]
        place = f"{first.place}: " if first.place else ""
        return Status.FAIL, f"Do not run this motion: it breaks {count}.", f"{place}{first.message}"
    if proof is not None and proof.holds and proof.uncovered:
        missing, more = proof.uncovered[0].removesuffix("."), len(proof.uncovered) - 1
        missing += f"; and {more} more" if more else ""
        headline = "Look before you run this motion: not all that could hit or overload is part of its proof."
        return Status.WARN, headline, f"{proof.message} Not part of it: {missing}."
    if proof is not None and proof.holds:
        headline = "This motion keeps its limits at every instant."
        left_out = _left_out(content)
        if left_out:
            return Status.PASS, headline, f"{proof.message} Not counted: {left_out}."
        return Status.PASS, headline, proof.message
    headline = "Rehearse this motion before you trust it: its limits are kept at the samples only."
    why = "No proof was sought for the time between them." if proof is None else proof.message
    return Status.WARN, headline, why


def _left_out(content: MotionContent) -> str:
    """What was not looked at, in a few words."""
    names = [f"{curves.name} limits" for curves in content.curves if not curves.counted]
    return ", ".join([*names, *([] if content.clearance is not None else ["clearance"])])
