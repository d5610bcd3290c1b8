"""Feedforward and feedback that need no measured velocity."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.compiled import kernel
from steelyard.control.arm_law import ArmLaw, positive_number
from steelyard.control.controller import ControlStep
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree


@dataclass(frozen=True, eq=False)
class FeedforwardPD(ArmLaw):
    r"""Independent joints, each with an inertia and a viscous friction of its own (paper 004, (2)).

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
