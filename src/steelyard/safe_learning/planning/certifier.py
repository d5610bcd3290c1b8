"""The proof that a plan is safe: every state of its tube, every parameter vector of a box, every instant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, checked, read_only
from steelyard.control import Tube
from steelyard.enclosure import Curve, Tracking
from steelyard.errors import InputError
from steelyard.limits import MotionLimits, NotCertifiedError, certify
from steelyard.motion import SplineMotion
from steelyard.safe_learning.planning.certificate import PlanCertificate, RobustLaw
from steelyard.safe_learning.planning.tube import TubeDynamics, TubeTorques, tube_forms

# A plan of one polynomial piece, evaluated straight from its control points.
#
# The enclosures ask a plan for six derivatives at the middle of every stretch, and for bounds of seven.
# Differences of the control points give them all, $q^{(m)}(t) = \frac{d!}{(d-m)!\,T^m} \sum_i (\Delta^m c)_i
# \binom{d-m}{i} s^i (1-s)^{d-m-i}$ with $s = t/T$, where building a spline for each costs several times more
# than the enclosures themselves.


@dataclass(frozen=True, eq=False)
class BernsteinCurve:
    """What the enclosures need of a plan, the same to the last bits.

    Attributes:
        plan: the plan, of one polynomial piece.
    """

    plan: SplineMotion

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it moves."""
        return self.plan.joints

    @property
    def digest(self) -> str:
        """SHA-256 of the plan's content."""
        return self.plan.digest

    @property
    def duration(self) -> float:
        """How long it lasts, s."""
        return self.plan.duration

    @property
    def breaks(self) -> Array:
        """Start and end, shape (2,), s."""
        return self.plan.breaks

    @cached_property
    def _controls(self) -> tuple[Array, ...]:
        """Control points of every derivative, (d + 1 - m, nv)."""
        d, T = self.plan.degree, self.plan.duration
        c = self.plan.control.T
        return tuple(math.perm(d, m) / T**m * np.diff(c, m, axis=0) for m in range(d + 1))

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position, at times within the duration.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        t = checked("time", time, ("N",))
        if order > self.plan.degree:
            return np.zeros((len(t), len(self.joints)))
        c = self._controls[order]
        n, s = len(c) - 1, t / self.duration
        basis = [math.comb(n, i) * s**i * (1.0 - s) ** (n - i) for i in range(n + 1)]
        return np.stack(basis, axis=1) @ c

    def derivative_bounds(self, order: int) -> Array:
        """The largest control point of the derivative, which stays in their hull.

        Args:
            order: of the derivative.

        Returns:
            The bound, shape (1, nv), rad or m over the order's power of s.
        """
        if order > self.plan.degree:
            return np.zeros((1, len(self.joints)))
        bounds: Array = np.abs(self._controls[order]).max(axis=0, keepdims=True)
        return bounds


# The search for a proof of the torques: stretches of time are cut until every limit is kept on each.

FIRST_STRETCHES = 8
"""Into how many stretches a plan is cut at least, before any is cut again."""
MOST_PARTS = 8
"""Into how many a stretch is cut at most in one round."""
_RESERVE = 1.25
"""By how much a cut is finer than needed if torques were steady: they are not, and another round is dear."""


