"""The terms of a drive: their words, letters and units."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.errors import UnknownNameError


@dataclass(frozen=True)
class DriveTerm:
    """One number of a drive that enters the torque linearly.

    Attributes:
        name: the word used in options and parameter names.
        symbol: the letter used in equations.
        unit_revolute: its unit at a revolute joint.
        unit_prismatic: its unit at a prismatic joint.
        signed: whether negative values are physically possible.
        below: what it must stay below: friction per load of 1 locks a gear, in its unit.
    """

    name: str
    symbol: str
    unit_revolute: str
    unit_prismatic: str
    signed: bool
    below: float = math.inf


DRIVE_TERMS: tuple[DriveTerm, ...] = (
    DriveTerm("viscous", "Fv", "N·m·s/rad", "N·s/m", signed=False),
    DriveTerm("coulomb", "Fc", "N·m", "N", signed=False),
    DriveTerm("offset", "Fo", "N·m", "N", signed=True),
    DriveTerm("rotor", "Ia", "kg·m²", "kg", signed=False),
)
"""The terms of the linear drive, in the order of their columns in every regressor."""

FRICTION_TERMS: tuple[DriveTerm, ...] = (
    DriveTerm("stribeck", "Fs", "N·m", "N", signed=False),
    DriveTerm("asymmetric", "Fa", "N·m·s/rad", "N·s/m", signed=True),
    DriveTerm("load", "Fl", "dimensionless", "dimensionless", signed=False, below=1.0),
)
"""The terms of friction beyond the linear drive; their columns follow those of `DRIVE_TERMS`."""

ALL_TERMS = DRIVE_TERMS + FRICTION_TERMS
"""Every term, in the order of the columns."""

_BY_NAME = {term.name: term for term in ALL_TERMS}


def drive_term(name: str) -> DriveTerm:
    """Look a term up by name.

    Args:
        name: `viscous`, `coulomb`, `offset`, `rotor`, `stribeck`, `asymmetric` or `load`.

    Returns:
        The term.

    Raises:
        UnknownNameError: no such term; lists those that exist.
    """
    if name not in _BY_NAME:
        raise UnknownNameError("drive term", name, _BY_NAME)
    return _BY_NAME[name]
