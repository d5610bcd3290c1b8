"""What a delayed reading costs: how far the torque can be off, how much the robot can accelerate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.layout import Layout, layout_of
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.safe_learning.planning.certificate import PlanCertificate
from steelyard.safe_learning.planning.certifier import Plan
from steelyard.uncertainty import ArmNorms, ErrorBounds

# How far the torque of a law can be from that of the present, as it is of a state read a while ago.
#
# The law computes $N = H a_a + C(q, v)\,v_a + g + F_v v_a + F_c s_a + F_o$. Over a lag T, with errors
# $\varepsilon_q$ and $\varepsilon_v$ of what is read, and a for the largest acceleration of the robot,
#
# $$|\Delta q| \le \varepsilon_q + T|v|, \quad |\Delta v| \le \varepsilon_v + T a, \quad
#   |\Delta v_a| \le K_r\varepsilon_q + T|a_a|, \quad
#   |\Delta a_a| \le K_r\varepsilon_v + T\,(|\dddot q_{ref}| + K_r|a_{ref}| + K_r a).$$
#
# C is bilinear in its velocities, and what depends on the position changes by its derivative in it, which is
# at most twice the sizes κ of `uncertainty.ArmNorms` for H and C and bounded by the weight's own size for g.


def norms_of(robot: Robot, sizes: Array) -> ArmNorms:
    """The sizes of a robot's mass matrix and weight at any position.

    Args:
        robot: the robot, all of whose joints turn.
        sizes: largest sizes of its parameters, those of the links first, shape (p,), SI.
    """
    n = robot.nv
    links, nothing = sizes[: 10 * n].reshape(n, 10), np.zeros(10)
    return ArmNorms.of(robot, links, nothing, robot.link_names[-1], Pose.identity(), np.zeros(n))


def coriolis_rows(norms: ArmNorms, speed: Array) -> Array:
    r"""Numbers $M_{kj}$ with $|C(q, v)\,y|_k \le \sum_j M_{kj} |y_j|$ at any position.

    With C of Christoffel's kind, and as a derivative of H at most doubles its sizes,

    $$|C y|_k = \tfrac12\Big|\sum_{ij}
      (\partial_i H_{kj} + \partial_j H_{ki} - \partial_k H_{ij})\,v_i y_j\Big|
      \le \sum_i |v_i|\,\kappa(e_k, y) + \sum_j |y_j|\,\kappa(e_k, v) + \kappa_k(v, y).$$

    Args:
        norms: sizes of the arm.
        speed: largest |v|, shape (nv,), rad/s.

    Returns:
        M, shape (nv, nv), N·m·s/rad.
    """
    each = np.eye(len(speed))
    by_joint = speed.sum() * norms.momentum(each) + norms.momentum(speed) + norms.rows(speed, each)
    return np.asarray(by_joint.T)


@dataclass(frozen=True, eq=False)
class DelayedTorque:
    """What a law knows late and not exactly.

    Attributes:
        norms: sizes of the arm.
        drives: largest viscous, Coulomb, constant and rotor terms, shape (4, nv), SI.
        tube: the errors that are allowed.
        rest_velocity: v_0, rad/s.
        speed: largest velocities of the robot, shape (nv,), rad/s.
        planned: largest accelerations of the plan, shape (nv,), rad/s².
        lag: T, s.
        errors: of what is read; None where it is exact.
        plan: the plan; None without a lag.
    """

    norms: ArmNorms
    drives: Array
    tube: Tube
    rest_velocity: float
    speed: Array
    planned: Array
    lag: float
    errors: ErrorBounds | None
    plan: Plan | None

    def largest(self, acceleration: Array) -> Array:
        """The largest difference to the torque of the present state.

        Args:
            acceleration: the robot's largest, shape (nv,), rad/s².

        Returns:
            The difference, shape (nv,), N·m.
        """
        T, kr, norms, nothing = self.lag, self.tube.kr, self.norms, np.zeros_like(self.speed)
        viscous, coulomb, _, rotor = self.drives
        off_q, off_v = (
            (nothing, nothing) if self.errors is None else (self.errors.position, self.errors.velocity)
        )
        jerk = nothing if self.plan is None else self.plan.derivative_bounds(3).max(axis=0)
        a_a = self.planned + self.tube.reference_acceleration
        v_a = self.speed + self.tube.radius
        dq = off_q + T * self.speed
        dv = off_v + T * acceleration
        dv_a = kr * off_q + T * a_a
        da_a = kr * off_v + T * (jerk + kr * (self.planned + acceleration))
        turned = np.where(dv_a > 0.0, 2.0, 0.0)
        if self.rest_velocity > 0.0:
            turned = np.minimum(turned, dv_a / self.rest_velocity)
        moved = 2.0 * (norms.momentum(a_a) + coriolis_rows(norms, self.speed) @ v_a) + norms.weight
        torque = moved * dq.sum() + norms.momentum(da_a) + rotor * da_a
        torque += coriolis_rows(norms, v_a) @ dv + coriolis_rows(norms, self.speed + dv) @ dv_a
        torque += viscous * dv_a + coulomb * turned
        return np.asarray(torque)


# How much a robot can accelerate under a robust law while it stays in its tube.
#
# With $r = v_a - v$ and $\dot v_a = a_a$ the acceleration is $\dot v = a_a - \dot r$, and the error obeys
#
# $$H\dot r + C r + F_v r = Y(\theta - \theta_0) + F_c\,(s - s_a) - u + (Y - \hat Y)\,\theta_0,$$
#
# H with its rotors, C of Christoffel's kind. The last term is there because a law knows what was read some
# time ago, give or take errors: $\hat Y$ is of that state; see `DelayedTorque`. Proven is $w \ge |Y(\theta -
# \theta_0)| + F_c\,(1 - |s_a|)$. Friction's sign s differs from that of the reference only where $|v_a| \le
# \varepsilon$, which adds at most $2 F_c |s_a|$ with $|s_a| \le \min(1, \varepsilon / v_0)$. Every form of
# the robust torque has $\|u\| \le \|w\|$ plus its reserve.
#
# Let x be all but $H\dot r$. The mass matrix is at least $\sigma_m$, and as the true links can exist at least
# its rotors G, so by Cauchy and Schwarz
#
# $$|\dot r_j| = |e_j^T H^{-1} x| \le \frac{\|x\|}{\sqrt{\sigma_m \max(\sigma_m, G_j)}}.$$
#
# What was read a while ago differs by the acceleration times that while, so that the bound f depends on what
# it bounds: $a \le f(a)$. As f is a constant and the norm of an affine map with entries of one sign, $f(y)
# \le y$ for some y means that what exceeds y would have to be less than itself: $a \le y$.

HOPELESS = 1e6
"""An acceleration at which the search for a bound is given up, rad/s²."""
_OUTWARD, _ROUNDED = 1.0 + 1e-6, 1.0 + 1e-12
"""By how much more is tried in each round, and more than is lost to rounding."""
_TERMS = ("viscous", "coulomb", "offset", "rotor")


def tube_acceleration(
    certificate: PlanCertificate,
    robot: Robot,
    *,
    plan: Plan | None = None,
    lag: float = 0.0,
    errors: ErrorBounds | None = None,
) -> Array:
    """The largest acceleration of a robot that stays in the tube of a certified plan, as its readings do.

    Args:
        certificate: the proof of the plan, the braking at its end included.
        robot: whose it is.
        plan: the plan; needed where the law lags.
        lag: how old the readings are at most for which a torque was computed, as long as it is applied, s: a
            cycle, and what the way to the drive takes.
        errors: of the readings; None where they are exact.

    Returns:
        What no joint's acceleration exceeds in size, shape (nv,), rad/s² or m/s².

    Raises:
        InputError: the certificate is of another robot or plan, a joint has no limit of velocity or
            acceleration, so that the certificate says nothing of them, or nothing follows for such a lag.
    """
    if certificate.motion.robot != robot.digest:
        raise InputError("is of another robot.", place="certificate")
    if lag > 0.0 and (plan is None or plan.digest != certificate.motion.motion):
        raise InputError("must be the one that was certified.", place="plan")
    terms = [term for term in _TERMS if any(name.endswith(f".{term}") for name in certificate.parameters)]
    layout, tube, law = layout_of(robot, terms), certificate.tube, certificate.law
    most = np.abs(certificate.nominal) + certificate.half_widths
    viscous, coulomb, _, _ = drives = _of_drives(layout, most)
    rotor = _of_drives(layout, certificate.nominal - certificate.half_widths)[3]
    speed = _largest(certificate, robot, "velocity")
    planned = _largest(certificate, robot, "acceleration")
    norms = norms_of(robot, most)
    w = np.linalg.norm(certificate.disturbance, axis=1)
    before = [0, *range(len(w) - 1)]  # the stretch of an older reading
    turned = min(1.0, tube.radius / law.rest_velocity) if law.rest_velocity > 0.0 else 1.0
    x = float((w + np.maximum(w, w[before])).max()) + law.reserve
    x += 2.0 * turned * float(np.linalg.norm(coulomb)) + float(viscous.max()) * tube.radius
    x += float(np.linalg.norm(coriolis_rows(norms, speed), 2)) * tube.radius
    lightest = np.sqrt(tube.smallest_inertia * np.maximum(tube.smallest_inertia, rotor))
    reference = planned + tube.reference_acceleration
    old = DelayedTorque(norms, drives, tube, law.rest_velocity, speed, planned, lag, errors, plan)
    a: Array = reference + x / lightest
    while a.max() < HOPELESS:
        y: Array = a * _OUTWARD
        a = reference + (x + float(np.linalg.norm(old.largest(y)))) / lightest
        if (a * _ROUNDED <= y).all():
            return y
    raise InputError(
        f"of {lag:g} s is so long that no bound follows.",
        place="lag",
        remedy="Shorten the cycle of the law.",
        evidence={"acceleration": a},
    )


def _largest(certificate: PlanCertificate, robot: Robot, kind: str) -> Array:
    """The largest velocity or acceleration that was proven: the limit less what is left of it."""
    left = {margin.name: margin.margin for margin in certificate.motion.margins if margin.kind == kind}
    if missing := [joint for joint in certificate.joints if joint not in left]:
        raise InputError(
            f"says nothing of the {kind} of '{missing[0]}'.",
            place="certificate",
            remedy=f"State a limit of {kind} for every joint.",
        )
    return np.asarray(robot.limit_array(kind) - [left[joint] for joint in certificate.joints])


def _of_drives(layout: Layout, values: Array) -> Array:
    """Values of the drive's terms by joint, zero where a term is absent, shape (4, nv)."""
    columns = layout.drive_columns.T
    return np.where(columns >= 0, values[columns], 0.0)
