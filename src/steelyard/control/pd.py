"""Proportional and derivative feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, read_only
from steelyard.compiled import kernel
from steelyard.control.controller import ControlStep, command, joint_gain
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class PD:
    r"""Independent joints, no model: $\tau = K_p (q_{ref} - q) + K_d (v_{ref} - v)$.

    Positions are not wrapped: a continuous joint counts its turns.

    Attributes:
        robot: the robot it commands.
        kp: K_p, one for all joints or one each, shape () or (nv,), N·m/rad or N/m; kept as (nv,).
        kd: K_d, one for all joints or one each, shape () or (nv,), N·m·s/rad or N·s/m; kept as (nv,).
    """

    robot: Robot
    kp: Array
    kd: Array

    law = "pd"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kp", joint_gain(self.robot, "kp", self.kp))
        object.__setattr__(self, "kd", joint_gain(self.robot, "kd", self.kd))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints it commands."""
        return self.robot.joint_names

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return pd_step

    @property
    def tree(self) -> Tree:
        """The arm; not used by the law."""
        return tree_of(self.robot)

    @cached_property
    def numbers(self) -> Numbers:
        """Zeros: the law has no model."""
        nv = self.robot.nv
        return Numbers(read_only(np.zeros((nv, 10))), read_only(np.zeros((nv, len(DRIVE_TERMS)))))

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
        """Law and gains as plain values."""
        return {"law": self.law, "kp": self.kp.tolist(), "kd": self.kd.tolist()}

    def torque(
        self, q: ArrayLike, v: ArrayLike, q_ref: ArrayLike, v_ref: ArrayLike, a_ref: ArrayLike
    ) -> Array:
        """The torque at one instant.

        Args:
            q: joint positions, shape (nv,), rad or m.
            v: joint velocities, shape (nv,), rad/s or m/s.
            q_ref: reference positions, shape (nv,), rad or m.
            v_ref: reference velocities, shape (nv,), rad/s or m/s.
            a_ref: reference accelerations, not used by the law, shape (nv,), rad/s² or m/s².

        Returns:
            Joint torques, shape (nv,), N·m or N.
        """
        return command(self, np.empty(0), q, v, q_ref, v_ref, a_ref)


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