@dataclass(frozen=True, eq=False)
class TorqueSearch:
    """What is asked of the torques.

    Attributes:
        dynamics: the torques in the tube.
        law: the robust law.
        effort: the torque limits, infinite where none is stated, shape (nv,), N·m or N.
        plan: the plan.
        most: how many stretches to look at before giving up.
    """

    dynamics: TubeDynamics
    law: RobustLaw
    effort: Array
    plan: Curve
    most: int

    def run(self) -> tuple[Array, TubeTorques]:
        """Cut stretches until every torque limit is kept on each.

        Returns:
            Where the stretches meet, shape (K + 1,), s; and the torques on them.

        Raises:
            NotCertifiedError: a limit may be broken, or could not be proven; says which and when.
        """
        spans = self._first_spans()
        found: list[tuple[Array, TubeTorques, BoolArray]] = []
        looked_at = 0
        while len(spans):
            looked_at += len(spans)
            torques, margins = self._margins(spans)
            kept: BoolArray = np.asarray((margins >= 0.0).all(axis=1))
            found.append((spans, torques, kept))
            spans = self._cut(spans[~kept], margins[~kept], self.most - looked_at)
        return _joined(found)

    def _first_spans(self) -> Array:
        """Every piece of the plan in equal parts, none longer than `FIRST_STRETCHES` parts of the whole."""
        breaks = np.asarray(self.plan.breaks)
        pieces = np.stack((breaks[:-1], breaks[1:]), axis=1)
        return _parted(pieces, np.ceil(FIRST_STRETCHES * np.diff(breaks) / self.plan.duration - 1e-9))

    def _cut(self, spans: Array, margins: Array, most: int) -> Array:
        r"""Cut stretches on which a limit is not proven, or refuse the plan.

        What a bound over a stretch exceeds that of its middle by is about in proportion to its length: where
        a margin is $m < 0$ on the stretch and $m_0 > 0$ in its middle, $(m_0 - m)/m_0$ parts will do.
        """
        if not len(spans):
            return spans
        t = spans.mean(axis=1, keepdims=True)
        torques, middle = self._margins(np.repeat(t, 2, axis=1))
        if not (middle >= 0.0).all():
            # What is not kept at an instant is proven over no stretch around it.
            raise self._refusal(spans, middle, torques)
        short = margins < 0.0
        needed = np.where(short, 1.0 - margins / np.where(middle > 0.0, middle, np.inf), 2.0).max(axis=1)
        counts = np.clip(np.ceil(_RESERVE * needed), 2, MOST_PARTS)
        if counts.sum() > most:
            raise self._refusal(spans, margins, torques)
        return _parted(spans, counts)

    def _margins(self, spans: Array) -> tuple[TubeTorques, Array]:
        """The torques over stretches, and what is left of their limits, (K, nv)."""
        forms = tube_forms(self.plan, spans[:, 0], spans[:, 1], self.dynamics.tube)
        torques = self.dynamics.torques(forms)
        most = np.maximum(-torques.lower, torques.upper) + self.law.torque_bound(torques.disturbance)
        return torques, np.nextafter(self.effort - np.nextafter(most, np.inf), -np.inf)

    def _refusal(self, spans: Array, margins: Array, torques: TubeTorques) -> NotCertifiedError:
        """What to say of the joint and stretch of which least is left; `torques` are those in the middles."""
        row, joint = (int(k) for k in np.unravel_index(int(margins.argmin()), margins.shape))
        (start, end), least = spans[row], float(margins[row, joint])
        name, unit = self.dynamics.robot.joint_names[joint], self.dynamics.robot.joints[joint].effort_unit
        robust = float(self.law.torque_bound(torques.disturbance[row])[joint])
        how = f"may exceed its limit of {self.effort[joint]:g} {unit} by {-least:.3g} {unit}"
        return NotCertifiedError(
            f"its torque {how} between t = {start:.6g} s and {end:.6g} s; the robust part takes "
            f"{robust:.3g} {unit}.",
            kind="torque",
            name=name,
            instant=float(0.5 * (start + end)),
            margin=least,
            broken=False,
            remedy="Move more slowly, or narrow the parameters or the tube.",
        )


def _parted(spans: Array, counts: Array) -> Array:
    """Stretches (K, 2) in equal parts, as many of each as its count says."""
    edges = [np.linspace(start, end, int(n) + 1) for (start, end), n in zip(spans, counts, strict=True)]
    return np.concatenate([np.stack((x[:-1], x[1:]), axis=1) for x in edges])


