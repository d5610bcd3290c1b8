"""Adaptive tracking that learns the payload while it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.compiled import kernel
from steelyard.control.controller import ControlStep, ModelLaw, described_model
from steelyard.control.passivity_terms import link_rows, reference_torque
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.tree import Tree
from steelyard.errors import InputError
from steelyard.robot import Robot

_TEN = 10


@dataclass(frozen=True, eq=False)
class AdaptivePayload(ModelLaw):
    r"""The law of Slotine and Li (1987) with the ten parameters of a payload on the last link as unknowns.

    $$\tau = Y\theta_0 + Y_p\,\hat\pi + K_d\,r, \qquad \dot{\hat\pi} = \Gamma\,Y_p^T r, \qquad
      r = \dot e + K_r e, \quad e = q_{ref} - q$$

    Y is that of `passivity_terms`, friction at the reference, and $Y_p$ its columns of the last link, in
    whose frame the payload is stated. With the true π and otherwise true parameters

    $$V = \tfrac12 r^T H r + \tfrac12 (\pi - \hat\pi)^T \Gamma^{-1} (\pi - \hat\pi), \qquad
      \dot V \le -r^T (K_d + F_v)\,r,$$

    so r and e go to zero; $\hat\pi$ goes to π in what the motion excites, and nothing bounds the error on the
    way. The estimate can be held in a box that holds π: Γ is diagonal, so clipping is the projection and only
    lowers V. The estimate is updated once a cycle by Euler's rule.

    Attributes:
        robot: the robot it commands.
        layout: the order of the parameters; the linear drive at most.
        parameters: θ_0 without payload, shape (p,), SI.
        kr: K_r, one for all joints or one each, shape () or (nv,), SI: 1/s; kept as (nv,).
        kd: K_d, one for all joints or one each, shape () or (nv,), N·m·s/rad or N·s/m; kept as (nv,).
        adaptation: diagonal of Γ, shape (10,), SI: squared unit of each parameter per J.
        lower: least estimate, shape (10,), SI; minus infinity for none.
        upper: most, shape (10,), SI; infinity for none.
        cycle: length of the control cycle, s.
    """

    kr: Array
    kd: Array
    adaptation: Array
    lower: Array = field(default_factory=lambda: np.full(_TEN, -np.inf), kw_only=True)
    upper: Array = field(default_factory=lambda: np.full(_TEN, np.inf), kw_only=True)
    cycle: float = field(kw_only=True)

    law = "adaptive"
    joint_gains = ("kr", "kd")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layout.friction:
            raise InputError(
                f"it has {' and '.join(self.layout.friction)} friction, for which there is no proof.",
                place="layout",
                remedy="Use the linear drive.",
            )
        for name in ("adaptation", "lower", "upper"):
            value = checked(name, getattr(self, name), (_TEN,), finite=name == "adaptation")
            self._keep(name, read_only(value))
        if (self.adaptation < 0.0).any():
            raise InputError("must not be negative.", place="adaptation")
        if not ((self.lower <= 0.0) & (self.upper >= 0.0)).all():
            raise InputError("the box must hold no payload, where the estimate starts.", place="lower, upper")

    @classmethod
    def nominal(
        cls,
        robot: Robot,
        kr: ArrayLike,
        kd: ArrayLike,
        adaptation: ArrayLike,
        *,
        cycle: float,
        lower: ArrayLike = (-np.inf,) * _TEN,
        upper: ArrayLike = (np.inf,) * _TEN,
    ) -> AdaptivePayload:
        """The controller whose model without payload is what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            kr: K_r, shape () or (nv,), SI: 1/s.
            kd: K_d, shape () or (nv,), N·m·s/rad or N·s/m.
            adaptation: diagonal of Γ, shape (10,), SI.
            cycle: length of the control cycle, s.
            lower: least estimate, shape (10,), SI.
            upper: most, shape (10,), SI.

        Returns:
            The controller.

        Raises:
            DescriptionError: a link states no inertial.
        """
        gains = (np.asarray(gain) for gain in (kr, kd, adaptation))
        least, most = np.asarray(lower), np.asarray(upper)
        return cls(robot, *described_model(robot), *gains, lower=least, upper=most, cycle=cycle)

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return adaptive_payload_step

    @cached_property
    def gains(self) -> Array:
        """K_r, K_d, then h Γ, the least and the most estimate in further rows, shape (rows, nv), SI."""
        flat = np.concatenate((self.cycle * self.adaptation, self.lower, self.upper))
        nv = self.robot.nv
        rows = np.zeros((math.ceil(flat.size / nv), nv))
        rows.flat[: flat.size] = flat
        return read_only(np.vstack((self.kr, self.kd, rows)))

    @property
    def memory(self) -> Array:
        """The estimate of the payload in the last link's frame, zero, shape (10,), SI."""
        return read_only(np.zeros(_TEN))


@kernel
def adaptive_payload_step(
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
    """The law of `AdaptivePayload`; gains are K_r, K_d, h Γ and the box of the estimate."""
    nb, nv = tree.parent.size, q.size
    flat = gains[2:].reshape(-1)
    v_a = np.empty(nv)
    a_a = np.empty(nv)
    for j in range(nv):
        v_a[j] = v_ref[j] + gains[0, j] * (q_ref[j] - q[j])
        a_a[j] = a_ref[j] + gains[0, j] * (v_ref[j] - v[j])
    J = np.empty((nb, nv, 6))
    Y = np.empty((nv, _TEN * nb))
    link_rows(tree, q, v, v_a, a_a, J, Y)
    reference_torque(numbers, 0.0, v_a, a_a, Y, tau)
    at = _TEN * (nb - 1)
    for j in range(nv):
        for c in range(_TEN):
            tau[j] += Y[j, at + c] * memory[c]
        tau[j] += gains[1, j] * (v_a[j] - v[j])
    for c in range(_TEN):
        power = 0.0
        for j in range(nv):
            power += Y[j, at + c] * (v_a[j] - v[j])
        estimate = memory[c] + flat[c] * power
        memory[c] = min(max(estimate, flat[_TEN + c]), flat[2 * _TEN + c])
