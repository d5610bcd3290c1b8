r"""What is left of torque limits on a plan itself, without its tube, and how that changes with the motion.

The law asks joint j for at most $|\tau_j| + \rho_j(w)$, where $w = |Y|\Delta\varphi$ is what parameters of
the box cause at most; Coulomb friction is compensated, and left over, as in `TubeDynamics`. What is left over
counts in w and not in the derivative: it matters for a moment near rest alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import Gradient, regressor_adjoint, torque_regressor
from steelyard.online.certify_plan import PlanCertifier
from steelyard.online.robust_torque import RobustLaw


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

        Returns:
            The torques.
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
