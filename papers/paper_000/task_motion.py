"""Motions that carry a load from pose to pose around obstacles with little jerk, proven at every instant.

VI-D3 of Zhang et al.: two pieces of one second, each of degree 5, within the limits of the joints and of the
torque with the load that is held. The least jerk is searched at sampled instants; then `certify` proves every
limit between them, or says where more room is needed and the search goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from paper_000.least_jerk import KEPT, least_jerk
from paper_000.sampled_limits import SampledLimits, Worst
from paper_000.two_pieces import TwoPieces
from steelyard.arrays import Array, checked
from steelyard.enclosure import Tracking
from steelyard.errors import InputError, NoSolutionError
from steelyard.limits import Certificate, MotionLimits, NotCertifiedError, certify
from steelyard.motion import SequenceMotion

INSTANTS = 64
"""Sampled instants at first, evenly over the motion."""
PROOFS = 20
"""Times a search is taken up again after a proof has failed."""
STARTS = 4
"""Searches: the first from the straight motion, the others from random poses on the way."""
STRETCHES = 8192
"""Stretches of time after which a proof is taken as it is, or given up."""
UNITS = {
    "position": "rad or m",
    "velocity": "rad/s or m/s",
    "acceleration": "rad/s² or m/s²",
    "torque": "N·m or N",
    "clearance": "m",
}
_ASIDE = 0.5
"""Standard deviation of the random poses about the straight motion, rad or m."""


@dataclass(frozen=True, eq=False)
class TaskMotion:
    """A motion for a task, with its proof.

    Attributes:
        motion: at rest at both ends.
        certificate: that it keeps every limit at every instant.
        jerk: integral of the squared jerk of all joints, rad²/s⁵ or m²/s⁵.
        straight_jerk: that of the straight motion of the same duration, the least of all motions from rest to
            rest, rad²/s⁵ or m²/s⁵.
    """

    motion: SequenceMotion
    certificate: Certificate
    jerk: float
    straight_jerk: float


def task_motion(
    limits: MotionLimits,
    start: ArrayLike,
    end: ArrayLike,
    rng: np.random.Generator,
    *,
    durations: tuple[float, float] = (1.0, 1.0),
    tracking: Tracking | None = None,
    uncertainty: ArrayLike | None = None,
    starts: int = STARTS,
) -> TaskMotion:
    """Plan a motion from rest to rest with little jerk that provably keeps every limit.

    Where the straight motion keeps them it is the answer, and no motion has less jerk. Otherwise the best of
    several local optima is.

    Args:
        limits: of the robot with its load, whose parameters predict the torques, and what it must stay clear
            of.
        start: where it starts, shape (nv,), rad or m.
        end: where it ends, shape (nv,), rad or m.
        rng: source of the poses from which searches start.
        durations: of both pieces, s.
        tracking: how far the robot may be from the motion; None where it follows perfectly.
        uncertainty: by how much each of the limits' parameters may differ, shape (p,), SI; None where they
            are exact.
        starts: how many searches, at least one.

    Returns:
        The motion with its certificate.

    Raises:
        NoSolutionError: no motion was found; says which limit is missed, when and by how much.
        InputError: the robot is no arm, or an argument does not fit it.
    """
    robot = limits.robot
    robot.require_arm()
    if starts < 1:
        raise InputError(f"must be at least 1, got {starts}.", place="starts")
    q0, q1 = checked("start", start, (robot.nv,)), checked("end", end, (robot.nv,))
    _refuse_poses(limits, q0, q1)
    family = TwoPieces(robot.joint_names, q0, q1, durations, robot.digest)
    x, best, missed = family.straight, None, []
    scale = family.jerk(x)
    for k in range(starts):
        sampled = SampledLimits(limits, family, np.linspace(0.0, sum(durations), INSTANTS + 1))
        if k > 0:
            x = family.straight
            x[:, 0] += _ASIDE * rng.standard_normal(robot.nv)
        found = _proven(sampled, x, scale, tracking, uncertainty)
        if isinstance(found, Worst):
            missed.append(found)
        elif best is None or found.jerk < best.jerk:
            best = found
        if best is not None and best.jerk <= scale * (1.0 + 1e-9):
            break
    if best is None:
        raise _nothing_found(missed[0], durations, starts)
    return best


def _proven(
    sampled: SampledLimits, x: Array, scale: float, tracking: Tracking | None, uncertainty: ArrayLike | None
) -> TaskMotion | Worst:
    """Search and prove in turn; the limit that is missed where no proof is found."""
    family, missed = sampled.family, None
    for _ in range(PROOFS):
        # Between equal poses the straight motion stands still and has no jerk to compare with.
        x, violation = least_jerk(sampled, x, scale if scale > 0.0 else 1.0)
        if violation > KEPT:
            # After a refusal it may be the room that is missed, and not the limit.
            return sampled.worst(x) if missed is None else missed
        motion = family.motion(x)
        try:
            certificate = certify(
                sampled.limits,
                motion,
                tracking=tracking,
                uncertainty=uncertainty,
                most_stretches=STRETCHES,
            )
        except NotCertifiedError as refusal:
            missed = Worst(refusal.kind, refusal.name, refusal.instant, refusal.margin)
            sampled.learn(missed, x)
        else:
            return TaskMotion(motion, certificate, family.jerk(x), scale)
    assert missed is not None
    return missed


def _refuse_poses(limits: MotionLimits, start: Array, end: Array) -> None:
    """Refuse poses at which the robot cannot even stand."""
    for name, pose in (("start", start), ("end", end)):
        still = TwoPieces(limits.robot.joint_names, pose, pose, (1.0, 1.0))
        at_rest = SampledLimits(limits, still, np.zeros(1))
        if at_rest.violation(still.straight) > 0.0:
            worst = at_rest.worst(still.straight)
            raise NoSolutionError(
                f"standing there misses the {worst.kind} of {worst.name} by {-worst.margin:.3g} "
                f"{UNITS[worst.kind]}.",
                place=name,
                remedy="Choose another pose.",
                evidence=worst._asdict(),
            )


def _nothing_found(worst: Worst, durations: tuple[float, float], starts: int) -> NoSolutionError:
    return NoSolutionError(
        f"none of {starts} searches found a motion of {sum(durations):g} s within the limits; the first one "
        f"missed the {worst.kind} of {worst.name} by {-worst.margin:.3g} {UNITS[worst.kind]} at t = "
        f"{worst.instant:.3g} s.",
        place="limits",
        remedy="Allow more time, another way round, or more searches.",
        evidence=worst._asdict(),
    )
