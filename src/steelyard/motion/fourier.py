r"""Finite Fourier series: smooth, periodic, with exact derivatives in time and in their coefficients.

Per joint, with $\omega = 2\pi/T$ (paper 003, (9b), with an offset),

$$q(t) = q_0 + \sum_{l=1}^{L} \frac{a_l}{\omega l}\sin(\omega l t) - \frac{b_l}{\omega l}\cos(\omega l t),$$

so that $a_l$ and $b_l$ are the amplitudes of the velocity's harmonics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError
from steelyard.motion.motion import MotionSample

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class FourierBasis:
    """The functions of time a Fourier motion is made of; columns: offset, a_1 … a_L, b_1 … b_L.

    The motion of joint j is `basis.q @ coefficients[j]`, and likewise for `v` and `a`. It is linear, so the
    rows are also the exact derivatives of position, velocity and acceleration in the coefficients.

    Attributes:
        q: of the position, shape (N, 2L + 1), dimensionless and s.
        v: of the velocity, shape (N, 2L + 1), 1/s and dimensionless.
        a: of the acceleration, shape (N, 2L + 1), 1/s² and 1/s.
    """

    q: Array
    v: Array
    a: Array


def fourier_basis(time: ArrayLike, period: float, harmonics: int) -> FourierBasis:
    """Evaluate the basis functions.

    Args:
        time: when, shape (N,), s.
        period: T, s.
        harmonics: L.

    Returns:
        The basis.
    """
    t = checked("time", time, ("N",))
    wl = 2.0 * math.pi / period * np.arange(1, harmonics + 1)
    s, c = np.sin(t[:, None] * wl), np.cos(t[:, None] * wl)
    one, zero = np.ones((len(t), 1)), np.zeros((len(t), 1))
    return FourierBasis(
        q=read_only(np.hstack((one, s / wl, -c / wl))),
        v=read_only(np.hstack((zero, c, s))),
        a=read_only(np.hstack((zero, -s * wl, c * wl))),
    )


@dataclass(frozen=True, eq=False)
class FourierMotion:
    """A finite Fourier series with offset for every joint.

    Attributes:
        joints: names of the nv joints.
        period: T, s; also its duration.
        offset: q_0, the mean position, shape (nv,), rad or m.
        sine: a_l, shape (nv, L), rad/s or m/s.
        cosine: b_l, shape (nv, L), rad/s or m/s.
        robot: digest of the robot it was made for; empty where none is known.
        schema: number of this layout.
    """

    joints: tuple[str, ...]
    period: float
    offset: Array
    sine: Array
    cosine: Array
    robot: str = ""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise InputError(
                f"layout {self.schema!r} is unknown; this version knows {SCHEMA}.", place="schema"
            )
        if not self.joints or len(set(self.joints)) != len(self.joints):
            raise InputError(
                f"joint names must be there and differ, got {list(self.joints)}.", place="joints"
            )
        if not (math.isfinite(self.period) and self.period > 0.0):
            raise InputError(f"must be positive and finite, got {self.period} s.", place="period")
        nv = len(self.joints)
        sine = checked("sine", self.sine, (nv, "L"))
        if sine.shape[1] == 0:
            raise InputError("a series needs at least one harmonic.", place="sine")
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "period", float(self.period))
        object.__setattr__(self, "offset", read_only(checked("offset", self.offset, (nv,))))
        object.__setattr__(self, "sine", read_only(sine))
        object.__setattr__(self, "cosine", read_only(checked("cosine", self.cosine, sine.shape)))

    @property
    def harmonics(self) -> int:
        """L, the number of harmonics."""
        return int(self.sine.shape[1])

    @property
    def duration(self) -> float:
        """One period, s."""
        return self.period

    @property
    def coefficients(self) -> Array:
        """q_0, a_1 … a_L, b_1 … b_L of every joint, shape (nv, 2L + 1), rad or m, and rad/s or m/s."""
        return np.hstack((self.offset[:, None], self.sine, self.cosine))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return digest(self)

    def basis(self, time: ArrayLike) -> FourierBasis:
        """The derivatives of the motion with respect to its coefficients.

        Args:
            time: when, shape (N,), s.

        Returns:
            The basis, in the column order of `coefficients`; the same for every joint.
        """
        return fourier_basis(time, self.period, self.harmonics)

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it; it repeats beyond its period.

        Args:
            time: when, shape (N,), s.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        basis, x = self.basis(time), self.coefficients.T
        return MotionSample(basis.q @ x, basis.v @ x, basis.a @ x)
