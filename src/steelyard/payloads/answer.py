"""`PayloadEstimate`: what the arm holds, how sure that is, and what decided each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import UnknownNameError
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, rotational_inertia
from steelyard.payloads.posterior import (
    PayloadPrior,
    best_body,
    body_without_constraints,
    moved_inside,
    posterior_of,
)
from steelyard.payloads.weighing import SCALES, Weighing

# The numbers people ask for: mass, centre of mass, inertia about it, principal moments.

QUANTITIES = (
    "mass",
    *(f"com_{axis}" for axis in "xyz"),
    *(f"I_{axes}" for axes in ("xx", "xy", "yy", "xz", "yz", "zz")),
    *(f"moment_{k}" for k in (1, 2, 3)),
)
"""Names, in order: kg, m, kg m² about the centre of mass, and principal moments in ascending order."""
UNITS = ("kg", *(3 * ["m"]), *(9 * ["kg m²"]))
"""Their units."""
_STEP = 1e-6


def quantities(ten: Array) -> Array:
    """What people ask of bodies.

    Args:
        ten: the ten numbers of each body, mass not zero, shape (..., 10), SI.

    Returns:
        By `QUANTITIES`, shape (..., 13), SI.
    """
    phi = checked("ten", ten, ("...", 10))
    m = phi[..., :1]
    c = phi[..., 1:4] / m
    square = (
        np.einsum("...i,...i->...", c, c)[..., None, None] * np.eye(3) - c[..., :, None] * c[..., None, :]
    )
    tensor = rotational_inertia(phi) - m[..., None] * square
    moments = np.linalg.eigvalsh(tensor)
    six = np.stack([tensor[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))], axis=-1)
    return np.concatenate([m, c, six, moments], axis=-1)


def slopes(ten: Array, sizes: Array) -> Array:
    """Derivatives of the quantities in the ten numbers, by central differences.

    Args:
        ten: the ten numbers of a body, shape (10,), SI.
        sizes: of the ten numbers, shape (10,), SI.

    Returns:
        Derivatives, shape (13, 10), SI.
    """
    steps = _STEP * np.diag(sizes)
    return np.asarray((quantities(ten + steps) - quantities(ten - steps)).T / (2.0 * _STEP * sizes))


POINTS = ("mean", "lmi", "cholesky")
"""Which of the bodies that agree with the data is given: their mean, or the best fit in one of two ways."""
ALONE = 2.0
"""The prior decides where the data alone would spread more than this many times as wide."""
SETTLED = 0.15
"""Share of itself that three deviations of a principal moment may reach for the data to have settled it."""
MIXED = 1.1
"""Ratio of spreads above which the walks do not agree."""


class DecidedBy(StrEnum):
    """What decided a number."""

    DATA = "data"
    PRIOR = "prior"


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """What the arm holds.

    Attributes:
        weighing: what the data says, and in which frame.
        prior: what a payload could be beforehand.
        ten: the ten numbers, of a body that can exist, shape (10,), SI.
        lower: lower ends of 95 % intervals, by `QUANTITIES`, shape (13,), SI.
        upper: upper ends, shape (13,), SI.
        decided: what decided each of `QUANTITIES`.
        draws: bodies that can exist and agree with the data, shape (n, 10), SI.
        findings: what was noticed.
    """

    weighing: Weighing
    prior: PayloadPrior
    ten: Array
    lower: Array
    upper: Array
    decided: Mapping[str, DecidedBy]
    draws: Array
    findings: tuple[Finding, ...]

    @property
    def body(self) -> Body:
        """The payload in its frame."""
        return Body.from_parameters(self.ten)

    @property
    def values(self) -> Array:
        """By `QUANTITIES`, shape (13,), SI."""
        return quantities(self.ten)

    @property
    def deviations(self) -> dict[str, Array]:
        """Standard deviations by the data alone, by what they come from, by `QUANTITIES`.

        Noise, which a longer log has less of, stands apart from each source of systematic error, which it
        does not; each shape (13,), SI, infinite where the data is blind.
        """
        return self.weighing.parts(slopes(self.ten, SCALES))

    @property
    def covariance(self) -> Array:
        """Of the ten numbers among the draws, shape (10, 10), SI."""
        return np.asarray(np.cov(self.draws.T))


def payload_of(
    weighing: Weighing,
    rng: np.random.Generator,
    *,
    prior: PayloadPrior | None = None,
    point: str = "mean",
) -> PayloadEstimate:
    """From what the data says to a body that can exist.

    Args:
        weighing: what the data says.
        rng: source of the draws.
        prior: what a payload can be; None for up to 100 kg within half a metre.
        point: one of `POINTS`.

    Returns:
        The estimate. It can exist whatever the data says; where the data would rather have it otherwise,
        a finding says by how much.

    Raises:
        UnknownNameError: no such point.
    """
    if point not in POINTS:
        raise UnknownNameError("point", point, POINTS)
    prior = prior or PayloadPrior()
    best = best_body(weighing, prior)
    start = moved_inside(best, prior)
    walked = posterior_of(weighing, prior, start, rng)
    ten = walked.mean if point == "mean" else best
    if point == "cholesky":
        ten = body_without_constraints(weighing, start)
    drawn = quantities(walked.draws)
    lower, upper = np.quantile(drawn, (0.025, 0.975), axis=0)
    return PayloadEstimate(
        weighing,
        prior,
        read_only(ten),
        read_only(lower),
        read_only(upper),
        _decided(weighing, walked.mean, drawn, lower, upper),
        walked.draws,
        (*weighing.findings, *_noticed(weighing, best, walked.mixing)),
    )


def _decided(
    weighing: Weighing, mean: Array, drawn: Array, lower: Array, upper: Array
) -> dict[str, DecidedBy]:
    """The data decides what it alone would spread no wider, and settles moments to a share of themselves."""
    alone = weighing.deviation(slopes(mean, SCALES))
    prior = alone > ALONE * drawn.std(axis=0)
    values = drawn.mean(axis=0)
    moments = np.array([name.startswith("moment") for name in QUANTITIES])
    # Half a 95 % interval is two deviations; of many numbers that are settled none should be off by more.
    prior |= moments & (0.75 * (upper - lower) > SETTLED * values)
    return {
        name: DecidedBy.PRIOR if flagged else DecidedBy.DATA
        for name, flagged in zip(QUANTITIES, prior, strict=True)
    }


def _noticed(weighing: Weighing, best: Array, mixing: float) -> list[Finding]:
    findings = []
    excess = float(np.sum((weighing.factor @ best - weighing.target) ** 2))
    if excess > 25.0:
        findings.append(
            Finding(
                Severity.WARNING,
                "impossible-payload",
                f"the numbers that fit best belong to no body; the nearest that can exist fit worse by "
                f"{excess:.3g} in chi square. Something else than the payload is in these torques.",
                "payload",
            )
        )
    if weighing.shown < 10:
        findings.append(
            Finding(
                Severity.WARNING,
                "hidden-payload",
                f"the motion shows {weighing.shown} of the ten numbers; the prior decides the rest.",
                "payload",
            )
        )
    if mixing > MIXED:
        findings.append(
            Finding(
                Severity.WARNING,
                "unsettled-draws",
                f"the draws behind the intervals do not agree (ratio {mixing:.2f}).",
                "payload",
            )
        )
    return findings
