"""Feedback through the inverse of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, read_only
from steelyard.compiled import kernel
from steelyard.control.controller import ControlStep, command, joint_gain
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.batch import numbers as split_numbers
from steelyard.dynamics.inverse_dynamics import sample_torque
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    r"""Inverse dynamics of the commanded acceleration, with friction fed forward at the reference velocity.

    $$\tau = H(q)\,u + C(q, v)\,v + g(q) + I_a u + F_v v_{ref} + F_c \operatorname{sign}(v_{ref}) + F_o,
      \qquad u = a_{ref} + K_d (v_{ref} - v) + K_p (q_{ref} - q)$$

    With an exact model the error obeys $\ddot e + K_d\,\dot e + K_p\,e = -(H + I_a)^{-1} F_v\,\dot e$
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
    """

    robot: Robot
    layout: Layout
    parameters: Array
    kp: Array
    kd: Array

    law = "computed-torque"

    def __post_init__(self) -> None:
        split_numbers(self.robot, self.layout, self.parameters)
        object.__setattr__(self, "parameters", read_only(np.asarray(self.parameters, dtype=float)))
        object.__setattr__(self, "kp", joint_gain(self.robot, "kp", self.kp))
        object.__setattr__(self, "kd", joint_gain(self.robot, "kd", self.kd))

    @classmethod
    def nominal(cls, robot: Robot, kp: ArrayLike, kd: ArrayLike) -> ComputedTorque:
        """The controller whose model is what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            kp: K_p, shape () or (nv,), SI: 1/s².
            kd: K_d, shape () or (nv,), SI: 1/s.

        Returns:
            The controller.

        Raises:
            DescriptionError: a link states no inertial.
        """
        layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
        return cls(robot, layout, layout.complete_nominal(), np.asarray(kp), np.asarray(kd))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints it commands."""
        return self.robot.joint_names

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return computed_torque_step

    @property
    def tree(self) -> Tree:
        """The arm of the model."""
        return tree_of(self.robot)

    @cached_property
    def numbers(self) -> Numbers:
        """The parameters of the model."""
        return split_numbers(self.robot, self.layout, self.parameters)

    @cached_property
    def gains(self) -> Array:
        """K_p and K_d, shape (2, nv), SI."""
        return read_only(np.stack((self.kp, self.kd)))

    @property
    def memory(self) -> Array:
        """Nothing to remember, shape (0,), SI."""
        return read_only(np.empty(0))

    @property
    def settings(self) -> Mapping[str, object]:
        """Law, gains and digest of the model as plain values."""
        model = digest([self.robot.digest, self.layout.names, self.parameters])
        return {"law": self.law, "kp": self.kp.tolist(), "kd": self.kd.tolist(), "model": model}

    def torque(
        self, q: ArrayLike, v: ArrayLike, q_ref: ArrayLike, v_ref: ArrayLike, a_ref: ArrayLike
    ) -> Array:
        """The torque at one instant.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
            q_ref: reference positions, shape (nv,), rad or m.
            v_ref: reference velocities, shape (nv,), rad/s or m/s.
            a_ref: reference accelerations, shape (nv,), rad/s² or m/s².

        Returns:
            Joint torques, shape (nv,), N·m or N.
        """
        return command(self, np.empty(0), q, v, q_ref, v_ref, a_ref)


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
