"""The nominal numbers of one joint's drive."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.drive.shape import StribeckShape
from steelyard.drive.term import ALL_TERMS, DriveTerm, drive_term
from steelyard.errors import InputError


@dataclass(frozen=True)
class Drive:
    r"""The nominal numbers of one joint's drive; `None` where the description does not state one.

    Viscous friction that differs by direction is $F_v\,v + F_a\,|v|$: its slope is $F_v + F_a$ forwards and
    $F_v - F_a$ backwards. Coulomb friction that differs needs no number of its own: the levels $F_c^+$ and
    $F_c^-$ are $F_c = (F_c^+ + F_c^-)/2$ with $F_o = (F_c^+ - F_c^-)/2$, because the columns
    $|\operatorname{sign}(v)|$ and 1 differ at rest alone, where no log could tell them apart. So friction
    that is asymmetric in every way is `offset` and `asymmetric` together.

    Attributes:
        viscous: F_v, N·m·s/rad (prismatic: N·s/m).
        coulomb: F_c, N·m (N).
        offset: F_o, N·m (N).
        rotor: I_a at the joint's output, kg·m² (kg).
        stribeck: F_s, static friction less Coulomb's, N·m (N).
        asymmetric: F_a, half the difference of the viscous slopes by direction, at most F_v in size,
            N·m·s/rad (N·s/m).
        load: F_l, friction per torque that the gear carries, less than 1, dimensionless.
        stribeck_shape: over which speeds F_s fades; needed where it is not zero.
    """

    viscous: float | None = None
    coulomb: float | None = None
    offset: float | None = None
    rotor: float | None = None
    stribeck: float | None = None
    asymmetric: float | None = None
    load: float | None = None
    stribeck_shape: StribeckShape | None = None

    def __post_init__(self) -> None:
        for term in ALL_TERMS:
            value = self.value(term.name)
            if value is not None:
                _check(term, value)
        if self.stribeck and self.stribeck_shape is None:
            raise InputError(
                f"is {self.stribeck:g} N·m, but no shape says over which speeds it fades.",
                place="stribeck",
                remedy="State its shape: a velocity and an exponent.",
            )
        if abs(self.asymmetric or 0.0) > (self.viscous or 0.0):
            raise InputError(
                f"of {self.asymmetric:g} exceeds the viscous friction of {self.viscous or 0.0:g}, so in one "
                "direction friction would create energy.",
                place="asymmetric",
                remedy="It is half the difference of the slopes, viscous is their mean.",
            )
        if (self.load or 0.0) >= 1.0:
            raise InputError(
                f"must be less than 1, got {self.load:g}.",
                place="load",
                remedy="At 1 the gear locks itself, and torques no longer determine the motion.",
            )

    def value(self, term: str) -> float | None:
        """The nominal value of a term by name, `None` where unknown.

        Args:
            term: a name of `ALL_TERMS`.

        Returns:
            The value in the term's unit, or `None`.
        """
        value: float | None = getattr(self, drive_term(term).name)
        return value


def _check(term: DriveTerm, value: float) -> None:
    if not math.isfinite(value):
        raise InputError(f"must be finite, got {value}.", place=term.name)
    if value < 0 and not term.signed:
        raise InputError(
            f"cannot be negative, got {value:g} {term.unit_revolute}.",
            place=term.name,
            remedy="A drive with negative friction or inertia would create energy.",
        )
