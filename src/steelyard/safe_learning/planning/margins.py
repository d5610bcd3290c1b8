"""What is left of torque limits and clearance at sampled instants of a plan, while one is searched for.

In its tube a plan asks for a little more torque and space than on the plan itself, and between the instants
too. What that takes is measured by the certificate's own enclosure at a plan near by, and raised where a
certificate is refused. It is kept free as room: a search over cheap margins then ends at plans that can be
proven.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.dynamics import Gradient, regressor_adjoint, torque_regressor
from steelyard.limits import NotCertifiedError
from steelyard.motion import MotionSample, RecedingPlans
from steelyard.safe_learning.planning.certificate import RobustLaw
from steelyard.safe_learning.planning.certifier import BernsteinCurve, PlanCertifier
from steelyard.safe_learning.planning.tube import tube_forms

# A family of plans at chosen instants: affine in the parameter, so evaluated without building any plan.


@dataclass(frozen=True, eq=False)
class SampledPlans:
    """What every plan of a family does at N instants; arrays are read-only.

    Attributes:
        plans: the family.
        time: the instants, shape (N,), s.
    """

    plans: RecedingPlans
    time: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", read_only(self.time))

    @cached_property
    def _middle(self) -> MotionSample:
        return self.plans.plan(np.zeros(len(self.plans.joints))).motion.sample(self.time)

    @cached_property
    def slopes(self) -> MotionSample:
        """Derivatives in the parameter, each shape (N, nv), SI; see `RecedingPlans.slopes`."""
        return self.plans.slopes(self.time)

    def at(self, parameters: Array) -> tuple[Array, Array, Array]:
        """The motion of K plans, one after the other.

        Args:
            parameters: k of each plan, shape (K, nv), dimensionless.

        Returns:
            q, v and a, each shape (K N, nv), SI.
        """
        k = parameters[:, None, :]
        n = len(self.plans.joints)
        q, v, a = (
            (getattr(self._middle, name) + k * getattr(self.slopes, name)).reshape(-1, n) for name in "qva"
        )
        return q, v, a

    def in_parameter(self, gradient: Gradient, instants: Array | slice = slice(None)) -> Array:
        """Carry derivatives in the motion at instants over to the parameter.

        Args:
            gradient: of R functions, each of the motion at one instant.
            instants: which instant each belongs to, shape (R,), dimensionless; every one in turn by default.

        Returns:
            Derivatives in k, shape (R, nv), SI.
        """
        s = self.slopes
        in_k: Array = gradient.q * s.q[instants] + gradient.v * s.v[instants] + gradient.a * s.a[instants]
        return in_k


# What is left of torque limits on a plan itself, without its tube, and how that changes with the motion.
#
# The law asks joint j for at most $|\tau_j| + \rho_j(w)$, where $w = |Y|\Delta\varphi$ is what parameters of
# the box cause at most; Coulomb friction is compensated, and left over, as in `TubeDynamics`. What is left
# over counts in w and not in the derivative: it matters for a moment near rest alone.


class PlannedTorques(NamedTuple):
    """What the law computes at M states.

    Attributes:
        q: positions, shape (M, nv), rad or m.
        v: velocities, shape (M, nv), rad/s or m/s.
        a: accelerations, shape (M, nv), rad/s² or m/s².
        regressor: Y, shape (M, nv, p), SI.
        nominal: τ, shape (M, nv), N·m or N.
        disturbance: w, shape (M, nv), N·m or N.
    """

    q: Array
    v: Array
    a: Array
    regressor: Array
    nominal: Array
    disturbance: Array


@dataclass(frozen=True, eq=False)
class TorqueMargins:
    """Margins of torques over their limits.

    Attributes:
        certifier: the limits, the box and the law.
    """

    certifier: PlanCertifier

    def torques(self, q: Array, v: Array, a: Array) -> PlannedTorques:
        """What the law computes on a plan.

        Args:
            q: positions, shape (M, nv), rad or m.
            v: velocities, shape (M, nv), rad/s or m/s.
            a: accelerations, shape (M, nv), rad/s² or m/s².
        """
        dynamics = self.certifier.dynamics
        layout, phi, rho = dynamics.layout, dynamics.nominal, dynamics.half_widths
        Y = torque_regressor(dynamics.robot, layout, q, v, a)
        left_over = np.zeros(q.shape)
        own = np.flatnonzero(layout.drive_columns[:, 1] >= 0)
        if own.size:
            coulomb = layout.drive_columns[own, 1]
            v_0 = dynamics.rest_velocity
            s = np.sign(v[:, own]) if v_0 == 0.0 else np.clip(v[:, own] / v_0, -1.0, 1.0)
            Y[:, own, coulomb] = s
            left_over[:, own] = (np.abs(phi[coulomb]) + rho[coulomb]) * (1.0 - np.abs(s))
        return PlannedTorques(q, v, a, Y, Y @ phi, np.abs(Y) @ rho + left_over)

    def margins(self, torque: Array, disturbance: Array) -> Array:
        """What is left of the limits.

        Args:
            torque: τ, shape (M, nv), N·m or N.
            disturbance: w, shape (M, nv), N·m or N.

        Returns:
            The margins in parts of the limits, 1 where there is none, shape (M, nv), dimensionless.
        """
        bound = self.certifier.law.torque_bound(disturbance)
        margins: Array = 1.0 - (np.abs(torque) + bound) / self.certifier.limits.bounds.effort
        return margins

    def slopes(self, at: PlannedTorques, state: IntArray, joint: IntArray) -> Gradient:
        """The derivatives of R margins, each of one joint at one state.

        Args:
            at: the torques.
            state: which of the M states, shape (R,), dimensionless.
            joint: which joint, shape (R,), dimensionless.

        Returns:
            The derivatives in the motion at the state, R rows.
        """
        dynamics, effort = self.certifier.dynamics, self.certifier.limits.bounds.effort[joint]
        by_w = radius_slopes(self.certifier.law, at.disturbance[state], joint)
        G = -by_w[:, :, None] * (np.sign(at.regressor) * dynamics.half_widths)[state]
        G[np.arange(len(state)), joint] -= np.sign(at.nominal[state, joint])[:, None] * dynamics.nominal
        G /= effort[:, None, None]
        return regressor_adjoint(dynamics.robot, dynamics.layout, G, at.q[state], at.v[state], at.a[state])


def radius_slopes(law: RobustLaw, disturbance: Array, joint: IntArray) -> Array:
    r"""How the bound ρ of a robust torque changes with the disturbance, see `RobustLaw.torque_bound`.

    Args:
        law: the robust law.
        disturbance: w, shape (R, nv), N·m or N.
        joint: whose bound, one of each row, shape (R,), dimensionless.

    Returns:
        $\partial\rho_j/\partial w$, shape (R, nv), dimensionless.
    """
    own = np.zeros(disturbance.shape)
    own[np.arange(len(joint)), joint] = 1.0
    if law.form == "componentwise":
        return own
    norm = np.linalg.norm(disturbance, axis=1, keepdims=True)
    mean: Array = 0.5 * (own + disturbance / np.where(norm > 0.0, norm, 1.0))
    return mean


STRETCHES = 12
"""Of a plan, in whose middles its limits are looked at."""
DISTANCE = 0.1
"""By which distances are divided, m; torques are divided by their limits."""
FAR = 0.4
"""Margins from which a limit's derivative is not asked for: few steps of a search use that up at once."""
BETWEEN = 0.02
"""Kept free between pairs for what they do between the instants."""
MORE_ROOM = 0.002
"""By how much the room grows beyond what a refused certificate lacked."""


