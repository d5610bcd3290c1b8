r"""What sits at the joint: friction, offset and rotor inertia, as torque at the joint's output.

The linear drive adds to the rigid-body torque

$$\tau_{drive} = F_v\,v + F_c\,\operatorname{sign}(v) + F_o + I_a\,a$$

with $\operatorname{sign}(0) = 0$. The rotor here is the plain armature: $I_a$ is the rotor's inertia times
the squared gear ratio, and its gyroscopic effect on the arm is not part of this model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class DriveTerm:
    """One number of a drive that enters the torque linearly.

    Attributes:
        name: the word used in options and parameter names.
        symbol: the letter used in equations.
        unit_revolute: its unit at a revolute joint.
        unit_prismatic: its unit at a prismatic joint.
        signed: whether negative values are physically possible.
    """

    name: str
    symbol: str
    unit_revolute: str
    unit_prismatic: str
    signed: bool


DRIVE_TERMS: tuple[DriveTerm, ...] = (
    DriveTerm("viscous", "Fv", "N·m·s/rad", "N·s/m", signed=False),
    DriveTerm("coulomb", "Fc", "N·m", "N", signed=False),
    DriveTerm("offset", "Fo", "N·m", "N", signed=True),
    DriveTerm("rotor", "Ia", "kg·m²", "kg", signed=False),
)
"""The order of the drive's columns in every regressor."""

_BY_NAME = {term.name: term for term in DRIVE_TERMS}


def drive_term(name: str) -> DriveTerm:
    """Look a term up by name.

    Args:
        name: `viscous`, `coulomb`, `offset` or `rotor`.

    Returns:
        The term.

    Raises:
        UnknownNameError: no such term; lists those that exist.
    """
    if name not in _BY_NAME:
        raise UnknownNameError("drive term", name, _BY_NAME)
    return _BY_NAME[name]


@dataclass(frozen=True)
class Drive:
    """The nominal numbers of one joint's drive; `None` where the description does not state one.

    Attributes:
        viscous: F_v, N·m·s/rad (prismatic: N·s/m).
        coulomb: F_c, N·m (N).
        offset: F_o, N·m (N).
        rotor: I_a at the joint's output, kg·m² (kg).
    """

    viscous: float | None = None
    coulomb: float | None = None
    offset: float | None = None
    rotor: float | None = None

    def __post_init__(self) -> None:
        for term in DRIVE_TERMS:
            value = self.value(term.name)
            if value is None:
                continue
            if not math.isfinite(value):
                raise InputError(f"must be finite, got {value}.", place=term.name)
            if value < 0 and not term.signed:
                raise InputError(
                    f"cannot be negative, got {value:g} {term.unit_revolute}.",
                    place=term.name,
                    remedy="A drive with negative friction or inertia would create energy.",
                )

    def value(self, term: str) -> float | None:
        """The nominal value of a term by name, `None` where unknown.

        Args:
            term: a name of `DRIVE_TERMS`.

        Returns:
            The value in the term's unit, or `None`.
        """
        value: float | None = getattr(self, drive_term(term).name)
        return value
