r"""The columns of friction beyond the linear drive, and their slopes.

The sign is the true one, with $\operatorname{sign}(0) = 0$; no smooth stand-in is offered. Its width would be
one more number that no log determines, and it would bend the torque just where Stribeck friction is told from
Coulomb's. At $v = 0$, where the columns jump or have a kink, every slope counts as zero, as the sign's does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked

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
