r"""How far the torque of a law can be from that of the present, as it is of a state read a while ago.

The law computes $N = H a_a + C(q, v)\,v_a + g + F_v v_a + F_c s_a + F_o$. Over a lag T, with errors
$\varepsilon_q$ and $\varepsilon_v$ of what is read, and a for the largest acceleration of the robot,

$$|\Delta q| \le \varepsilon_q + T|v|, \quad |\Delta v| \le \varepsilon_v + T a, \quad
  |\Delta v_a| \le K_r\varepsilon_q + T|a_a|, \quad
  |\Delta a_a| \le K_r\varepsilon_v + T\,(|\dddot q_{ref}| + K_r|a_{ref}| + K_r a).$$

C is bilinear in its velocities, and what depends on the position changes by its derivative in it, which is at
most twice the sizes κ of `uncertainty.ArmNorms` for H and C and bounded by the weight's own size for g.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.online.certify_plan import Plan
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.uncertainty import ArmNorms, ErrorBounds, arm_norms


def norms_of(robot: Robot, sizes: Array) -> ArmNorms:
    """The sizes of a robot's mass matrix and weight at any position.

    Args:
        robot: the robot, all of whose joints turn.
        sizes: largest sizes of its parameters, those of the links first, shape (p,), SI.

    Returns:
        The norms.
    """
    n = robot.nv
    links, nothing = sizes[: 10 * n].reshape(n, 10), np.zeros(10)
    return arm_norms(robot, links, nothing, robot.link_names[-1], Pose.identity(), np.zeros(n))


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
class LaggingTorque:
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
