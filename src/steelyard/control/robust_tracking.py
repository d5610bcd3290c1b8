"""Tracking with a tube that no parameter of a box can make the arm leave."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.compiled import kernel
from steelyard.control.controller import ControlStep, ModelLaw, described_model, positive_number
from steelyard.control.passivity_terms import (
    largest_disturbance,
    largest_energy,
    link_rows,
    reference_torque,
)
from steelyard.dynamics.batch import DRIVE_NUMBERS, Numbers
from steelyard.dynamics.batch import numbers as split_numbers
from steelyard.dynamics.tree import Tree
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Robot

# The robust torque of a tracking law and the one bound of it that controller and certifier share.
#
# The error obeys $H\dot r + C r + F_v r = w' - u$ with $r^T w' \le |r|^T w_M$ (see `passivity_terms`), so
#
# $$V = \tfrac12 r^T H(q, \theta)\,r, \qquad \dot V \le |r|^T w_M - r^T u - r^T F_v r.$$
#
# Let $\overline V \ge V$ be the most that V can be over the box, $n = r / \|r\|$. Three forms of u keep
# $V \le V_M$ once it is so:
#
# *armour* (Michaux et al., ARMOUR, as used in Zhang et al. 2025): $u = \lambda n$,
# $\lambda = \max(0,\; |n|^T w_M - \alpha\,(V_M - \overline V) / \|r\|)$. Then
# $\dot V \le \alpha\,(V_M - \overline V) \le \alpha\,(V_M - V)$ everywhere.
#
# *clamped*: the same with $\lambda \le |n|^T w_M$. Where $V \ge V_M$ also $\overline V \ge V_M$, so
# $\lambda = |n|^T w_M$ and $\dot V \le 0$.
#
# *componentwise*: $u_j = \kappa r_j + w_{M,j} \operatorname{sat}(r_j / \delta)$. Since
# $|r_j|\,(1 - |r_j| / \delta) \le \delta / 4$ inside the layer,
# $\dot V \le \tfrac\delta4 \sum_j w_{M,j} - \kappa\,\|r\|^2$. With the layer
# $\delta = 4\kappa\,\|r\|^2 \max(1, V_M / \overline V) / \sum_j w_{M,j}$ this is at most zero where
# $V \ge V_M$. The layer never closes: $\|r\|^2 / \overline V$ is at least twice the inverse of the largest
# inertia.
#
# In the last two $\dot V \le 0$ holds on all of $V \ge V_M$, not on its edge alone, so no uniqueness of
# solutions is needed: were V above $V_M$ at some time, it would not have grown since it last was $V_M$. The
# jumps of friction change nothing: each limit of the right side satisfies the inequality, so every mean of
# them does. All three are continuous at r = 0, where the robust torque is zero.
#
# Within the tube, $\|r\| \le \varepsilon$ with $V_M = \tfrac12 \sigma_m \varepsilon^2$. As the most of
# $|n_j|\,|n|^T w$ over unit vectors is $\tfrac12(\|w\| + w_j)$ and $\overline V \le \tfrac12 \sigma_M
# \|r\|^2$,
#
# $$|u_j| \le \rho_j = \begin{cases}
#   \tfrac12(\|w_M\| + w_{M,j}) + \tfrac12\alpha\varepsilon(\sigma_M - \sigma_m) & \text{armour} \\
#   \tfrac12(\|w_M\| + w_{M,j}) & \text{clamped} \\
#   w_{M,j} + \kappa\varepsilon & \text{componentwise.} \end{cases}$$
#
# ρ grows with every entry of $w_M$, so an upper bound of $w_M$ gives one of ρ. The controller holds its
# torque within ρ, which changes nothing in the tube but the last bits; outside of it, where the proof is
# void, no more torque is commanded than was certified.

FORMS = ("armour", "clamped", "componentwise")
"""Forms of the robust torque; compiled code knows them by their place."""
ARMOUR, CLAMPED, COMPONENTWISE = range(len(FORMS))


@kernel
def robust_radius(form: int, reserve: float, w_M: Array, radius: Array) -> None:
    r"""Write ρ, the most torque per joint that the robust term can have in the tube.

    `reserve` is what ρ adds to the part of $w_M$: $\tfrac12\alpha\varepsilon(\sigma_M - \sigma_m)$, 0, or
    $\kappa\varepsilon$.
    """
    norm = 0.0
    for j in range(w_M.size):
        norm += w_M[j] * w_M[j]
    norm = math.sqrt(norm)
    for j in range(w_M.size):
        part = w_M[j] if form == COMPONENTWISE else 0.5 * (norm + w_M[j])
        radius[j] = part + reserve


@kernel
def robust_torque(
    form: int,
    level: float,
    gain: float,
    reserve: float,
    r: Array,
    w_M: Array,
    most_energy: float,
    u: Array,
) -> None:
    r"""Write the robust torque u; `level` is $V_M$, `gain` α or κ, `most_energy` $\overline V$."""
    square = 0.0
    pushed = 0.0
    total = 0.0
    for j in range(r.size):
        square += r[j] * r[j]
        pushed += abs(r[j]) * w_M[j]
        total += w_M[j]
    if square == 0.0:
        u[:] = 0.0
        return
    if form == COMPONENTWISE:
        layer = 4.0 * gain * square * max(1.0, level / most_energy)  # δ times the sum of w_M
        for j in range(r.size):
            share = 1.0 if abs(r[j]) * total >= layer else abs(r[j]) * total / layer
            u[j] = gain * r[j] + math.copysign(w_M[j] * share, r[j])
    else:
        # λ / |r|, with the powers |r|ᵀ w_M and α (V_M - V) in its numerator.
        power = max(0.0, pushed - gain * (level - most_energy))
        if form == CLAMPED:
            power = min(power, pushed)
        for j in range(r.size):
            u[j] = power / square * r[j]
    radius = np.empty(r.size)
    robust_radius(form, reserve, w_M, radius)
    for j in range(r.size):
        u[j] = min(max(u[j], -radius[j]), radius[j])


# The tube around a reference that a robust tracking law keeps.
#
# With $V_M$ the level of $V = \tfrac12 r^T H r$ that is never exceeded and $\sigma_m$ a lower bound of the
# smallest eigenvalue of H at all poses and for all parameters of the box, $\|r\| \le \varepsilon =
# \sqrt{2 V_M / \sigma_m}$. The position error is $\dot e = r - K_r e$, a filter of r, so once
# $\|e\| \le \varepsilon / K_r$ it stays so, and
#
# $$\|e\| \le \frac{\varepsilon}{K_r}, \quad \|\dot e\| \le 2\varepsilon, \quad \|v_a - v_d\| \le \varepsilon,
#   \quad \|a_a - a_d\| \le 2 K_r \varepsilon.$$
#
# These are balls, since $K_r$ is one number for all joints. They hold from a start with $V \le V_M$ and
# $\|e\| \le \varepsilon / K_r$, for instance on the reference. At a change of plan e and r are continuous if
# position and velocity of the reference are (its acceleration may jump), so the tube goes on. It does at a
# change of the box too, with the same $K_r$, if the new level and radius are not below the old ones.

_OUTWARD = 1.0 + 1e-12


@dataclass(frozen=True)
class Tube:
    """How far the arm can be from its reference, Euclidean norms over all joints.

    Attributes:
        level: V_M, J.
        smallest_inertia: σ_m, kg·m² or kg.
        kr: K_r, 1/s.
    """

    level: float
    smallest_inertia: float
    kr: float

    def __post_init__(self) -> None:
        for name, unit in (("level", "J"), ("smallest_inertia", "kg·m²"), ("kr", "1/s")):
            object.__setattr__(self, name, positive_number(name, getattr(self, name), unit))

    @classmethod
    def of_radius(cls, radius: float, smallest_inertia: float, kr: float) -> Tube:
        """The tube with a wished bound of r.

        Args:
            radius: ε, rad/s or m/s.
            smallest_inertia: σ_m, kg·m² or kg.
            kr: K_r, 1/s.
        """
        return cls(0.5 * smallest_inertia * radius**2, smallest_inertia, kr)

    @property
    def radius(self) -> float:
        """ε, the bound of r, rad/s or m/s."""
        return math.sqrt(2.0 * self.level / self.smallest_inertia) * _OUTWARD

    @property
    def position(self) -> float:
        """Bound of q_ref - q, rad or m."""
        return self.radius / self.kr * _OUTWARD

    @property
    def velocity(self) -> float:
        """Bound of v_ref - v, rad/s or m/s."""
        return 2.0 * self.radius

    @property
    def reference_acceleration(self) -> float:
        """Bound of a_a - a_ref, rad/s² or m/s²."""
        return 2.0 * self.kr * self.radius * _OUTWARD


# The compiled step of `RobustTracking`.

FORM, KR, LEVEL, GAIN, RESERVE, REST, BOX = range(7)
"""Places of the constants among the gains, read row by row; the half-widths start at `BOX`."""


@kernel
def half_widths(nb: int, nv: int, gains: Array) -> Numbers:
    """The half-widths of links and drives, from the gains."""
    flat = gains.reshape(-1)
    end = BOX + 10 * nb
    links = flat[BOX:end].reshape((nb, 10))
    return Numbers(links, flat[end : end + DRIVE_NUMBERS * nv].reshape((nv, DRIVE_NUMBERS)))


@kernel
def robust_parts(
    tree: Tree,
    numbers: Numbers,
    gains: Array,
    q: Array,
    v: Array,
    q_ref: Array,
    v_ref: Array,
    a_ref: Array,
    tau: Array,
    r: Array,
    w_M: Array,
) -> float:
    """Write the nominal torque, r and w_M; return the most energy of r in the box."""
    nb, nv = tree.parent.size, q.size
    flat = gains.reshape(-1)
    v_a = np.empty(nv)
    a_a = np.empty(nv)
    for j in range(nv):
        v_a[j] = v_ref[j] + flat[KR] * (q_ref[j] - q[j])
        a_a[j] = a_ref[j] + flat[KR] * (v_ref[j] - v[j])
        r[j] = v_a[j] - v[j]
    J = np.empty((nb, nv, 6))
    Y = np.empty((nv, 10 * nb))
    half = half_widths(nb, nv, gains)
    link_rows(tree, q, v, v_a, a_a, J, Y)
    reference_torque(numbers, flat[REST], v_a, a_a, Y, tau)
    largest_disturbance(numbers, half, flat[REST], v_a, a_a, Y, w_M)
    return largest_energy(tree, numbers, half, r, J)


@kernel
def robust_step(
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
    """The law of `RobustTracking`; gains are its constants, then the half-widths of the box."""
    flat = gains.reshape(-1)
    r = np.empty(q.size)
    w_M = np.empty(q.size)
    u = np.empty(q.size)
    energy = robust_parts(tree, numbers, gains, q, v, q_ref, v_ref, a_ref, tau, r, w_M)
    robust_torque(int(flat[FORM]), flat[LEVEL], flat[GAIN], flat[RESERVE], r, w_M, energy, u)
    for j in range(q.size):
        tau[j] += u[j]


_NEEDS = {"armour": ("alpha", "largest_inertia"), "clamped": ("alpha",), "componentwise": ("kappa",)}


@dataclass(frozen=True, eq=False)
class RobustTracking(ModelLaw):
    r"""Passivity-based tracking with a robust torque, for every parameter in a box around the model.

    $$\tau = Y(q, v, v_a, a_a)\,\theta_0 + u(r), \qquad e = q_{ref} - q, \quad v_a = v_{ref} + K_r e, \quad
      a_a = a_{ref} + K_r \dot e, \quad r = v_a - v$$

    `passivity_terms` states Y and the disturbance that u has to bear, `robust_torque` the forms of u with the
    proof that $\tfrac12 r^T H r \le V_M$ is never left, `Tube` what that means for the errors.

    The proof is in continuous time with the exact state. Held over cycles of h seconds the torque lags, and r
    can overshoot by what a change of torque does to the lightest joint in a cycle, about
    $2 h \|w_M\| / \sigma_m$; ε has to be well above that, and above the error of the measured velocity. A law
    for a light arm with a wide box therefore needs a short cycle. On a Gen3 with rotors of 8 to 12 kg·m², a
    box of payloads up to 4 kg and ε = 0.016 rad/s, r stayed below 0.25 ε at 1 kHz, 0.31 ε with velocities
    wrong by up to 0.001 rad/s and 0.62 ε with 0.005: measured, not proven.

    Attributes:
        robot: the robot it commands.
        layout: the order of the parameters; the linear drive at most.
        parameters: θ_0, centre of the box, shape (p,), SI.
        half_widths: Δ, half-widths of the box, shape (p,), SI.
        kr: K_r, 1/s.
        level: V_M, J.
        smallest_inertia: σ_m, at most the smallest eigenvalue of the mass matrix at any pose for any
            parameters in the box, kg·m² or kg.
        form: one of `FORMS`.
        alpha: α of armour and clamped, 1/s; None for componentwise.
        kappa: κ of componentwise, N·m·s/rad or N·s/m; None for the others.
        largest_inertia: σ_M of armour, at least the largest eigenvalue, kg·m² or kg; None for the others.
        rest_velocity: v_0 below which friction is compensated in part, rad/s or m/s.
        cycle: length of the control cycle it is made for, s; None where any will do.
    """

    half_widths: Array
    kr: float
    level: float
    smallest_inertia: float
    form: str = field(default="clamped", kw_only=True)
    alpha: float | None = field(default=None, kw_only=True)
    kappa: float | None = field(default=None, kw_only=True)
    largest_inertia: float | None = field(default=None, kw_only=True)
    rest_velocity: float = field(default=0.0, kw_only=True)

    law = "robust"
    joint_gains = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.robot.require_arm()
        if self.layout.friction:
            raise InputError(
                f"it has {' and '.join(self.layout.friction)} friction, for which there is no proof.",
                place="layout",
                remedy="Use the linear drive, with half-widths that cover what it leaves.",
            )
        half = checked("half_widths", self.half_widths, (self.layout.size,))
        self._keep("half_widths", read_only(half))
        low = np.flatnonzero(half < 0.0)
        if low.size:
            name = self.layout.names[low[0]]
            raise InputError(f"must not be negative, got {half[low[0]]:g} for '{name}'.", place="half_widths")
        self._refuse_negative_drives()
        tube = Tube(self.level, self.smallest_inertia, self.kr)
        for name in ("level", "smallest_inertia", "kr"):
            self._keep(name, getattr(tube, name))
        self._keep("rest_velocity", positive_number("rest_velocity", self.rest_velocity, "rad/s", zero=True))
        self._keep_gains_of_form()

    def _refuse_negative_drives(self) -> None:
        lowest = self.parameters - self.half_widths
        for parameter, low in zip(self.layout.parameters, lowest, strict=True):
            if parameter.term in ("viscous", "coulomb", "rotor") and low < 0.0:
                raise InputError(
                    f"'{parameter.name}' could be {low:g}, below zero, where nothing is proven.",
                    place="half_widths",
                    remedy="Choose a smaller half-width.",
                )

    def _keep_gains_of_form(self) -> None:
        if self.form not in FORMS:
            raise UnknownNameError("form", self.form, FORMS, place="form")
        units = {"alpha": "1/s", "kappa": "N·m·s/rad", "largest_inertia": "kg·m²"}
        for name, unit in units.items():
            value, needed = getattr(self, name), name in _NEEDS[self.form]
            if (value is None) is needed:
                what = "is needed" if needed else "has no place"
                raise InputError(f"{what} in the form '{self.form}'.", place=name)
            if value is not None:
                self._keep(name, positive_number(name, value, unit))
        if self.largest_inertia is not None and self.largest_inertia < self.smallest_inertia:
            raise InputError("is below the smallest inertia.", place="largest_inertia")

    @classmethod
    def nominal(
        cls,
        robot: Robot,
        spread: float,
        kr: float,
        level: float,
        smallest_inertia: float,
        *,
        payload: ArrayLike = (0.0,) * 10,
        form: str = "clamped",
        alpha: float | None = None,
        kappa: float | None = None,
        largest_inertia: float | None = None,
        rest_velocity: float = 0.0,
        cycle: float | None = None,
    ) -> RobustTracking:
        """The controller whose box is around what the description states.

        Args:
            robot: the robot; every moving link must state an inertial, unstated drive terms count as absent.
            spread: half-width of every parameter as a part of its size, dimensionless.
            kr: K_r, 1/s.
            level: V_M, J.
            smallest_inertia: σ_m, kg·m² or kg.
            payload: half-widths that an unknown payload adds to the ten parameters of the last link,
                shape (10,), SI.
            form: one of `FORMS`.
            alpha: α, 1/s.
            kappa: κ, N·m·s/rad or N·s/m.
            largest_inertia: σ_M, kg·m² or kg.
            rest_velocity: v_0, rad/s or m/s.
            cycle: length of the control cycle it is made for, s; None where any will do.

        Returns:
            The controller.

        Raises:
            InputError: a number is out of range, or missing in the form.
            DescriptionError: a link states no inertial.
        """
        layout, phi = described_model(robot)
        half = positive_number("spread", spread, "", zero=True) * np.abs(phi)
        half[layout.of_link(robot.link_names[-1])] += checked("payload", payload, (10,))
        return cls(
            robot,
            layout,
            phi,
            half,
            kr,
            level,
            smallest_inertia,
            form=form,
            alpha=alpha,
            kappa=kappa,
            largest_inertia=largest_inertia,
            rest_velocity=rest_velocity,
            cycle=cycle,
        )

    @property
    def step(self) -> ControlStep:
        """The compiled law."""
        return robust_step

    @property
    def tube(self) -> Tube:
        """What it keeps to."""
        return Tube(self.level, self.smallest_inertia, self.kr)

    @property
    def reserve(self) -> float:
        """What the bound of the robust torque adds to the part of w_M, see `robust_radius`, N·m or N."""
        if self.kappa is not None:
            return self.kappa * self.tube.radius
        if self.alpha is not None and self.largest_inertia is not None:
            return 0.5 * self.alpha * self.tube.radius * (self.largest_inertia - self.smallest_inertia)
        return 0.0

    def radius(self, disturbance: ArrayLike) -> Array:
        """The most robust torque that a bound of the disturbance allows.

        Args:
            disturbance: w_M, shape (nv,), N·m or N.

        Returns:
            ρ, shape (nv,), N·m or N.
        """
        w_M = checked("disturbance", disturbance, (self.robot.nv,))
        radius = np.empty(self.robot.nv)
        robust_radius(FORMS.index(self.form), self.reserve, w_M, radius)
        return radius

    @cached_property
    def gains(self) -> Array:
        """Constants of the law and the half-widths of links and drives, in rows, shape (rows, nv), SI."""
        half = split_numbers(self.robot, self.layout, self.half_widths)
        gain = self.kappa or self.alpha or 0.0  # a form has one of them
        form = float(FORMS.index(self.form))
        constants = np.array((form, self.kr, self.level, gain, self.reserve, self.rest_velocity))
        flat = np.concatenate((constants, half.links.ravel(), half.drive.ravel()))
        nv = self.robot.nv
        rows = np.zeros((math.ceil(flat.size / nv), nv))
        rows.flat[: flat.size] = flat
        return read_only(rows)