@dataclass(eq=False)
class PlanMargins:
    """Margins of a family's plans, N (nv + 1) of them: every torque, and the least clearance, at N instants.

    All are dimensionless: torques over their limits, distances over `DISTANCE`.

    Attributes:
        certifier: what must be kept.
        samples: the family at the instants.
        torque_room: what is kept free of torques, shape (N, nv), dimensionless.
        clearance_room: what is kept free between P pairs, shape (N, P), dimensionless.
    """

    certifier: PlanCertifier
    samples: SampledPlans
    torque_room: Array = field(init=False)
    clearance_room: Array = field(init=False)
    _last: tuple[bytes, PlannedTorques, Array] | None = None

    def __post_init__(self) -> None:
        N, clearance = len(self.samples.time), self.certifier.limits.clearance
        self.torque_room = np.zeros((N, self.certifier.limits.robot.nv))
        self.clearance_room = np.zeros((N, 0 if clearance is None else len(clearance.pairs)))
        self._torques = TorqueMargins(self.certifier)

    @classmethod
    def of(cls, certifier: PlanCertifier, plans: RecedingPlans) -> PlanMargins:
        """Margins in the middles of `STRETCHES` stretches, without any room yet.

        Args:
            certifier: what must be kept.
            plans: the family.
        """
        edges = np.linspace(0.0, plans.duration, STRETCHES + 1)
        return cls(certifier, SampledPlans(plans, 0.5 * (edges[:-1] + edges[1:])))

    def values(self, parameters: Array) -> Array:
        """The margins of K plans, less the room.

        Args:
            parameters: k of each, shape (K, nv), dimensionless.

        Returns:
            The margins, negative where a limit is missed, shape (K, N (nv + 1)), dimensionless.
        """
        K, (N, n) = len(parameters), self.torque_room.shape
        at, distances = self._looked_at(parameters)
        torque = self._torques.margins(at.nominal, at.disturbance).reshape(K, N, n) - self.torque_room
        clearance = self._gaps(distances).min(axis=2, initial=1.0)
        return np.concatenate((torque.reshape(K, -1), clearance), axis=1)

    def slopes(self, parameter: Array) -> Array:
        """The derivatives of the margins of one plan; zero for those that are far from being used up.

        Args:
            parameter: k, shape (nv,), dimensionless.

        Returns:
            The derivatives in k, shape (N (nv + 1), nv), dimensionless.
        """
        N, n = self.torque_room.shape
        slopes = np.zeros((N * (n + 1), n))
        at, distances = self._looked_at(parameter[None])
        left = self._torques.margins(at.nominal, at.disturbance) - self.torque_room
        near = np.flatnonzero(left < FAR)
        instant, joint = np.divmod(near, n)
        slopes[near] = self.samples.in_parameter(self._torques.slopes(at, instant, joint), instant)
        clearance = self.certifier.limits.clearance
        if distances.size and clearance is not None:
            gaps = self._gaps(distances)[0]
            every, least = np.arange(N), gaps.argmin(axis=1)
            weights = np.zeros(gaps.shape)
            weights[every, least] = (gaps[every, least] < 1.0) / DISTANCE
            slopes[N * n :] = clearance.adjoint(at.q, weights) * self.samples.slopes.q
        return slopes

    def worst(self, parameter: Array) -> tuple[str, str]:
        """The limit of a plan of which least is left.

        Args:
            parameter: k, shape (nv,), dimensionless.

        Returns:
            Its kind, and the name of the joint or the pair.
        """
        N, n = self.torque_room.shape
        least = int(self.values(parameter[None])[0].argmin())
        if least < N * n:
            return "torque", self.certifier.limits.robot.joint_names[least % n]
        clearance = self.certifier.limits.clearance
        assert clearance is not None  # a margin of it is the least
        gaps = self._gaps(self._looked_at(parameter[None])[1])[0, least - N * n]
        return "clearance", clearance.names[int(gaps.argmin())]

    def measure_room(self, parameter: Array, around: float = 1.0) -> None:
        """Set the room to what the tube and the time around each instant take at one plan.

        Args:
            parameter: k of the plan, shape (nv,), dimensionless.
            around: how much of the time between instants counts, from 0 to 1. With all of it a plan with
                margins left is as good as proven, in as many stretches; with less, plans closer to the limits
                are found, whose proofs take more, or fail.
        """
        certifier, t = self.certifier, self.samples.time
        at, distances = self._looked_at(parameter[None])
        curve = BernsteinCurve(self.samples.plans.plan(parameter).motion)
        half = 0.5 * around * curve.duration / len(t)
        start, end = np.maximum(t - half, 0.0), np.minimum(t + half, curve.duration)
        proven = certifier.dynamics.torques(tube_forms(curve, start, end, certifier.tube))
        most = np.maximum(-proven.lower, proven.upper)
        enclosed = self._torques.margins(most, proven.disturbance)
        self.torque_room = np.maximum(self._torques.margins(at.nominal, at.disturbance) - enclosed, 0.0)
        if distances.size and certifier.limits.clearance is not None:
            _, gradients = certifier.limits.clearance.gradients(at.q)
            in_tube = np.abs(gradients).sum(axis=2) * certifier.tube.position
            self.clearance_room = in_tube / DISTANCE + BETWEEN

    def learn(self, refusal: NotCertifiedError) -> None:
        """Leave the room that a certificate lacked, at the instants around the one it names.

        Args:
            refusal: what a certificate was refused for; only torques and clearance have room.
        """
        limits = self.certifier.limits
        names: tuple[str, ...]
        if refusal.kind == "torque":
            room, names = self.torque_room, limits.robot.joint_names
            size = float(limits.bounds.effort[names.index(refusal.name)])
        elif refusal.kind == "clearance" and limits.clearance is not None:
            room, names, size = self.clearance_room, limits.clearance.names, DISTANCE
        else:
            return
        t = self.samples.time
        around = np.abs(t - refusal.instant) <= t[1] - t[0]
        room[around, names.index(refusal.name)] += max(-refusal.margin, 0.0) / size + MORE_ROOM

    def _looked_at(self, parameters: Array) -> tuple[PlannedTorques, Array]:
        """Torques and distances, (K, N, P), of K plans; derivatives are asked for where margins were."""
        key = parameters.tobytes()
        if self._last is None or self._last[0] != key:
            torques = self._torques.torques(*self.samples.at(parameters))
            clearance, shape = self.certifier.limits.clearance, (len(parameters), *self.clearance_room.shape)
            distances = np.empty(shape)
            if distances.size and clearance is not None:
                distances = clearance.distances(torques.q).reshape(shape)
            self._last = key, torques, distances
        return self._last[1:]

    def _gaps(self, distances: Array) -> Array:
        """What is left between pairs, (K, N, P), dimensionless."""
        gaps: Array = (distances - self.certifier.limits.distance) / DISTANCE - self.clearance_room
        return gaps
