"""An arm that yields to a hand like a light body in a viscous fluid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.control.arm_law import ModelLaw, described_model, positive_number
from steelyard.control.controller import ControlStep
from steelyard.control.guiding import BLOCK_COUNT, BLOCKS, COMMAND, EXTERNAL, TWIST, admittance_step, block
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Frame, Robot

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
"""Directions of a tool: along its axes, then about them."""
DEAD_ZONE = (2.0, 2.0, 2.0, 0.1, 0.1, 0.1)
"""The thresholds of paper 003, section V-C, N and N·m."""
INVERSE_DAMPING = 0.01
"""λ unless told: an arm with σ = 0.2 loses 0.25 % in each direction of the map."""


@dataclass(frozen=True, eq=False)
class Admittance(ModelLaw):
    r"""Hand guiding: the external force on the tool moves a virtual mass, which the arm follows.

    The torque from outside is observed from the momentum $p = H v$ (rotors included), mapped to the wrench on
    the tool in its own axes, freed of what may be model error by a dead zone, and drives a twist x,

    $$\dot r = K_O\,\big(\dot p - \tau - C^T v + g + \tau_f - r\big), \qquad
      f = (J J^T + \lambda^2 1)^{-1} J\,r,$$
    $$M_d\,\dot x + D_d\,x = \operatorname{dz}(f), \qquad
      \operatorname{dz}(f) = \operatorname{sign}(f)\max(|f| - f_{th}, 0),$$

    per component. The reference starts where the arm is, moves with $v_g = J^T (J J^T + \lambda^2 1)^{-1} x$
    and is followed by `ComputedTorque`; the references handed in are not used. A steady push f moves the tool
    at $(f - f_{th}) / D_d$ along it; each of the two maps loses the part $\lambda^2 / (\sigma^2 + \lambda^2)$
    of it, σ being the singular value of J in that direction. No joint is guided faster than $|x| / 2\lambda$.

    Friction is $\tau_f = F_v v + F_c \operatorname{sign}(v_g) + F_o$: the sign of the guided velocity, as the
    command compensates it, does not chatter at rest. A joint that friction holds hides what pushes it. The
    torque of a cycle counts as held until the next one; a delay in the loop disturbs r while the torque
    changes, unless it tells the law what was measured (`tell_torque`). On the cycle h the known torques are
    integrated by trapezoids; r and x are implicit, so neither can become unstable.

    Attributes:
        robot: the robot it commands.
        layout: the order of the model's parameters.
        parameters: phi of the model, shape (p,), SI.
        kp: K_p of `ComputedTorque`, one for all joints or one each, shape () or (nv,), SI: 1/s².
        kd: K_d of `ComputedTorque`, one for all joints or one each, shape () or (nv,), SI: 1/s.
        observer: K_O, one for all joints or one each, shape () or (nv,), SI: 1/s.
        mass: M_d, shape (6,), kg and kg·m².
        damping: D_d, shape (6,), N·s/m and N·m·s/rad.
        threshold: f_th, shape (6,), N and N·m.
        tool: the guided frame, on a moving link; `nominal` takes the robot's unless told.
        components: directions of the tool that are guided, of `COMPONENTS`; the wrench is assumed to lie in
            them, and the others are left to what the joints do. An arm with fewer than six joints needs a
            choice of as many as it can move.
        inverse_damping: λ, m for translations and rad for turns, per rad or m of the joints.
        cycle: length of the control cycle h, s.
    """

    kp: Array
    kd: Array
    observer: Array
    mass: Array
    damping: Array
    threshold: Array = field(default_factory=lambda: np.array(DEAD_ZONE), kw_only=True)
    tool: Frame = field(kw_only=True)
    components: tuple[str, ...] = field(default=COMPONENTS, kw_only=True)
    inverse_damping: float = field(default=INVERSE_DAMPING, kw_only=True)
    cycle: float = field(kw_only=True)

    law = "admittance"
    joint_gains = ("kp", "kd", "observer")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layout.friction:
            raise InputError(
                f"it has {' and '.join(self.layout.friction)} friction, which the momentum observer does not "
                "know and would take for a guiding hand.",
                place="layout",
                remedy="Use a model with the linear drive alone, and a threshold above what that leaves.",
            )
        self._keep("mass", _components("mass", self.mass))
        self._keep("damping", _components("damping", self.damping))
        self._keep("threshold", _components("threshold", self.threshold, zero=True))
        self._keep("components", tuple(self.components))
        for name in self.components:
            if name not in COMPONENTS:
                raise UnknownNameError("component", name, COMPONENTS, place="components")
        if not self.components:
            raise InputError("names no direction to guide.", place="components")
        if not 0 <= self.tool.link < len(self.robot.links):
            raise InputError(f"'{self.tool.name}' is not on a moving link.", place="tool")
        unit = "m or rad per rad or m"
        self._keep("inverse_damping", positive_number("inverse_damping", self.inverse_damping, unit))

    @classmethod
    def nominal(
        cls,
        robot: Robot,
        kp: ArrayLike,
        kd: ArrayLike,
        observer: ArrayLike,
        mass: ArrayLike,
        damping: ArrayLike,
        *,
        cycle: float,
        threshold: ArrayLike = DEAD_ZONE,
        tool: str | None = None,
        components: Sequence[str] = COMPONENTS,
        inverse_damping: float = INVERSE_DAMPING,
    ) -> Admittance:
        """The controller whose model is what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            kp: K_p of the inner loop, shape () or (nv,), SI: 1/s².
            kd: K_d of the inner loop, shape () or (nv,), SI: 1/s.
            observer: K_O, shape () or (nv,), SI: 1/s.
            mass: M_d, shape (6,), kg and kg·m².
            damping: D_d, shape (6,), N·s/m and N·m·s/rad.
            cycle: length of the control cycle, s.
            threshold: f_th, shape (6,), N and N·m.
            tool: a link name of the description, moving or fixed; None for the robot's tool frame.
            components: directions of the tool that are guided.
            inverse_damping: λ, m or rad per rad or m.

        Returns:
            The controller.

        Raises:
            DescriptionError: a link states no inertial.
            UnknownNameError: no such link or component; lists those that exist.
        """
        gains = (np.asarray(gain) for gain in (kp, kd, observer, mass, damping))
        return cls(
            robot,
            *described_model(robot),
            *gains,
            threshold=np.asarray(threshold),
            tool=robot.tool_frame if tool is None else robot.frame(tool),
            components=tuple(components),
            inverse_damping=inverse_damping,
            cycle=cycle,
        )

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return admittance_step

    @cached_property
    def gains(self) -> Array:
        """K_p, K_d, K_O, then in further rows the numbers of the tool, shape (rows, nv), SI."""
        nv = self.robot.nv
        place = self.tool.placement
        chosen = [float(name in self.components) for name in COMPONENTS]
        other = np.concatenate(
            (
                (self.cycle, self.inverse_damping, self.tool.link),
                place.rotation.ravel(),
                place.translation,
                chosen,
                self.mass,
                self.damping,
                self.threshold,
            )
        )
        rows = np.zeros((math.ceil(other.size / nv), nv))
        rows.flat[: other.size] = other
        return read_only(np.vstack((self.kp, self.kd, self.observer, rows)))

    @property
    def memory(self) -> Array:
        """Zeros, shape (7 + 6 nv,), SI.

        Whether it has started, the twist x, then nv numbers each of the momentum p, its known rate, r, the
        guided position and velocity, and the last torque.
        """
        return read_only(np.zeros(BLOCKS + BLOCK_COUNT * self.robot.nv))

    def external_torque(self, memory: Array) -> Array:
        """What pushes the joints from outside, as observed.

        Args:
            memory: the state of a run, shape (7 + 6 nv,), SI.

        Returns:
            r, shape (nv,), N·m or N.
        """
        return np.array(block(memory, self.robot.nv, EXTERNAL))

    def tell_torque(self, memory: Array, tau: ArrayLike) -> None:
        r"""Let the observer reckon with a measured torque, held over the coming cycle, not with its command.

        So r is the torque from outside of paper 003, (1), $\tau_{raw} - \tau_m$, with the sign of a push on
        the arm and behind the observer's lag.

        Args:
            memory: the state of a run after the law's step, changed in place, shape (7 + 6 nv,), SI.
            tau: the meter's reading, shape (nv,), N·m or N.
        """
        block(memory, self.robot.nv, COMMAND)[:] = checked("tau", tau, (self.robot.nv,))

    def twist(self, memory: Array) -> Array:
        """How the virtual mass moves.

        Args:
            memory: the state of a run, shape (7 + 6 nv,), SI.

        Returns:
            x in the tool's axes, linear part first, shape (6,), m/s and rad/s.
        """
        return np.array(memory[TWIST:BLOCKS])


def _components(name: str, value: ArrayLike, *, zero: bool = False) -> Array:
    """One number for every component, checked."""
    array = checked(name, value, (len(COMPONENTS),))
    for component, number in zip(COMPONENTS, array, strict=True):
        if number < 0.0 or (number == 0.0 and not zero):
            wanted = "not be negative" if zero else "be positive"
            raise InputError(f"must {wanted}, got {number:g} for '{component}'.", place=name)
    return read_only(array)
