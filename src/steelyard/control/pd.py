"""Feedback without a model of inertia: PD, PD with feedforward, PID on top of the arm's weight."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, read_only
from steelyard.compiled import kernel
from steelyard.control.controller import (
    ArmLaw,
    ControlStep,
    ModelLaw,
    described_model,
    positive_number,
)
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.inverse_dynamics import torque_of_state
from steelyard.dynamics.tree import Tree
from steelyard.robot import Robot

# Proportional and derivative feedback.


@dataclass(frozen=True, eq=False)
class PD(ArmLaw):
    r"""Independent joints, no model: $\tau = K_p (q_{ref} - q) + K_d (v_{ref} - v)$.

    Positions are not wrapped: a continuous joint counts its turns.

    Attributes:
        robot: the robot it commands.
        kp: K_p, one for all joints or one each, shape () or (nv,), N·m/rad or N/m; kept as (nv,).
        kd: K_d, one for all joints or one each, shape () or (nv,), N·m·s/rad or N·s/m; kept as (nv,).
        cycle: length of the control cycle it is made for, s; None where any will do.
    """

    kp: Array
    kd: Array

    law = "pd"
    linear = True
    joint_gains = ("kp", "kd")

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return pd_step


@kernel
def pd_step(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    memory: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    tau: Array,
) -> None:
    """The law of `PD`; gains are K_p, K_d."""
    for j in range(q.size):
        tau[j] = gains[0, j] * (q_ref[j] - q[j]) + gains[1, j] * (v_ref[j] - v[j])


# Feedforward and feedback that need no measured velocity.


@dataclass(frozen=True, eq=False)
class FeedforwardPD(ArmLaw):
    r"""Independent joints, each with its own inertia and viscous friction (Oaki et al. 2026, eq. (2)).

    $$\tau = \hat M\,\big[K_V\,(v_{ref} + K_P K_V^{-1} (q_{ref} - q) - \hat v) + a_{ref}\big]
      + \hat D\,v_{ref}, \qquad \hat v = \frac{s}{1 + T_f s}\,q$$

    computed as $K_P (q_{ref} - q) + K_V (v_{ref} - \hat v)$ inside the brackets, so K_V may be zero. A joint
    whose velocity answers the torque as $K / (1 + T s)$ has $\hat M = T / K$ and $\hat D = 1 / K$.

    The measured velocity is not used. The filter runs on the control cycle h as the backward difference

    $$\hat v_k = \frac{T_f\,\hat v_{k-1} + q_k - q_{k-1}}{T_f + h},$$

    which is stable and does not ring for any T_f and h, is the plain difference for T_f = 0, and is exact
    once the velocity is constant; the bilinear rule rings for h > 2 T_f. Before the first cycle the joints
    count as at rest: $\hat v_0 = 0$. Positions are not wrapped: a continuous joint counts its turns.

    Attributes:
        robot: the robot it commands.
        inertia: M̂, one for all joints or one each, shape () or (nv,), kg·m² or kg; kept as (nv,).
        viscous: D̂, one for all joints or one each, shape () or (nv,), N·m·s/rad or N·s/m; kept as (nv,).
        kp: K_P, one for all joints or one each, shape () or (nv,), SI: 1/s²; kept as (nv,).
        kv: K_V, one for all joints or one each, shape () or (nv,), SI: 1/s; kept as (nv,).
        cycle: length of the control cycle h, s.
        filter: time constant T_f of the pseudo-differentiation, s; the paper's by default.
    """

    inertia: Array
    viscous: Array
    kp: Array
    kv: Array
    cycle: float = field(kw_only=True)
    filter: float = field(default=0.002, kw_only=True)

    law = "ff-pd"
    linear = True
    joint_gains = ("inertia", "viscous", "kp", "kv")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep("filter", positive_number("filter", self.filter, "s", zero=True))

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return feedforward_pd_step

    @cached_property
    def gains(self) -> Array:
        """M̂, D̂, K_P, K_V, and T_f / (T_f + h), 1 / (T_f + h) of the filter, shape (6, nv), SI."""
        pole, slope = self.filter / (self.filter + self.cycle), 1.0 / (self.filter + self.cycle)
        joints = [self.inertia, self.viscous, self.kp, self.kv]
        return read_only(np.stack([*joints, *(np.full(self.robot.nv, x) for x in (pole, slope))]))

    @property
    def memory(self) -> Array:
        """Whether it has started, then the last position and v̂ of every joint, shape (1 + 2 nv,), SI."""
        return read_only(np.zeros(1 + 2 * self.robot.nv))


@kernel
def feedforward_pd_step(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    memory: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    tau: Array,
) -> None:
    """The law of `FeedforwardPD`; gains are M̂, D̂, K_P, K_V and the filter's pole and slope."""
    nv = q.size
    last, filtered = memory[1 : 1 + nv], memory[1 + nv :]
    for j in range(nv):
        if memory[0] > 0.5:
            filtered[j] = gains[4, j] * filtered[j] + gains[5, j] * (q[j] - last[j])
        last[j] = q[j]
        feedback = gains[2, j] * (q_ref[j] - q[j]) + gains[3, j] * (v_ref[j] - filtered[j])
        tau[j] = gains[0, j] * (feedback + a_ref[j]) + gains[1, j] * v_ref[j]
    memory[0] = 1.0


