r"""The most that the robust part of a law adds to a joint's torque inside the tube.

A robust torque $\lambda r/\|r\|$ with $\lambda \le |r|^T w/\|r\|$ gives joint j at most $(\|w\| + w_j)/2$:
over unit vectors the greatest $u_j\,(u^T w)$ is the greater eigenvalue of the symmetric part of $e_j w^T$. A
torque $\kappa r_j + w_j \operatorname{sat}(r_j/\delta)$ is at most $w_j + \kappa\epsilon$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control import FORMS, robust_radius
from steelyard.errors import InputError, UnknownNameError

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
