"""The check of a plan's certificate by other means: slopes in plain arithmetic, cut more finely.

Nothing of how the proof was found is used, but the claim and the stretches it was found on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.limits import MotionLimits, NotCertifiedError
from steelyard.motion import SplineMotion
from steelyard.online.checked_gaps import CheckedGaps
from steelyard.online.checked_rows import link_rows
from steelyard.online.checked_states import checked_states, curve_spans
from steelyard.online.jets import Jet, mapped
from steelyard.online.plan_certificate import PlanCertificate

CUTS = 2
"""Into how many pieces each stretch of the certificate is cut at first."""
MOST_HALVINGS = 5
"""How often a piece is halved before the check is given up."""
MOST_PIECES = 1024
"""Pieces that are looked at in one round; where more are left, nothing would come of halving them."""
_LOST = 1e-12


@dataclass(frozen=True)
class PlanCheck:
    """What a check has found to be left of the limits at least; infinite where nothing is limited.

    Attributes:
        position: rad or m.
        velocity: rad/s or m/s.
        acceleration: of the plan, rad/s² or m/s².
        torque: N·m or N.
        clearance: m.
    """

    position: float
    velocity: float
    acceleration: float
    torque: float
    clearance: float


def check_plan(certificate: PlanCertificate, limits: MotionLimits, plan: SplineMotion) -> PlanCheck:
    """Verify a certificate again.

    Args:
        certificate: what is claimed.
        limits: what must be respected, with layout and nominal parameters.
        plan: the plan, of one polynomial piece.

    Returns:
        What is left of the limits.

    Raises:
        InputError: the certificate is of another robot, plan, model or limit.
        NotCertifiedError: a limit could not be verified; says which and when.
    """
    _same(certificate, limits, plan)
    bounds, tube = limits.bounds, certificate.tube
    names = bounds.joints

    def curve(order: int, low: Array, high: Array, error: float) -> Callable[[Array, Array], Array]:
        def margins(start: Array, end: Array) -> Array:
            c, r = curve_spans(plan, start, end, order)
            return np.minimum(c - low, high - c) - (r + error) * (1.0 + _LOST)

        return margins

    def torques(start: Array, end: Array) -> Array:
        most: Array = certificate.effort - _most_torque(certificate, limits, plan, start, end)
        return most

    kinds = {
        "position": curve(0, bounds.lower, bounds.upper, tube.position),
        "velocity": curve(1, -bounds.velocity, bounds.velocity, tube.velocity),
        "acceleration": curve(2, -bounds.acceleration, bounds.acceleration, 0.0),
        "torque": torques,
    }
    found = {kind: _verified(kind, names, certificate.edges, margins) for kind, margins in kinds.items()}
    gap = np.inf
    clearance = limits.clearance
    if clearance is not None and clearance.pairs:

        def gaps(start: Array, end: Array) -> Array:
            corners = CheckedGaps(clearance, plan, start, end, tube)
            every = [corners.least(k, limits.distance) for k in range(len(clearance.pairs))]
            return np.stack(every, axis=1) - limits.distance * (1.0 + _LOST)

        gap = _verified("clearance", clearance.names, certificate.edges, gaps)
    return PlanCheck(**found, clearance=gap)


def _same(certificate: PlanCertificate, limits: MotionLimits, plan: SplineMotion) -> None:
    layout, nominal = limits.layout, limits.parameters
    claims = {
        "robot": certificate.motion.robot == limits.robot.digest,
        "plan": certificate.motion.motion == plan.digest and certificate.edges[-1] == plan.duration,
        "joints": certificate.joints == limits.robot.joint_names == plan.joints,
        "parameters": layout is not None
        and certificate.parameters == layout.names
        and np.array_equal(certificate.nominal, np.asarray(nominal)),
        "effort": np.array_equal(certificate.effort, limits.bounds.effort),
    }
    for name, same in claims.items():
        if not same:
            raise InputError(f"is not that of the certificate: {name}.", place="certificate")


def _verified(
    kind: str, names: tuple[str, ...], edges: Array, margins: Callable[[Array, Array], Array]
) -> float:
    """The least margin over all pieces, cut until none is negative."""
    fine = np.union1d(edges, (edges[:-1, None] + np.diff(edges)[:, None] * np.arange(CUTS) / CUTS).ravel())
    start, end, least = fine[:-1], fine[1:], np.inf
    for _ in range(MOST_HALVINGS + 1):
        left = margins(start, end)
        kept = (left >= 0.0).all(axis=1)
        least = min(least, float(left[kept].min(initial=np.inf)))
        start, end, left = start[~kept], end[~kept], left[~kept]
        if not len(start):
            return least
        if 2 * len(start) > MOST_PIECES:
            break
        middle = 0.5 * (start + end)
        start, end = np.concatenate((start, middle)), np.concatenate((middle, end))
    row, column = np.unravel_index(int(left.argmin()), left.shape)
    raise NotCertifiedError(
        f"its {kind} could not be verified near t = {start[row]:.6g} s.",
        kind=kind,
        name=names[column],
        instant=float(start[row]),
        margin=float(left[row, column]),
        broken=False,
        remedy="",
    )


def _most_torque(
    certificate: PlanCertificate, limits: MotionLimits, plan: SplineMotion, start: Array, end: Array
) -> Array:
    """What the size of each joint's torque does not exceed over pieces, (K, nv)."""
    robot, layout, tube, law = limits.robot, limits.layout, certificate.tube, certificate.law
    assert layout is not None  # the certificate is of the same layout
    links = 10 * len(layout.links)
    columns = layout.drive_columns.T
    F, rho_F = (
        np.where(columns >= 0, phi[columns], 0.0) for phi in (certificate.nominal, certificate.half_widths)
    )
    phi, rho = certificate.nominal[:links], certificate.half_widths[:links]
    x = checked_states(plan, start, end, tube)
    Y = link_rows(robot, x.q, x.v, x.v_a, x.a_a)
    tau = mapped("p,kjp->kj", phi, Y) + mapped("j,kj->kj", F[0], x.v_a) + mapped("j,kj->kj", F[3], x.a_a)
    sign, unsure, least = _friction_signs(x.v_a, certificate)
    nominal = np.abs(tau.middle[0] + F[2] + F[1] * sign) + tau.radius[0] + np.abs(F[1]) * unsure
    w = Y.size @ rho
    w += rho_F[0] * x.v_a.size + rho_F[3] * x.a_a.size + rho_F[1] + rho_F[2]
    w += np.abs(F[1]) * (1.0 - least)
    w *= 1.0 + _LOST
    norm = np.linalg.norm(w, axis=1, keepdims=True)
    robust = w if law.form == "componentwise" else 0.5 * (norm + w)
    most: Array = (nominal + robust + law.reserve) * (1.0 + _LOST)
    return most


def _friction_signs(v_a: Jet, certificate: PlanCertificate) -> tuple[Array, Array, Array]:
    """Middle and radius of sat(v_a / v_0), and its least size, each (K, nv)."""
    ends = v_a.middle[0] - v_a.radius[0], v_a.middle[0] + v_a.radius[0]
    v_0 = certificate.law.rest_velocity
    low, high = (np.sign(x) if v_0 == 0.0 else np.clip(x / v_0, -1.0, 1.0) for x in ends)
    least = np.maximum(np.maximum(low, -high) - _LOST, 0.0)
    return 0.5 * (low + high), 0.5 * (high - low) + _LOST, least
