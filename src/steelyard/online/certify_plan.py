"""The proof that a plan is safe: every state of its tube, every parameter vector of a box, every instant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.control import Tube
from steelyard.enclosure import Curve, Tracking
from steelyard.errors import InputError
from steelyard.limits import MotionLimits, certify
from steelyard.motion import SplineMotion
from steelyard.online.bernstein_curve import BernsteinCurve
from steelyard.online.plan_certificate import PlanCertificate
from steelyard.online.robust_torque import RobustLaw
from steelyard.online.torque_search import TorqueSearch
from steelyard.online.tube_torque import TubeDynamics

MOST_STRETCHES = 64
"""Stretches after which the search for a proof is given up."""
FIRST_STRETCHES = 4
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

        Returns:
            The certificate.

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
            first_stretches=FIRST_STRETCHES,
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