# Feedback with an integral, on top of the weight of the arm.


@dataclass(frozen=True, eq=False)
class GravityPID(ModelLaw):
    r"""Independent joints that need not carry the arm: its weight and the drives' offsets are fed forward.

    $$\tau = g(q) + F_o + K_p\,e + z + K_d\,(v_{ref} - v), \qquad e = q_{ref} - q,$$
    $$z_k = \operatorname{clip}(z_{k-1} + h K_i\,e_k,\; \pm z_{max}), \qquad z_{-1} = 0$$

    The integral z is kept as a torque, summed with the error of the current cycle and held within its limit:
    an arm that cannot reach its reference does not wind it up, and it turns back at once. Positions are not
    wrapped: a continuous joint counts its turns.

    Attributes:
        robot: the robot it commands.
        layout: the order of the model's parameters.
        parameters: phi of the model, shape (p,), SI.
        kp: K_p, one for all joints or one each, shape () or (nv,), N·m/rad or N/m; kept as (nv,).
        ki: K_i, one for all joints or one each, shape () or (nv,), N·m/(rad·s) or N/(m·s); kept as (nv,).
        kd: K_d, one for all joints or one each, shape () or (nv,), N·m·s/rad or N·s/m; kept as (nv,).
        integral_limit: z_max, one for all joints or one each, shape () or (nv,), N·m or N; kept as (nv,).
        cycle: length of the control cycle h, s.
    """

    kp: Array
    ki: Array
    kd: Array
    integral_limit: Array
    cycle: float = field(kw_only=True)

    law = "gravity-pid"
    joint_gains = ("kp", "ki", "kd", "integral_limit")

    @classmethod
    def nominal(
        cls,
        robot: Robot,
        kp: ArrayLike,
        ki: ArrayLike,
        kd: ArrayLike,
        integral_limit: ArrayLike,
        *,
        cycle: float,
    ) -> GravityPID:
        """The controller whose model is what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            kp: K_p, shape () or (nv,), N·m/rad or N/m.
            ki: K_i, shape () or (nv,), N·m/(rad·s) or N/(m·s).
            kd: K_d, shape () or (nv,), N·m·s/rad or N·s/m.
            integral_limit: z_max, shape () or (nv,), N·m or N.
            cycle: length of the control cycle, s.

        Returns:
            The controller.

        Raises:
            DescriptionError: a link states no inertial.
        """
        gains = (np.asarray(gain) for gain in (kp, ki, kd, integral_limit))
        return cls(robot, *described_model(robot), *gains, cycle=cycle)

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return gravity_pid_step

    @cached_property
    def gains(self) -> Array:
        """K_p, h K_i, K_d and z_max, shape (4, nv), SI."""
        return read_only(np.stack((self.kp, self.cycle * self.ki, self.kd, self.integral_limit)))

    @property
    def memory(self) -> Array:
        """The integral z of every joint, shape (nv,), N·m or N."""
        return read_only(np.zeros(self.robot.nv))


@kernel
def gravity_pid_step(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    memory: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    tau: Array,
) -> None:
    """The law of `GravityPID`; gains are K_p, h K_i, K_d, z_max."""
    still = np.zeros(q.size)
    torque_of_state(tree, numbers, q, still, still, still, tau)
    for j in range(q.size):
        e = q_ref[j] - q[j]
        z = memory[j] + gains[1, j] * e
        memory[j] = min(max(z, -gains[3, j]), gains[3, j])
        tau[j] += gains[0, j] * e + memory[j] + gains[2, j] * (v_ref[j] - v[j])
