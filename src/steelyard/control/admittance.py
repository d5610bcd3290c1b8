"""An arm that yields to a hand like a light body in a viscous fluid: observer, tool map, virtual mass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.compiled import kernel
from steelyard.control.computed_torque import computed_torque_step
from steelyard.control.controller import ControlStep, ModelLaw, described_model, positive_number
from steelyard.dynamics.batch import Numbers
from steelyard.dynamics.forward_dynamics import solve_factored
from steelyard.dynamics.inverse_dynamics import add_to_parent
from steelyard.dynamics.mass_matrix import momentum_of_axis
from steelyard.dynamics.motion_pass import carry_gravity, cross, to_parent, velocity_pass, velocity_scratch
from steelyard.dynamics.tree import Tree
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Frame, Robot

# How the joints move a tool, seen from the tool, and back through damped least squares (compiled).


@kernel
def tool_jacobian(tree: Tree, link: int, pose: Array, chosen: Array, R: Array, p: Array, J: Array) -> None:
    r"""Write J (6, nv) with (ṗ, ω) = J v of a tool on a link, in the tool's own axes, linear rows first.

    From the tool inwards: an axis (l, c) of body i moves the tool, at x in the frame of i, by
    $(l + c \times x,\; c)$.

    Args:
        tree: the robot.
        link: the body that carries the tool.
        pose: R_LT by rows, then p_LT, shape (12,), dimensionless and m.
        chosen: 1 for a row that is wanted, 0 for one that stays zero, shape (6,), dimensionless.
        R: R_PC of every body, shape (nb, 3, 3), dimensionless.
        p: p_PC of every body, shape (nb, 3), m.
        J: out, shape (6, nv), m, rad or dimensionless.
    """
    J[:] = 0.0
    T = np.empty((3, 3))  # the tool's axes as rows, in the frame of body i
    for r in range(3):
        for c in range(3):
            T[r, c] = pose[3 * c + r]
    x, y, z = pose[9], pose[10], pose[11]
    i = link
    while i >= 0:
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            s = tree.subspace[k]
            ex, ey, ez = cross(s[3], s[4], s[5], x, y, z)
            for r in range(3):
                along = T[r, 0] * (s[0] + ex) + T[r, 1] * (s[1] + ey) + T[r, 2] * (s[2] + ez)
                J[r, k] = chosen[r] * along
                J[3 + r, k] = chosen[3 + r] * (T[r, 0] * s[3] + T[r, 1] * s[4] + T[r, 2] * s[5])
        x, y, z = to_parent(R, i, x, y, z)
        x, y, z = x + p[i, 0], y + p[i, 1], z + p[i, 2]
        for r in range(3):
            T[r, 0], T[r, 1], T[r, 2] = to_parent(R, i, T[r, 0], T[r, 1], T[r, 2])
        i = tree.parent[i]


@kernel
def damped_square(J: Array, damping: float, L: Array) -> None:
    r"""Write the lower triangle L (6, 6) with $L L^T = J J^T + \lambda^2 1$."""
    for r in range(6):
        for c in range(r + 1):
            entry = damping * damping if r == c else 0.0
            for k in range(J.shape[1]):
                entry += J[r, k] * J[c, k]
            for m in range(c):
                entry -= L[r, m] * L[c, m]
            L[r, c] = math.sqrt(entry) if r == c else entry / L[c, c]


# What pushes the arm from outside, from its momentum: no acceleration, no inverse (compiled).


@kernel
def momentum_and_rate(
    tree: Tree,
    numbers: Numbers,
    q: Array,
    v: Array,
    R: Array,
    p: Array,
    V: Array,
    g: Array,
    F: Array,
    G: Array,
    momentum: Array,
    rate: Array,
) -> None:
    r"""Write $H v$ and $C^T v - g - F_v v - F_o$ of one sample, each (nv,).

    All that a joint carries beyond it has the momentum $F$ and the weight $G$, wrenches in the frame of the
    joint's body; its axis s is fixed in that body, whose twist is V, and so changes by $V \times s$:

    $$(H v)_k = s \cdot F + I_a v_k, \qquad (C^T v - g)_k = (V \times s) \cdot F + s \cdot G.$$

    R (nb, 3, 3) and p (nb, 3) are left with the pose of every body in its parent; V (nb, 6), g (nb, 3),
    F (nb, 6) and G (nb, 6) are scratch.
    """
    velocity_pass(tree, q, v, R, p, V)
    nb = tree.parent.size
    for i in range(nb):
        momentum_of_axis(numbers.links, i, i, V, F)
        carry_gravity(tree, i, R, g)
        m, hx, hy, hz = numbers.links[i, 0], numbers.links[i, 1], numbers.links[i, 2], numbers.links[i, 3]
        G[i, 0], G[i, 1], G[i, 2] = m * g[i, 0], m * g[i, 1], m * g[i, 2]
        G[i, 3], G[i, 4], G[i, 5] = cross(hx, hy, hz, g[i, 0], g[i, 1], g[i, 2])
    for i in range(nb - 1, -1, -1):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            s = tree.subspace[k]
            ax, ay, az = cross(V[i, 3], V[i, 4], V[i, 5], s[0], s[1], s[2])
            bx, by, bz = cross(V[i, 0], V[i, 1], V[i, 2], s[3], s[4], s[5])
            cx, cy, cz = cross(V[i, 3], V[i, 4], V[i, 5], s[3], s[4], s[5])
            turning = (ax + bx) * F[i, 0] + (ay + by) * F[i, 1] + (az + bz) * F[i, 2]
            turning += cx * F[i, 3] + cy * F[i, 4] + cz * F[i, 5]
            along, weight = 0.0, 0.0
            for c in range(6):
                along += s[c] * F[i, c]
                weight += s[c] * G[i, c]
            momentum[k] = along + numbers.drive[k, 3] * v[k]
            rate[k] = turning + weight - numbers.drive[k, 0] * v[k] - numbers.drive[k, 2]
        if tree.parent[i] >= 0:
            add_to_parent(R, p, F, i, tree.parent[i])
            add_to_parent(R, p, G, i, tree.parent[i])


@kernel
def observe(
    gain: Array,
    cycle: float,
    momentum: Array,
    rate: Array,
    known: Array,
    last_momentum: Array,
    last_rate: Array,
    external: Array,
) -> None:
    r"""Update the external torque r (nv,) over one cycle, and the last momentum and rate with it.

    $\dot r = K_O\,(\dot p - u - r)$ with u the sum of all known torques: those held over the cycle, `known`,
    and `rate`, by the trapezoid of its ends. Implicit in r, so no gain makes it unstable:

    $$r_k = \frac{r_{k-1} + K_O\,\big(p_k - p_{k-1} - h\,u\big)}{1 + h K_O}.$$
    """
    for k in range(momentum.size):
        u = known[k] + 0.5 * (last_rate[k] + rate[k])
        change = momentum[k] - last_momentum[k]
        external[k] = (external[k] + gain[k] * (change - cycle * u)) / (1.0 + cycle * gain[k])
        last_momentum[k] = momentum[k]
        last_rate[k] = rate[k]


# One cycle of hand guiding: observe, map to the tool, move a virtual mass, follow it (compiled).

# Where the numbers that belong to no joint stand, after the rows K_p, K_d, K_O of the gains.
JOINT_ROWS = 3
CYCLE, INVERSE_DAMPING_ROW, LINK, POSE, CHOSEN, MASS, DAMPING, THRESHOLD = 0, 1, 2, 3, 15, 21, 27, 33

# Where the blocks of the memory start: whether it has started, the virtual twist, then nv numbers each.
TWIST, BLOCKS = 1, 7
MOMENTUM, RATE, EXTERNAL, POSITION, VELOCITY, COMMAND, BLOCK_COUNT = 0, 1, 2, 3, 4, 5, 6


@kernel
def block(memory: Array, nv: int, which: int) -> Array:
    """One of the nv-blocks of the memory, in place."""
    start = BLOCKS + which * nv
    return memory[start : start + nv]


@kernel
def outside_dead_zone(f: float, threshold: float) -> float:
    """What of f exceeds the threshold, with its sign."""
    if f > threshold:
        return f - threshold
    if f < -threshold:
        return f + threshold
    return 0.0


@kernel
def move_virtual_mass(other: Array, J: Array, external: Array, twist: Array, joints: Array) -> None:
    r"""Advance the virtual twist x (6,) by one cycle and write the joint velocities (nv,) that realise it.

    $$f = (J J^T + \lambda^2 1)^{-1} J r, \qquad
      x_k = \frac{M_d\,x_{k-1} + h\operatorname{dz}(f)}{M_d + h D_d}, \qquad
      v = J^T (J J^T + \lambda^2 1)^{-1} x_k$$
    """
    h, nv = other[CYCLE], external.size
    L = np.zeros((6, 6))
    damped_square(J, other[INVERSE_DAMPING_ROW], L)
    f = np.zeros(6)
    for r in range(6):
        for k in range(nv):
            f[r] += J[r, k] * external[k]
    solve_factored(L, f)
    for r in range(6):
        push = outside_dead_zone(f[r], other[THRESHOLD + r])
        mass, damping = other[MASS + r], other[DAMPING + r]
        twist[r] = (mass * twist[r] + h * push) / (mass + h * damping)
        f[r] = twist[r]
    solve_factored(L, f)
    for k in range(nv):
        joints[k] = 0.0
        for r in range(6):
            joints[k] += J[r, k] * f[r]


@kernel
def admittance_step(
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
    """The law of `Admittance`; gains are K_p, K_d, K_O, then the numbers of the tool."""
    nb, nv = tree.parent.size, q.size
    other = gains[JOINT_ROWS:].flatten()
    h = other[CYCLE]
    R, p, V = velocity_scratch(tree)
    g, F, G = np.empty((nb, 3)), np.empty((nb, 6)), np.empty((nb, 6))
    momentum, rate, acceleration = np.empty(nv), np.empty(nv), np.zeros(nv)
    last_momentum, last_rate = block(memory, nv, MOMENTUM), block(memory, nv, RATE)
    external, last_command = block(memory, nv, EXTERNAL), block(memory, nv, COMMAND)
    position, velocity = block(memory, nv, POSITION), block(memory, nv, VELOCITY)
    momentum_and_rate(tree, numbers, q, v, R, p, V, g, F, G, momentum, rate)
    if memory[0] > 0.5:
        known = np.empty(nv)
        for k in range(nv):
            known[k] = last_command[k] - numbers.drive[k, 1] * np.sign(velocity[k])
        observe(gains[2], h, momentum, rate, known, last_momentum, last_rate, external)
        J = np.empty((6, nv))
        pose, chosen = other[POSE:CHOSEN], other[CHOSEN:MASS]
        tool_jacobian(tree, int(other[LINK]), pose, chosen, R, p, J)
        follow = np.empty(nv)
        move_virtual_mass(other, J, external, memory[TWIST:BLOCKS], follow)
        for k in range(nv):
            acceleration[k] = (follow[k] - velocity[k]) / h
            position[k] += 0.5 * h * (velocity[k] + follow[k])
            velocity[k] = follow[k]
    else:
        memory[0] = 1.0
        for k in range(nv):
            last_momentum[k], last_rate[k], position[k] = momentum[k], rate[k], q[k]
    computed_torque_step(tree, numbers, gains, memory, q, v, position, velocity, acceleration, tau)
    for k in range(nv):
        last_command[k] = tau[k]


# The admittance law

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
"""Directions of a tool: along its axes, then about them."""
DEAD_ZONE = (2.0, 2.0, 2.0, 0.1, 0.1, 0.1)
"""The thresholds of Tian et al. (2024), section V-C, N and N·m."""
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

        So r is the torque from outside of Tian et al. (2024), eq. (1), $\tau_{raw} - \tau_m$, with the sign
        of a push on the arm and behind the observer's lag.

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
