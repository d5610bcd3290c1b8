"""What a certificate says, and on what it rests, in words a reader can check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.finding import Finding
from steelyard.limits import Assumptions, Certificate, NotCertifiedError, ProvenMargin


@dataclass(frozen=True)
class Proof:
    """What is proven of a motion at every instant, or why it could not be.

    Attributes:
        holds: whether every limit is proven to be kept.
        message: the outcome in a sentence.
        margins: what is left of every limit at least; empty where nothing is proven.
        assumptions: what it rests on, in sentences.
        distance: how far apart everything must stay, m; the margins of clearances come on top of it.
        uncovered: what could hit or overload and is not part of the proof, in sentences.
    """

    holds: bool
    message: str
    margins: tuple[ProvenMargin, ...] = ()
    assumptions: tuple[str, ...] = ()
    distance: float = 0.0
    uncovered: tuple[str, ...] = ()

    @property
    def smallest_distance(self) -> float | None:
        """How far apart everything stays at least at every instant, m; None where that is not proven."""
        apart = [margin.margin for margin in self.margins if margin.kind == "clearance"]
        return self.distance + min(apart) if self.holds and apart else None


def proof_of(
    outcome: Certificate | NotCertifiedError,
    uncovered: Sequence[Finding] | None = None,
    looked: str = "",
) -> Proof:
    """Put the outcome of a certification in words.

    Args:
        outcome: a certificate, or the error that was raised instead.
        uncovered: what is not part of the proof; None for what the certificate says.
        looked: what other code saw of the motion, in a sentence.

    Returns:
        The proof; it does not hold where there is no certificate.
    """
    if isinstance(outcome, NotCertifiedError):
        return Proof(False, str(outcome))
    message = (
        f"Proven for all of its {outcome.duration:.6g} s, over {outcome.stretches} stretches of time, "
        "rounding included."
    )
    if looked:
        message = f"{message} {looked}"
    apart = any(margin.kind == "clearance" for margin in outcome.margins)
    given = outcome.assumptions
    missing = outcome.uncovered if uncovered is None else uncovered
    return Proof(
        True,
        message,
        outcome.margins,
        tuple(_sentences(given, apart)),
        given.distance,
        tuple(f"{x.place}: {x.message}" if x.place else x.message for x in missing),
    )


def _sentences(given: Assumptions, apart: bool) -> list[str]:
    tracking = given.tracking
    if any(error.any() for error in (tracking.position, tracking.velocity, tracking.acceleration)):
        said = [
            "The robot may be off the motion by up to "
            f"{tracking.position.max():.3g} rad or m, {tracking.velocity.max():.3g} rad/s or m/s and "
            f"{tracking.acceleration.max():.3g} rad/s² or m/s², at the joint that errs most."
        ]
    else:
        said = ["The robot follows the motion without error."]
    if not given.parameters:
        said.append("Torques were not looked at.")
    else:
        uncertain = int(np.count_nonzero(given.upper > given.lower))
        said.append(
            f"{uncertain} of {len(given.parameters)} dynamic parameters lie anywhere in their intervals, the "
            "others are exact."
            if uncertain
            else f"The {len(given.parameters)} dynamic parameters of the model are exact."
        )
    if apart:
        said.append(f"What is left of a clearance is beyond the {1e3 * given.distance:g} mm required.")
    else:
        said.append("Distances were not looked at.")
    if given.excluded:
        said.append(f"Not kept apart: {'; '.join(given.excluded)}.")
    return said
