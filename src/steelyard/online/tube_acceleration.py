r"""How much a robot can accelerate under a robust law while it stays in its tube.

With $r = v_a - v$ and $\dot v_a = a_a$ the acceleration is $\dot v = a_a - \dot r$, and the error obeys

$$H\dot r + C r + F_v r = Y(\theta - \theta_0) + F_c\,(s - s_a) - u + (Y - \hat Y)\,\theta_0,$$

H with its rotors, C of Christoffel's kind. The last term is there because a law knows what was read some time
ago, give or take errors: $\hat Y$ is of that state; see `lagging_torque`. Proven is
$w \ge |Y(\theta - \theta_0)| + F_c\,(1 - |s_a|)$. Friction's sign s differs from that of the reference only
where $|v_a| \le \varepsilon$, which adds at most $2 F_c |s_a|$ with $|s_a| \le \min(1, \varepsilon / v_0)$.
Every form of the robust torque has $\|u\| \le \|w\|$ plus its reserve.

Let x be all but $H\dot r$. The mass matrix is at least $\sigma_m$, and as the true links can exist at least
its rotors G, so by Cauchy and Schwarz

$$|\dot r_j| = |e_j^T H^{-1} x| \le \frac{\|x\|}{\sqrt{\sigma_m \max(\sigma_m, G_j)}}.$$

What was read a while ago differs by the acceleration times that while, so that the bound f depends on what it
bounds: $a \le f(a)$. As f is a constant and the norm of an affine map with entries of one sign, $f(y) \le y$
for some y means that what exceeds y would have to be less than itself: $a \le y$.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.layout import Layout, layout_of
from steelyard.online.certify_plan import Plan
from steelyard.online.lagging_torque import LaggingTorque, coriolis_rows, norms_of
from steelyard.online.plan_certificate import PlanCertificate
from steelyard.robot import Robot
from steelyard.uncertainty import ErrorBounds

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
    old = LaggingTorque(norms, drives, tube, law.rest_velocity, speed, planned, lag, errors, plan)
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
