"""Whether a robot that learned stayed within what was proven, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.audit import Status
from steelyard.inertia import PARAMETER_NAMES
from steelyard.online import BROKEN, STOPPED
from steelyard.report.numerals import numeral
from steelyard.report.online_content import OnlineContent
from steelyard.report.online_drawing import OnlineDrawing
from steelyard.report.online_words import number_words
from steelyard.report.safe_text import visible


def broken(content: OnlineContent, drawing: OnlineDrawing) -> tuple[str, ...]:
    """All that was broken: what the run itself says, and what its own record shows.

    The record is looked at again, so that a run cannot pass by saying nothing: limits of the joints,
    distances, the tube, and bounds around the truth where that is known.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        Sentences; empty where nothing was broken.
    """
    seen = (*_limits(content, drawing), *_contacts(drawing), *_tube(content), *_truth(content))
    return (*content.violations, *seen)


def _limits(content: OnlineContent, drawing: OnlineDrawing) -> Iterator[str]:
    for curves in drawing.limited:
        beyond = np.maximum(curves.lower - curves.values, curves.values - curves.upper)
        for j in np.flatnonzero((beyond > 0.0).any(axis=0)):
            n = int(beyond[:, j].argmax())
            yield (
                f"The {curves.name} limit of {visible(content.head.robot.joint_names[j])} was broken: "
                f"{numeral(float(curves.values[n, j]))} {curves.units[j]} at {content.time[n]:.3f} s."
            )


def _contacts(drawing: OnlineDrawing) -> Iterator[str]:
    apart = drawing.clearance
    if apart is None:
        return
    for k in np.flatnonzero(apart.closest < apart.required):
        yield (
            f"{visible(apart.pairs[k])} came as close as {1e3 * apart.closest[k]:.1f} mm at "
            f"{apart.when[k]:.2f} s, {1e3 * apart.required:g} mm are required."
        )


def _tube(content: OnlineContent) -> Iterator[str]:
    head = content.head
    errors = np.linalg.norm(content.q_ref - content.q, axis=1)
    for name, values, bound in (
        ("‖r‖", content.r_norm, head.tube_radius),
        ("the position error", errors, head.position_bound),
    ):
        n = int(values.argmax())
        if values[n] > bound:
            yield (
                f"The tube was left: {name} was {numeral(float(values[n]))} at {content.time[n]:.3f} s, "
                f"{numeral(bound)} are allowed."
            )


def _truth(content: OnlineContent) -> Iterator[str]:
    truth = content.head.truth
    if truth is None:
        return
    for known in content.knowledge:
        for k in np.flatnonzero((truth < known.box.lower) | (truth > known.box.upper)):
            name = number_words(PARAMETER_NAMES[k])
            yield f"From {known.time:.2f} s on the bounds of {name} do not hold the truth."


def online_verdict(content: OnlineContent, drawing: OnlineDrawing) -> tuple[Status, str, str]:
    """What is to be thought of a run.

    Args:
        content: what the page says.
        drawing: what is drawn of it.

    Returns:
        The outcome, a headline, and a sentence that explains it: fail where something was broken, warn where
        the robot stopped early or something is not part of the proofs, pass where it did what it was to do
        within all that was proven.
    """
    wrong = broken(content, drawing)
    if wrong:
        count = "one guarantee" if len(wrong) == 1 else f"{len(wrong)} guarantees"
        return Status.FAIL, f"Do not trust this run: {count} did not hold.", wrong[0]
    if content.outcome == BROKEN:
        headline = (
            "The robot stopped because an assumption does not hold: nothing is guaranteed from then on."
        )
        return Status.FAIL, headline, content.sentence
    touched = "" if drawing.clearance is None else "nothing touched, "
    kept = f"no limit broken, {touched}tube never left."
    if content.outcome == STOPPED:
        return Status.WARN, f"The robot stopped before it was done: {kept}", content.sentence
    if content.uncovered:
        headline = "The robot learned its payload, and not all that could hit is part of the proofs."
        missing = content.uncovered[0].removesuffix(".")
        more = f"; and {len(content.uncovered) - 1} more" if len(content.uncovered) > 1 else ""
        return Status.WARN, headline, f"{content.sentence} Not part of them: {missing}{more}."
    return Status.PASS, f"The robot learned its payload within all that was proven: {kept}", content.sentence
