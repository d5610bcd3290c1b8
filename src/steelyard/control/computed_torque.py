"""Feedback through the inverse of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.control.arm_law import ModelLaw, described_model
from steelyard.control.controller import ControlStep
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.inverse_dynamics import sample_torque
from steelyard.dynamics.tree import Tree
from steelyard.robot import Robot


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
    nb = tree.parent.size
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    A = np.empty((nb, 6))
    F = np.empty((nb, 6))
    a = np.empty(q.size)
    for j in range(q.size):
        a[j] = a_ref[j] + gains[1, j] * (v_ref[j] - v[j]) + gains[0, j] * (q_ref[j] - q[j])
    sample_torque(tree, numbers, q, v, a, v_ref, R, p, w, A, F, tau)
