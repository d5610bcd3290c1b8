"""The search for a proof: stretches of time are halved until every limit is kept on each, or one breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, checked
from steelyard.enclosure import Curve, Tracking, motion_forms
from steelyard.errors import InputError
from steelyard.limits.certificate import Assumptions, Certificate, NotCertifiedError, ProvenMargin
from steelyard.limits.margins import MotionLimits
from steelyard.limits.stretch_margins import Limit, StretchMargins

# Why a motion is not certified, in words.


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


FIRST_STRETCHES = 16
"""Into how many stretches a motion is cut at least, before any is halved."""
SHARPNESS = 0.8
"""Share of the margin seen in the middle of stretches that is to be proven."""
MOST_STRETCHES = 200_000
"""Stretches after which the search for a proof is given up."""
_NARROWEST = 2.0**-32
"""Share of the duration below which no stretch is halved."""


class NamedCurve(Curve, Protocol):
    """A motion that can be certified; every motion of the package is one."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it moves."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of its content."""
        ...


def certify(
    limits: MotionLimits,
    motion: NamedCurve,
    *,
    tracking: Tracking | None = None,
    uncertainty: ArrayLike | None = None,
    most_stretches: int = MOST_STRETCHES,
    first_stretches: int = FIRST_STRETCHES,
    sharpness: float = SHARPNESS,
) -> Certificate:
    """Prove that a motion keeps every limit at every instant.

    Position, velocity, acceleration, torque and clearance are bounded over whole stretches of time, rounding
    included; a stretch on which a bound is not good enough is halved.

    Args:
        limits: what the motion must respect.
        motion: the motion, for the robot's joints in their order.
        tracking: how far the robot may be from the motion at any instant; None where it follows perfectly.
            The torque is then that of the position, velocity and acceleration it has.
        uncertainty: by how much each of the limits' parameters may differ, zero or more, shape (p,), SI; None
            where they are exact.
        most_stretches: how many stretches to look at before giving up.
        first_stretches: into how many stretches to cut the motion at least, before any is halved.
        sharpness: share of the margin seen in the middle of stretches that is to be proven, from 0 to below
            1. With 0 no stretch is halved once its limits are proven to be kept, which is quickest; the
            certificate's margins are then what was proven on the way.

    Raises:
        NotCertifiedError: a limit is broken, or may be; says which, when and by how much.
        InputError: the motion is not of the robot's joints, the robot has joints with several degrees of
            freedom, or a number of the search is out of range.
    """
    robot = limits.robot
    if motion.joints != robot.joint_names:
        raise InputError(
            f"moves the joints {list(motion.joints)}, the robot has {list(robot.joint_names)}.",
            place="motion",
        )
    if not 0.0 <= sharpness < 1.0:
        raise InputError(f"must be from 0 to below 1, got {sharpness}.", place="sharpness")
    if first_stretches < 1:
        raise InputError(f"must be at least 1, got {first_stretches}.", place="first_stretches")
    around = Tracking.perfect(robot.nv) if tracking is None else tracking
    lower, upper = _parameter_box(limits, uncertainty)
    margins = StretchMargins(limits, lower, upper)
    first = _first_edges(motion, first_stretches)
    proofs, stretches = _Search(margins, motion, around, most_stretches, sharpness).run(first)
    layout, clearance = limits.layout, limits.clearance
    assumptions = Assumptions(
        tracking=around,
        lower=lower,
        upper=upper,
        parameters=() if layout is None else layout.names,
        distance=limits.distance,
        excluded=() if clearance is None else tuple(pair.name for pair in clearance.excluded),
        findings=limits.findings,
    )
    return Certificate(robot.digest, motion.digest, motion.duration, proofs, stretches, assumptions)


def _parameter_box(limits: MotionLimits, uncertainty: ArrayLike | None) -> tuple[Array, Array]:
    if limits.parameters is None:
        if uncertainty is not None:
            raise InputError("is given, but the limits have no parameters.", place="uncertainty")
        return np.empty(0), np.empty(0)
    phi = limits.parameters
    if uncertainty is None:
        return phi, phi
    spread = checked("uncertainty", uncertainty, phi.shape)
    if (spread < 0.0).any():
        raise InputError(f"must be zero or more, got {spread.min()}.", place="uncertainty")
    low, high = np.nextafter(phi - spread, -np.inf), np.nextafter(phi + spread, np.inf)
    return np.where(spread > 0.0, low, phi), np.where(spread > 0.0, high, phi)


@dataclass(eq=False)
class _Search:
    """The stretches still to be proven, and the least margins proven so far."""

    margins: StretchMargins
    motion: NamedCurve
    tracking: Tracking
    most: int
    sharpness: float

    def run(self, edges: Array) -> tuple[tuple[ProvenMargin, ...], int]:
        """Prove every limit on every stretch; the least margins, and how many stretches it took."""
        every = self.margins.every
        start, end = edges[:-1], edges[1:]
        wanted = np.ones((len(start), len(every)), dtype=np.bool_)
        proven = np.full(len(every), np.inf)
        where = np.zeros((len(every), 2))
        reached = np.full(len(every), np.inf)
        looked_at = 0
        while len(start) and every:
            looked_at += len(start)
            forms = motion_forms(self.motion, start, end, self.tracking)
            least, seen = self.margins.proven(forms, wanted)
            reached = np.minimum(reached, seen.min(axis=0))
            last = (end - start <= _NARROWEST * self.motion.duration) | (looked_at > self.most)
            sharp = least >= self.sharpness * np.maximum(reached, 0.0)
            done = wanted & (sharp | (last[:, None] & (least >= 0.0)))
            best = np.where(done, least, np.inf)
            row = best.argmin(axis=0)
            smaller = best.min(axis=0) < proven
            proven = np.where(smaller, best.min(axis=0), proven)
            where[smaller] = np.stack([start[row], end[row]], axis=1)[smaller]
            wanted &= ~done
            self._refuse_broken(start, end, least, wanted)
            if (wanted & last[:, None]).any():
                self._give_up(start, end, least, wanted)
            start, end, wanted = _halved(start, end, wanted)
        found = zip(every, proven.tolist(), where.tolist(), strict=True)
        return tuple(ProvenMargin(x.kind, x.name, m, x.unit, *w) for x, m, w in found), looked_at

    def _refuse_broken(self, start: Array, end: Array, least: Array, wanted: BoolArray) -> None:
        """Look at the middle of stretches that are not proven: what fails there fails at any width."""
        doubtful = wanted & ~(least >= 0.0)
        rows = doubtful.any(axis=1)
        if not rows.any():
            return
        t = 0.5 * (start[rows] + end[rows])
        at, _ = self.margins.proven(motion_forms(self.motion, t, t, self.tracking), doubtful[rows])
        broken = ~(at >= 0.0)
        if not broken.any():
            return
        row = int(np.where(broken.any(axis=1), t, np.inf).argmin())
        every, left = self.margins.every, at[row]
        # Of limits in different units the first kind is named, and of that kind the worst.
        kind = every[int(broken[row].argmax())].kind
        column = min((k for k in np.flatnonzero(broken[row]) if every[k].kind == kind), key=lambda k: left[k])
        raise broken_limit(self.margins, self.tracking, every[column], float(t[row]), float(left[column]))

    def _give_up(self, start: Array, end: Array, least: Array, wanted: BoolArray) -> None:
        row, column = np.unravel_index(int(np.where(wanted, least, np.inf).argmin()), least.shape)
        instant = float(0.5 * (start[row] + end[row]))
        raise unproven_limit(self.margins.every[column], instant, float(least[row, column]))


def _first_edges(motion: Curve, count: int) -> Array:
    """The motion's breaks, and as many times in between as make `count` stretches."""
    between = np.linspace(0.0, motion.duration, count + 1)
    breaks = np.asarray(motion.breaks)
    # A time a hair beside a break would make a stretch of no width worth speaking of.
    near = np.abs(between[:, None] - breaks).min(axis=1) < 1e-9 * motion.duration
    edges = np.union1d(breaks, between[~near])
    # Nothing before the first break or behind the last one is left out, should rounding have moved them.
    edges[0], edges[-1] = 0.0, motion.duration
    return edges


def _halved(start: Array, end: Array, wanted: BoolArray) -> tuple[Array, Array, BoolArray]:
    rows = wanted.any(axis=1)
    first, last, left = start[rows], end[rows], wanted[rows]
    middle = 0.5 * (first + last)
    return np.concatenate((first, middle)), np.concatenate((middle, last)), np.concatenate((left, left))
