"""Proportional and derivative feedback."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.control.arm_law import ArmLaw
from steelyard.control.controller import ControlStep
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree


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
