"""What has been proven of a plan under a robust law, and what the proof rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked
from steelyard.control import FORMS, Tube, robust_radius
from steelyard.errors import InputError, UnknownNameError
from steelyard.limits import Certificate

# The most that the robust part of a law adds to a joint's torque inside the tube.
#
# A robust torque $\lambda r/\|r\|$ with $\lambda \le |r|^T w/\|r\|$ gives joint j at most $(\|w\| + w_j)/2$:
# over unit vectors the greatest $u_j\,(u^T w)$ is the greater eigenvalue of the symmetric part of $e_j w^T$.
# A torque $\kappa r_j + w_j \operatorname{sat}(r_j/\delta)$ is at most $w_j + \kappa\epsilon$.

_OUTWARD = 1.0 + 1e-12


@dataclass(frozen=True)
class RobustLaw:
    r"""What a certificate needs to know of a robust law.

    Attributes:
        form: one of `FORMS`.
        reserve: what the bound adds to the part of the disturbance: $\tfrac12\alpha\epsilon(\sigma_M -
            \sigma_m)$ for `armour`, 0 for `clamped`, $\kappa\epsilon$ for `componentwise`; N·m or N.
        rest_velocity: v_0; the law compensates Coulomb friction by $F_c \operatorname{sat}(\dot q_a/v_0)$,
            rad/s or m/s.
    """

    form: str = "clamped"
    reserve: float = 0.0
    rest_velocity: float = 0.0

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownNameError("form", self.form, FORMS, place="form")
        for name in ("reserve", "rest_velocity"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise InputError(f"must be zero or more and finite, got {value}.", place=name)

    def torque_bound(self, disturbance: ArrayLike) -> Array:
        """What the robust torque of no joint exceeds inside the tube.

        Args:
            disturbance: w, the most that parameter errors of the box can cause, zero or more, shape
                (..., nv), N·m or N.

        Returns:
            The bound, rounded up; it grows with every entry of w, shape (..., nv), N·m or N.

        Raises:
            InputError: a disturbance is negative or no number.
        """
        w = checked("disturbance", disturbance, ("...", "nv"), finite=False)
        if not (w >= 0.0).all():
            raise InputError("must be zero or more.", place="disturbance")
        rows = np.ascontiguousarray(w).reshape(-1, w.shape[-1])
        bound = np.empty(rows.shape)
        # The controller clips to the same function, so what is certified is what is commanded.
        for row, most in zip(rows, bound, strict=True):
            robust_radius(FORMS.index(self.form), self.reserve, row, most)
        return np.asarray(_OUTWARD * bound.reshape(w.shape))


SCHEMA = 1


@dataclass(frozen=True, eq=False)
class PlanCertificate:
    """The proof that a robot in its tube keeps every limit, for all parameters of a box.

    A certificate whose torques leave their limits cannot be made. Arrays are read-only.

    Attributes:
        motion: the proof for positions, velocities and clearance in the tube, and for the plan's own
            accelerations.
        edges: where the K stretches of the torque's proof meet, from 0 to the duration, shape (K + 1,), s.
        lower: what the nominal torque is nowhere below, shape (K, nv), N·m or N.
        upper: what it is nowhere above, shape (K, nv), N·m or N.
        disturbance: w, what parameters of the box cause at most, shape (K, nv), N·m or N.
        robust: what the robust torque exceeds nowhere, shape (K, nv), N·m or N.
        effort: the torque limits, infinite where none is stated, shape (nv,), N·m or N.
        joints: names of the nv joints.
        parameters: names of the p parameters.
        nominal: what the law computes with, shape (p,), SI.
        half_widths: by how much each may differ, shape (p,), SI.
        tube: the errors that are allowed.
        law: the robust law.
        schema: number of this layout.
    """

    motion: Certificate
    edges: Array
    lower: Array
    upper: Array
    disturbance: Array
    robust: Array
    effort: Array
    joints: tuple[str, ...]
    parameters: tuple[str, ...]
    nominal: Array
    half_widths: Array
    tube: Tube
    law: RobustLaw
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise InputError(f"is {self.schema}, known: {SCHEMA}.", place="schema")
        n, p = len(self.joints), len(self.parameters)
        edges = checked("edges", self.edges, ("K",))
        if (
            len(edges) < 2
            or edges[0] != 0.0
            or edges[-1] != self.motion.duration
            or (np.diff(edges) <= 0.0).any()
        ):
            raise InputError(f"must increase from 0 to {self.motion.duration} s.", place="edges")
        keep_checked(self, (len(edges) - 1, n), "lower", "upper", "disturbance", "robust")
        keep_checked(self, edges.shape, "edges")
        keep_checked(self, (p,), "nominal", "half_widths")
        keep_checked(self, (n,), "effort", finite=False)
        # Written so that NaN is refused too.
        if not (self.torque_margins >= 0.0).all():
            raise InputError("a torque leaves its limit: this proves nothing.", place="lower, upper, robust")

    @property
    def torque_margins(self) -> Array:
        """What is left of each joint's torque limit at least, rounded down, shape (nv,), N·m or N."""
        most = np.maximum(-self.lower, self.upper) + self.robust
        margins: Array = np.nextafter(self.effort - np.nextafter(most, np.inf).max(axis=0), -np.inf)
        return margins
