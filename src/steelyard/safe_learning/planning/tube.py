"""The states of a tube around a plan, and the torque a robust passivity law commands in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, keep_checked, keep_read_only
from steelyard.control import Tube
from steelyard.enclosure import (
    Curve,
    Forms,
    MotionForms,
    enclosed_torque,
    enclosed_torque_apart,
    motion_forms,
)
from steelyard.errors import InputError
from steelyard.layout import Layout
from steelyard.robot import JointKind, Robot

# The states of a tube around a plan over stretches of time, as forms that share one set of symbols.
#
# The symbols are time, then the n components of e, then those of r. With $q = q_d - e$ and
# $\dot e = r - K_r e$,
#
# $$\dot q = \dot q_d + K_r e - r, \qquad
#   \dot q_a = \dot q_d + K_r e, \qquad \ddot q_a = \ddot q_d + K_r r - K_r^2 e.$$

_SUM_ROUNDING = 2.0**-48
"""More than any sum below loses to rounding, as a share of its terms."""


@dataclass(frozen=True, eq=False)
class TubeForms:
    """What a robot in its tube may do over K stretches, each shape (K, nv), in common symbols.

    Attributes:
        q: positions, rad or m.
        reference_v: velocities of the reference $q_a$, rad/s or m/s.
        reference_a: accelerations of the reference, rad/s² or m/s².
        mean_v: half the sum of the robot's velocities and the reference's, rad/s or m/s.
    """

    q: Forms
    reference_v: Forms
    reference_a: Forms
    mean_v: Forms


def tube_forms(plan: Curve, start: ArrayLike, end: ArrayLike, tube: Tube) -> TubeForms:
    """Enclose the states of the tube around a plan.

    Args:
        plan: where the robot is meant to be.
        start: where each stretch starts, shape (K,), s.
        end: where it ends, not before, shape (K,), s; no break of the plan lies inside a stretch.
        tube: the errors that are allowed.

    Returns:
        The forms. Their symbols lie in the two balls, which `ball_deviation` counts on.

    Raises:
        InputError: a stretch ends before it starts, leaves the duration, or has a break inside.
    """
    exact = motion_forms(plan, start, end)
    K, e, r = tube.kr, tube.position, tube.radius
    return TubeForms(
        q=_with_errors(exact.q, -e, 0.0),
        reference_v=_with_errors(exact.v, K * e, 0.0),
        reference_a=_with_errors(exact.a, -(K * K) * e, K * r),
        mean_v=_with_errors(exact.v, K * e, -0.5 * r),
    )


def ball_deviation(forms: Forms) -> Array:
    r"""How far forms of `tube_forms` symbols can be from their centres, the errors being in balls.

    A linear form $g \cdot x$ over a ball $\|x\| \le 1$ is at most $\|g\|$, where over the box around it it
    reaches the sum of the $|g_k|$.

    Args:
        forms: any shape (...), with 1 + 2 n symbols.

    Returns:
        The deviation, rounded up, shape (...), SI.
    """
    g = forms.generators
    n = forms.symbols // 2
    lengths = np.linalg.norm(g[..., 1 : 1 + n], axis=-1) + np.linalg.norm(g[..., 1 + n :], axis=-1)
    deviation: Array = (np.abs(g[..., 0]) + lengths + forms.radius) * (1.0 + (16 + n) * _SUM_ROUNDING)
    return deviation


def _with_errors(exact: Forms, e: float, r: float) -> Forms:
    """Add e times the symbols of the position error and r times those of the other."""
    K, n = exact.centre.shape
    g = np.zeros((K, n, 1 + 2 * n))
    g[:, :, 0] = exact.generators[:, :, 0]
    joint = np.arange(n)
    g[:, joint, 1 + joint] = e
    g[:, joint, 1 + n + joint] = r
    return Forms(exact.centre, g, exact.radius + _SUM_ROUNDING * (abs(e) + abs(r)))


# The torque a robust passivity law commands in its tube, for every parameter vector of a box.
#
# The law commands $\tau_0 - \nu$ with $\tau_0 = H\ddot q_a + C(q, \dot q)\,\dot q_a + g + \tau_{drive}$ at
# the nominal parameters; the drive acts on the reference,
#
# $$\tau_{drive} = F_v\,\dot q_a + F_c\,s_a + F_o + I_a\,\ddot q_a, \qquad
#   s_a = \operatorname{sat}(\dot q_a / v_0).$$
#
# Where Coulomb friction is compensated by less than the whole of it, the rest counts as a disturbance,
# $w = |Y|\rho + (F_c + \rho_c)(1 - |s_a|)$. C is of Christoffel type, so that
# $C(q, x)\,y$ is symmetric and bilinear in x and y, and
#
# $$C(q, \dot q)\,\dot q_a = C(q, s)\,s - C(q, d)\,d, \qquad
#   s = \tfrac12(\dot q + \dot q_a), \quad d = \tfrac12(\dot q - \dot q_a) = -\tfrac12 r.$$
#
# The first term is that of ordinary inverse dynamics, $\tau(q, s, \ddot q_a)$; the second is of the order of
# $\epsilon^2$ and is bounded once, for all positions. Columns of the regressor divide in the same way.

_DRIVE_ROUNDING = 2.0**-46
"""More than a sum over the terms of a drive loses to rounding, as a share of the terms."""
_TERMS = ("viscous", "coulomb", "offset", "rotor")


@dataclass(frozen=True, eq=False)
class TubeTorques:
    """What is commanded over K stretches, apart from the robust part; arrays are read-only.

    Attributes:
        lower: what the nominal torque is nowhere below, shape (K, nv), N·m or N.
        upper: what it is nowhere above, shape (K, nv), N·m or N.
        disturbance: w, what a parameter error of the box causes at most, shape (K, nv), N·m or N.
    """

    lower: Array
    upper: Array
    disturbance: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "lower", "upper", "disturbance")


@dataclass(frozen=True, eq=False)
class TubeDynamics:
    """A robot, the box of its parameters and a tube, ready to be enclosed.

    Attributes:
        robot: the robot; every joint turns about an axis and mimics no other.
        layout: the order of the parameters; of the drive's terms `viscous`, `coulomb`, `offset` and `rotor`.
        nominal: φ_0, what the law computes with, shape (p,), SI.
        half_widths: by how much each parameter may differ, zero or more, shape (p,), SI.
        tube: the errors that are allowed.
        rest_velocity: v_0, zero or more, rad/s or m/s.
    """

    robot: Robot
    layout: Layout
    nominal: Array
    half_widths: Array
    tube: Tube
    rest_velocity: float = 0.0

    def __post_init__(self) -> None:
        for joint in self.robot.joints:
            if joint.kind not in (JointKind.REVOLUTE, JointKind.CONTINUOUS) or joint.mimic is not None:
                raise InputError(
                    f"joint '{joint.name}' does not just turn: no robust law is enclosed for it.",
                    place="robot",
                    remedy=f"Hold it still with --lock {joint.name}=…, at a position within its limits.",
                )
        if not 0.0 <= self.rest_velocity < np.inf:
            raise InputError(f"must be zero or more, got {self.rest_velocity}.", place="rest_velocity")
        if other := sorted(set(self.layout.drive) - set(_TERMS)):
            raise InputError(f"has {', '.join(other)}; known here: {', '.join(_TERMS)}.", place="layout")
        keep_checked(self, (self.layout.size,), "nominal", "half_widths")
        if (self.half_widths < 0.0).any():
            worst = self.layout.names[int(self.half_widths.argmin())]
            raise InputError(f"must be zero or more, not at '{worst}'.", place="half_widths")

    def torques(self, states: TubeForms) -> TubeTorques:
        """Enclose the nominal torque and the disturbance.

        Args:
            states: what the robot may do over K stretches.

        Returns:
            Their bounds.
        """
        links = MotionForms(states.q, states.mean_v, states.reference_a)
        phi, rho = self._links(self.nominal), self._links(self.half_widths)
        tau, spread = enclosed_torque_apart(self.robot, self.layout, phi, rho, links)
        tau = _sum(tau, self._nominal_drive(states))
        most = ball_deviation(tau) + self._second_order[0]
        w = spread + self._second_order[1] + self._drive_spread(states)
        return TubeTorques(
            np.nextafter(tau.centre - most, -np.inf),
            np.nextafter(tau.centre + most, np.inf),
            w * (1.0 + _DRIVE_ROUNDING),
        )

    @cached_property
    def _second_order(self) -> tuple[Array, Array]:
        """What C(q, d) d is nowhere above in size: at the nominal parameters, and for their half widths."""
        n = self.robot.nv
        anywhere = Forms(np.zeros((1, n)), np.zeros((1, n, n)), np.full((1, n), 8.0))
        slow = Forms(np.zeros((1, n)), np.diag(np.full(n, 0.5 * self.tube.radius))[None], np.zeros((1, n)))
        still = Forms(np.zeros((1, n)), np.zeros((1, n, n)), np.zeros((1, n)))
        weightless = self.robot.with_gravity(np.zeros(3))
        bounds = []
        for low, high in ((self.nominal, self.nominal), (-self.half_widths, self.half_widths)):
            links = self._links(low), self._links(high)
            tau = enclosed_torque(weightless, self.layout, *links, MotionForms(anywhere, slow, still))
            bounds.append(np.maximum(-tau.lower[0], tau.upper[0]))
        return bounds[0], bounds[1]

    def _links(self, phi: Array) -> Array:
        """The parameters of the links alone."""
        return np.where(np.arange(len(phi)) < 10 * len(self.layout.links), phi, 0.0)

    def _drive(self, phi: Array) -> Array:
        """The drive's numbers in the order of `_TERMS`, zero where absent, shape (4, nv)."""
        columns = self.layout.drive_columns.T
        return np.where(columns >= 0, phi[columns], 0.0)

    def _nominal_drive(self, states: TubeForms) -> Forms:
        viscous, coulomb, offset, rotor = self._drive(self.nominal)
        v_a, a_a = states.reference_v, states.reference_a
        low, high = self._friction_signs(v_a)
        centre = viscous * v_a.centre + rotor * a_a.centre + offset + coulomb * (0.5 * (low + high))
        generators = viscous[:, None] * v_a.generators + rotor[:, None] * a_a.generators
        radius = (
            np.abs(viscous) * v_a.radius + np.abs(rotor) * a_a.radius + np.abs(coulomb) * 0.5 * (high - low)
        )
        sizes = np.abs(viscous) * _size(v_a) + np.abs(rotor) * _size(a_a) + np.abs(offset) + np.abs(coulomb)
        return Forms(centre, generators, radius + _DRIVE_ROUNDING * sizes)

    def _drive_spread(self, states: TubeForms) -> Array:
        viscous, coulomb, offset, rotor = self._drive(self.half_widths)
        low, high = self._friction_signs(states.reference_v)
        least = np.maximum(np.maximum(low, -high), 0.0)
        left_over = (
            np.abs(self._drive(self.nominal)[1]) * (1.0 - least) * (1.0 + _DRIVE_ROUNDING)
            + _DRIVE_ROUNDING * coulomb
        )
        linear = viscous * _size(states.reference_v) + rotor * _size(states.reference_a)
        spread: Array = linear + coulomb + offset + left_over
        return spread

    def _friction_signs(self, v_a: Forms) -> tuple[Array, Array]:
        """What s_a is nowhere below and nowhere above, each (K, nv)."""
        most = ball_deviation(v_a)
        ends = np.nextafter(v_a.centre - most, -np.inf), np.nextafter(v_a.centre + most, np.inf)
        if self.rest_velocity == 0.0:
            return np.sign(ends[0]), np.sign(ends[1])
        low, high = (np.clip(x / self.rest_velocity, -1.0, 1.0) for x in ends)
        return np.maximum(low - _DRIVE_ROUNDING, -1.0), np.minimum(high + _DRIVE_ROUNDING, 1.0)


def _size(x: Forms) -> Array:
    """What a form's absolute value does not exceed over the balls."""
    return np.abs(x.centre) + ball_deviation(x)


def _sum(x: Forms, y: Forms) -> Forms:
    lost = _DRIVE_ROUNDING * (np.abs(x.centre) + x.deviation + np.abs(y.centre) + y.deviation)
    return Forms(x.centre + y.centre, x.generators + y.generators, x.radius + y.radius + lost)
