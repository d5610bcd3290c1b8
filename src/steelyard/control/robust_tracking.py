"""Tracking with a tube that no parameter of a box can make the arm leave."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.control.arm_law import ModelLaw, described_model, positive_number
from steelyard.control.controller import ControlStep
from steelyard.control.robust_step import robust_step
from steelyard.control.robust_torque import FORMS, robust_radius
from steelyard.control.robust_tube import Tube
from steelyard.dynamics.batch import numbers as split_numbers
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Robot

_NEEDS = {"armour": ("alpha", "largest_inertia"), "clamped": ("alpha",), "componentwise": ("kappa",)}


@dataclass(frozen=True, eq=False)
class RobustTracking(ModelLaw):
    r"""Passivity-based tracking with a robust torque, for every parameter in a box around the model.

    $$\tau = Y(q, v, v_a, a_a)\,\theta_0 + u(r), \qquad e = q_{ref} - q, \quad v_a = v_{ref} + K_r e, \quad
      a_a = a_{ref} + K_r \dot e, \quad r = v_a - v$$

    `passivity_terms` states Y and the disturbance that u has to bear, `robust_torque` the forms of u with the
    proof that $\tfrac12 r^T H r \le V_M$ is never left, `robust_tube` what that means for the errors.

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
