"""Which robust law is used, as far as it does not follow from robot and load."""

from __future__ import annotations

from dataclasses import dataclass

ALPHA, KAPPA, REST = 1.0, 50.0, 0.02
"""α in 1/s, κ in N·m·s/rad and v_0 in rad/s where none is asked for."""


@dataclass(frozen=True)
class LawChoice:
    """The robust law.

    Attributes:
        form: one of `control.FORMS`.
        alpha: α of armour and clamped, 1/s.
        kappa: κ of componentwise, N·m·s/rad or N·s/m.
        rest_velocity: v_0 below which friction is compensated in part, rad/s or m/s.
    """

    form: str = "clamped"
    alpha: float = ALPHA
    kappa: float = KAPPA
    rest_velocity: float = REST
