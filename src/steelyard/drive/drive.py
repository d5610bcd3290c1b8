"""What drives a joint: the terms of friction, offset and rotor inertia, and their nominal numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import InputError, UnknownNameError

# The terms of a drive: their words, letters and units.


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

    Raises:
        UnknownNameError: no such term; lists those that exist.
    """
    if name not in _BY_NAME:
        raise UnknownNameError("drive term", name, _BY_NAME)
    return _BY_NAME[name]


# The two numbers in which Stribeck friction is not linear.


@dataclass(frozen=True)
class StribeckShape:
    r"""How static friction fades with speed: $e^{-(|v|/v_s)^\delta}$.

    With $\delta = 1$ it is Tustin's exponential, with $\delta = 2$ the Gaussian. A smaller exponent fades
    faster below v_s and slower above.

    Attributes:
        velocity: v_s, speed at which 1/e of the excess is left, rad/s or m/s.
        exponent: δ, dimensionless.
    """

    velocity: float
    exponent: float

    def __post_init__(self) -> None:
        for name, value, unit in (
            ("velocity", self.velocity, " rad/s or m/s"),
            ("exponent", self.exponent, ""),
        ):
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"must be positive and finite, got {value}{unit}.", place=f"Stribeck {name}")


# The nominal numbers of one joint's drive.


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


# The columns of friction beyond the linear drive, and their slopes.
#
# The sign is the true one, with $\operatorname{sign}(0) = 0$; no smooth stand-in is offered. Its width would
# be one more number that no log determines, and it would bend the torque just where Stribeck friction is told
# from Coulomb's. At $v = 0$, where the columns jump or have a kink, every slope counts as zero, as the sign's
# does.

_NOTHING_LEFT = 800.0  # e to the minus this is zero; without a bound z e^-z could be inf * 0


def stribeck_column(v: ArrayLike, velocity: Array, exponent: Array) -> Array:
    r"""The column of F_s: $\operatorname{sign}(v)\,e^{-(|v|/v_s)^\delta}$.

    Args:
        v: velocities, shape (..., n), rad/s or m/s.
        velocity: v_s, shape (n,), rad/s or m/s.
        exponent: δ, shape (n,), dimensionless.

    Returns:
        The column, shape (..., n), dimensionless.
    """
    v = checked("v", v, ("...", "n"))
    return np.asarray(np.sign(v) * np.exp(-_faded(v, velocity, exponent)))


def stribeck_velocity_slope(v: ArrayLike, velocity: Array, exponent: Array) -> Array:
    r"""Derivative of the Stribeck column in v: $-\delta\,(z/|v|)\,e^{-z}$, $z = (|v|/v_s)^\delta$; 0 at rest.

    Args:
        v: velocities, shape (..., n), rad/s or m/s.
        velocity: v_s, shape (n,), rad/s or m/s.
        exponent: δ, shape (n,), dimensionless.

    Returns:
        The derivative, shape (..., n), s/rad or s/m.
    """
    v = checked("v", v, ("...", "n"))
    z = _faded(v, velocity, exponent)
    speed = np.where(v == 0.0, 1.0, np.abs(v))
    return np.asarray(np.where(v == 0.0, 0.0, -exponent * z / speed * np.exp(-z)))


def stribeck_shape_slopes(v: ArrayLike, velocity: Array, exponent: Array) -> tuple[Array, Array]:
    r"""Derivatives of the Stribeck column in its shape, for estimators that search over it.

    $$\frac{\partial}{\partial v_s} = \operatorname{sign}(v)\,\frac{\delta z}{v_s}\,e^{-z}, \qquad
      \frac{\partial}{\partial \delta} = -\operatorname{sign}(v)\,z \ln\frac{|v|}{v_s}\,e^{-z}, \qquad
      z = (|v|/v_s)^\delta$$

    Args:
        v: velocities, shape (..., n), rad/s or m/s.
        velocity: v_s, shape (n,), rad/s or m/s.
        exponent: δ, shape (n,), dimensionless.

    Returns:
        Derivatives in v_s, shape (..., n), s/rad or s/m; and in δ, shape (..., n), dimensionless.
    """
    v = checked("v", v, ("...", "n"))
    z = _faded(v, velocity, exponent)
    weight = np.sign(v) * z * np.exp(-z)
    speed = np.where(v == 0.0, velocity, np.abs(v))
    return np.asarray(weight * exponent / velocity), np.asarray(-weight * np.log(speed / velocity))


def asymmetric_column(v: ArrayLike) -> Array:
    """The column of F_a: |v|.

    It is independent of the columns v and sign(v) as soon as a joint moves both ways. The Coulomb level that
    differs by direction is the offset, see `Drive`.

    Args:
        v: velocities, shape (..., n), rad/s or m/s.

    Returns:
        The column, shape (..., n), rad/s or m/s.
    """
    return np.abs(checked("v", v, ("...", "n")))


def load_column(rigid: ArrayLike, v: ArrayLike) -> Array:
    r"""The column of F_l at a given load: $|\tau_{rigid}|\,\operatorname{sign}(v)$.

    The load itself depends on the parameters, so torque is bilinear in F_l and them; at a load that is held
    fixed it is linear.

    Args:
        rigid: rigid-body torques, shape (..., n), N·m or N.
        v: velocities, shape (..., n), rad/s or m/s.

    Returns:
        The column, shape (..., n), N·m or N.
    """
    load, v = checked("rigid", rigid, ("...", "n")), checked("v", v, ("...", "n"))
    return np.asarray(np.abs(load) * np.sign(v))


def _faded(v: Array, velocity: Array, exponent: Array) -> Array:
    """(|v| / v_s)^δ, held where nothing of the friction is left."""
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum((np.abs(v) / velocity) ** exponent, _NOTHING_LEFT))