def _joined(found: list[tuple[Array, TubeTorques, BoolArray]]) -> tuple[Array, TubeTorques]:
    """Proven stretches of all rounds in the order of time."""
    spans = np.concatenate([span[kept] for span, _, kept in found])
    order = spans[:, 0].argsort()
    lower, upper, w = (
        np.concatenate([getattr(torques, name)[kept] for _, torques, kept in found])[order]
        for name in ("lower", "upper", "disturbance")
    )
    return np.append(spans[order, 0], spans[order[-1], 1]), TubeTorques(lower, upper, w)


MOST_STRETCHES = 64
"""Stretches after which the search for a proof is given up."""
FIRST_GAP_STRETCHES = 4
"""Into how many stretches a plan is cut before any is halved: most pairs of shapes stay far apart."""


class Plan(Curve, Protocol):
    """A motion that can be certified; every motion of the package is one."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the nv joints it moves."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of its content."""
        ...


@dataclass(frozen=True, eq=False)
class PlanCertifier:
    """What a plan must keep, and under which law, ready for many plans; arrays are read-only.

    Attributes:
        limits: what must be respected, with the layout and the nominal parameters the law computes with.
        half_widths: by how much each parameter may differ, zero or more, shape (p,), SI.
        tube: the errors that are allowed.
        law: the robust law.
    """

    limits: MotionLimits
    half_widths: Array
    tube: Tube
    law: RobustLaw

    def __post_init__(self) -> None:
        layout = self.limits.layout
        if layout is None:
            remedy = "State layout and parameters."
            raise InputError("have no model of the torques.", place="limits", remedy=remedy)
        rho = checked("half_widths", self.half_widths, (layout.size,))
        object.__setattr__(self, "half_widths", read_only(rho))

    @cached_property
    def dynamics(self) -> TubeDynamics:
        """The torques in the tube."""
        layout, nominal = self.limits.layout, self.limits.parameters
        assert layout is not None  # it was asked for
        assert nominal is not None  # limits have both or none
        widths, rest_velocity = self.half_widths, self.law.rest_velocity
        return TubeDynamics(self.limits.robot, layout, nominal, widths, self.tube, rest_velocity)

    def certify(self, plan: Plan, *, most_stretches: int = MOST_STRETCHES) -> PlanCertificate:
        """Prove that the robot keeps every limit on its way along a plan.

        Position, velocity and clearance hold for every state in the tube; so do the torques, for every
        parameter vector in the box. What the acceleration limits bound is the plan.

        Args:
            plan: the plan, for the robot's joints in their order.
            most_stretches: how many stretches to look at before giving up, for the torques and for the rest.

        Raises:
            NotCertifiedError: a limit may be broken; says which, when and by how much.
            InputError: the plan is not of the robot's joints, or there is no robust law for the robot.
        """
        robot, effort, dynamics = self.limits.robot, self.limits.bounds.effort, self.dynamics
        n, tube = robot.nv, self.tube
        tracking = Tracking(np.full(n, tube.position), np.full(n, tube.velocity), np.zeros(n))
        curve = _quickest(plan)
        motion = certify(
            self._without_torques,
            curve,
            tracking=tracking,
            most_stretches=most_stretches,
            first_stretches=FIRST_GAP_STRETCHES,
            sharpness=0.0,
        )
        edges, torques = TorqueSearch(dynamics, self.law, effort, curve, most_stretches).run()
        return PlanCertificate(
            motion=motion,
            edges=edges,
            lower=torques.lower,
            upper=torques.upper,
            disturbance=torques.disturbance,
            robust=self.law.torque_bound(torques.disturbance),
            effort=effort,
            joints=robot.joint_names,
            parameters=dynamics.layout.names,
            nominal=dynamics.nominal,
            half_widths=self.half_widths,
            tube=tube,
            law=self.law,
        )

    @cached_property
    def _without_torques(self) -> MotionLimits:
        return MotionLimits(self.limits.robot, self.limits.clearance, distance=self.limits.distance)


def _quickest(plan: Plan) -> Plan:
    """The same plan in the form that is evaluated fastest."""
    return BernsteinCurve(plan) if isinstance(plan, SplineMotion) and len(plan.breaks) == 2 else plan
