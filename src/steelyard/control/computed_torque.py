"""Feedback through the inverse of a model: computed torque, alone and with a robust term that is learnt."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, read_only
from steelyard.compiled import kernel
from steelyard.control.controller import ControlStep, ModelLaw, described_model, positive_number
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.inverse_dynamics import torque_of_state
from steelyard.dynamics.tree import Tree
from steelyard.errors import InputError
from steelyard.robot import Robot

# Computed torque


@dataclass(frozen=True, eq=False)
class ComputedTorque(ModelLaw):
    r"""Inverse dynamics of the commanded acceleration, with friction fed forward at the reference velocity.

    $$\tau = H(q)\,u + C(q, v)\,v + g(q) + I_a u + F_v v_{ref} + F_c \operatorname{sign}(v_{ref}) + F_o,
      \qquad u = a_{ref} + K_d (v_{ref} - v) + K_p (q_{ref} - q)$$

    Friction beyond the linear drive, where the layout has it, is fed forward at $v_{ref}$ too. With an exact
    model of the linear drive the error obeys $\ddot e + K_d\,\dot e + K_p\,e = -(H + I_a)^{-1} F_v\,\dot e$
    while velocity and reference have the same sign: linear and decoupled without friction, and with it the
    arm keeps its own dissipation. Compensating friction at the measured velocity instead would cancel that
    dissipation one cycle late, chatter at every reversal, and never free a joint that friction holds.
    Positions are not wrapped: a continuous joint counts its turns.

    Attributes:
        robot: the robot it commands.
        layout: the order of the model's parameters.
        parameters: phi of the model, shape (p,), SI.
        kp: K_p, one for all joints or one each, shape () or (nv,), 1/s²; kept as (nv,).
        kd: K_d, one for all joints or one each, shape () or (nv,), 1/s; kept as (nv,).
        cycle: length of the control cycle it is made for, s; None where any will do.
    """

    kp: Array
    kd: Array

    law = "computed-torque"
    joint_gains = ("kp", "kd")

    @classmethod
    def nominal(
        cls, robot: Robot, kp: ArrayLike, kd: ArrayLike, *, cycle: float | None = None
    ) -> ComputedTorque:
        """The controller whose model is what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            kp: K_p, shape () or (nv,), SI: 1/s².
            kd: K_d, shape () or (nv,), SI: 1/s.
            cycle: length of the control cycle it is made for, s; None where any will do.

        Returns:
            The controller.

        Raises:
            DescriptionError: a link states no inertial.
        """
        return cls(robot, *described_model(robot), np.asarray(kp), np.asarray(kd), cycle=cycle)

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return computed_torque_step


@kernel
def computed_torque_step(
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
    """The law of `ComputedTorque`; gains are K_p, K_d."""
    a = np.empty(q.size)
    for j in range(q.size):
        a[j] = a_ref[j] + gains[1, j] * (v_ref[j] - v[j]) + gains[0, j] * (q_ref[j] - q[j])
    torque_of_state(tree, numbers, q, v, a, v_ref, tau)


# Feedback linearisation with a robust term whose size is learnt.


@dataclass(frozen=True, eq=False)
class AdaptiveRobust(ModelLaw):
    r"""Computed torque with an added acceleration against a model error of unknown size.

    $$\tau = \hat H(q)\,(u + \eta) + \hat C v + \hat g + \hat\tau_f, \qquad
      u = a_{ref} + K_d\,\dot e + K_p\,e,$$
    $$\eta = \hat\rho\,\frac{z}{\max(\|z\|, \delta)}, \qquad
      \dot{\hat\rho} = \begin{cases}\gamma\,\|z\| & \|z\| > \delta \\ 0 & \text{else}\end{cases}, \qquad
      z = \frac{e}{2 K_p} + \frac{K_p + 1}{2 K_p K_d}\,\dot e$$

    z is $B^T P x$ per joint, with P the solution of $A^T P + P A = -1$ for
    $\ddot e + K_d \dot e + K_p e = 0$. If all that the model gets wrong, what it does to η included, is an
    acceleration of at most ρ, then $x^T P x + (\rho - \hat\rho)^2 / \gamma$ falls outside the layer
    $\|z\| \le \delta$, so $\hat\rho$ stays bounded and z comes back into it, without ρ being known.

    The law `adap-2` of Zhang et al. (2025) is cited there by its title alone, an adaptive robust controller
    for unknown uncertainty (Abdelwahab et al. 2024), which was not at hand. What is here is assumed: feedback
    linearisation, one adapted size for all joints that never falls, a layer in place of the sign. It has no
    estimate of the payload.

    Attributes:
        robot: the robot it commands.
        layout: the order of the model's parameters.
        parameters: phi of the model, shape (p,), SI.
        kp: K_p, one for all joints or one each, positive, shape () or (nv,), 1/s²; kept as (nv,).
        kd: K_d, one for all joints or one each, positive, shape () or (nv,), 1/s; kept as (nv,).
        adaptation: γ, SI.
        layer: δ, the size of z below which nothing is learnt, in the unit of z.
        cycle: length of the control cycle, s.
    """

    kp: Array
    kd: Array
    adaptation: float
    layer: float
    cycle: float = field(kw_only=True)

    law = "adaptive-robust"
    joint_gains = ("kp", "kd")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("kp", "kd"):
            if not getattr(self, name).all():
                raise InputError("must be positive at every joint.", place=name)
        self._keep("adaptation", positive_number("adaptation", self.adaptation, "", zero=True))
        self._keep("layer", positive_number("layer", self.layer, ""))

    @classmethod
    def nominal(
        cls, robot: Robot, kp: ArrayLike, kd: ArrayLike, adaptation: float, layer: float, *, cycle: float
    ) -> AdaptiveRobust:
        """The controller whose model is what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            kp: K_p, shape () or (nv,), SI: 1/s².
            kd: K_d, shape () or (nv,), SI: 1/s.
            adaptation: γ, SI.
            layer: δ, in the unit of z.
            cycle: length of the control cycle, s.

        Returns:
            The controller.

        Raises:
            DescriptionError: a link states no inertial.
        """
        gains = np.asarray(kp), np.asarray(kd)
        return cls(robot, *described_model(robot), *gains, adaptation, layer, cycle=cycle)

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return adaptive_robust_step

    @cached_property
    def gains(self) -> Array:
        """K_p, K_d, the weights of both errors in z, then h γ and δ in further rows, shape (rows, nv), SI."""
        nv = self.robot.nv
        rows = np.zeros((math.ceil(2 / nv), nv))
        rows.flat[:2] = self.cycle * self.adaptation, self.layer
        on_position = 0.5 / self.kp
        on_velocity = 0.5 * (self.kp + 1.0) / (self.kp * self.kd)
        return read_only(np.vstack((self.kp, self.kd, on_position, on_velocity, rows)))

    @property
    def memory(self) -> Array:
        """The size of the robust term, zero, shape (1,), rad/s² or m/s²."""
        return read_only(np.zeros(1))


@kernel
def adaptive_robust_step(
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
    """The law of `AdaptiveRobust`; gains are K_p, K_d, the weights in z, h γ, δ."""
    nv = q.size
    other = gains[4:].reshape(-1)
    z = np.empty(nv)
    square = 0.0
    for j in range(nv):
        z[j] = gains[2, j] * (q_ref[j] - q[j]) + gains[3, j] * (v_ref[j] - v[j])
        square += z[j] * z[j]
    size = math.sqrt(square)
    a = np.empty(nv)
    for j in range(nv):
        a[j] = a_ref[j] + gains[1, j] * (v_ref[j] - v[j]) + gains[0, j] * (q_ref[j] - q[j])
        a[j] += memory[0] * z[j] / max(size, other[1])
    torque_of_state(tree, numbers, q, v, a, v_ref, tau)
    if size > other[1]:
        memory[0] += other[0] * size
