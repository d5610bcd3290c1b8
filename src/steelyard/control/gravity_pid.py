"""Feedback with an integral, on top of the weight of the arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, read_only
from steelyard.compiled import kernel
from steelyard.control.arm_law import ModelLaw, described_model
from steelyard.control.controller import ControlStep
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.inverse_dynamics import sample_torque
from steelyard.dynamics.tree import Tree
from steelyard.robot import Robot


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
    nb = tree.parent.size
    R = np.empty((nb, 3, 3))
    p = np.empty((nb, 3))
    w = np.empty((nb, 3))
    A = np.empty((nb, 6))
    F = np.empty((nb, 6))
    still = np.zeros(q.size)
    sample_torque(tree, numbers, q, still, still, still, R, p, w, A, F, tau)
    for j in range(q.size):
        e = q_ref[j] - q[j]
        z = memory[j] + gains[1, j] * e
        memory[j] = min(max(z, -gains[3, j]), gains[3, j])
        tau[j] += gains[0, j] * e + memory[j] + gains[2, j] * (v_ref[j] - v[j])
