"""Finite Fourier series and sinusoids: smooth, periodic, with exact derivatives in time and coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.budget import NUMBER, require_memory
from steelyard.errors import InputError
from steelyard.motion.motion import (
    Basis,
    MotionFamily,
    MotionSample,
    check_order,
    check_schema,
    checked_motion_joints,
    checked_seconds,
)

# Finite Fourier series: smooth, periodic, with exact derivatives in time and in their coefficients.
#
# Per joint, with $\omega = 2\pi/T$ (Tian et al. 2024, eq. (9b), with an offset),
#
# $$q(t) = q_0 + \sum_{l=1}^{L} \frac{a_l}{\omega l}\sin(\omega l t) - \frac{b_l}{\omega l}\cos(\omega l t),$$
#
# so that $a_l$ and $b_l$ are the amplitudes of the velocity's harmonics.

SCHEMA = 1
BREAKS_PER_PERIOD = 16
"""Pieces in a period of the fastest harmonic: a Taylor polynomial of degree 9 is then off by about 1e-14."""


def fourier_basis(time: ArrayLike, period: float, harmonics: int) -> Basis:
    """Evaluate the basis functions; columns: offset, a_1 … a_L, b_1 … b_L.

    Args:
        time: when, shape (N,), s.
        period: T, s.
        harmonics: L.
    """
    return Basis(*_derivative_columns(time, period, harmonics, range(4)))


def _derivative_columns(
    time: ArrayLike, period: float, harmonics: int, orders: Iterable[int]
) -> Iterator[Array]:
    """The basis functions differentiated so many times, each (N, 2L + 1)."""
    t = checked("time", time, ("N",))
    require_memory(
        8 * NUMBER * len(t) * harmonics,
        f"a motion of {harmonics} harmonics at {len(t)} times",
        place="motion",
        remedy="Use fewer harmonics, or a lower rate.",
    )
    wl = 2.0 * math.pi / period * np.arange(1, harmonics + 1)
    s, c = np.sin(t[:, None] * wl), np.cos(t[:, None] * wl)
    for order in orders:
        check_order(order)
        first, second = ((s, -c), (c, s), (-s, c), (-c, -s))[order % 4]
        if order == 0:
            yield np.hstack((np.ones((len(t), 1)), first / wl, second / wl))
        else:
            rate = wl ** (order - 1)
            yield np.hstack((np.zeros((len(t), 1)), first * rate, second * rate))


@dataclass(frozen=True, eq=False)
class FourierMotion(MotionFamily):
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
        check_schema(self.schema, SCHEMA)
        object.__setattr__(self, "joints", checked_motion_joints(self.joints))
        object.__setattr__(self, "period", checked_seconds("period", self.period))
        nv = len(self.joints)
        sine = checked("sine", self.sine, (nv, "L"))
        if sine.shape[1] == 0:
            raise InputError("a series needs at least one harmonic.", place="sine")
        keep_checked(self, (nv,), "offset")
        object.__setattr__(self, "sine", read_only(sine))
        keep_checked(self, sine.shape, "cosine")

    @property
    def harmonics(self) -> int:
        """L, the number of harmonics."""
        return int(self.sine.shape[1])

    @property
    def duration(self) -> float:
        """One period, s."""
        return self.period

    @property
    def periodic(self) -> bool:
        """Always: a series ends as it starts."""
        return True

    @property
    def coefficients(self) -> Array:
        """q_0, a_1 … a_L, b_1 … b_L of every joint, shape (nv, 2L + 1), rad or m, and rad/s or m/s."""
        return np.hstack((self.offset[:, None], self.sine, self.cosine))

    @property
    def breaks(self) -> Array:
        """Equal parts of the period, shape (16 L + 1,), s."""
        return np.linspace(0.0, self.period, BREAKS_PER_PERIOD * self.harmonics + 1)

    def with_coefficients(self, coefficients: ArrayLike) -> FourierMotion:
        """The same period with other coefficients.

        Args:
            coefficients: q_0, a_1 … a_L, b_1 … b_L of every joint, shape (nv, 2L + 1), SI.
        """
        L = self.harmonics
        x = checked("coefficients", coefficients, (len(self.joints), 2 * L + 1))
        return replace(self, offset=x[:, 0], sine=x[:, 1 : L + 1], cosine=x[:, L + 1 :])

    def basis(self, time: ArrayLike) -> Basis:
        """The derivatives of the motion with respect to its coefficients.

        Args:
            time: when, shape (N,), s.

        Returns:
            The basis, in the column order of `coefficients`; the same for every joint.
        """
        return fourier_basis(time, self.period, self.harmonics)

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time; it repeats beyond its period.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        (columns,) = _derivative_columns(time, self.period, self.harmonics, (order,))
        return columns @ self.coefficients.T

    def derivative_bounds(self, order: int) -> Array:
        r"""The sum of the harmonics' amplitudes, $\sum_l (\omega l)^{n-1}\sqrt{a_l^2 + b_l^2}$.

        Args:
            order: n.

        Returns:
            The bound, the same for every piece, shape (16 L, nv), rad or m over the order's power of s.
        """
        check_order(order)
        wl = 2.0 * math.pi / self.period * np.arange(1, self.harmonics + 1)
        bound = np.hypot(self.sine, self.cosine) @ wl ** (order - 1.0)
        if order == 0:
            bound += np.abs(self.offset)
        return np.broadcast_to(bound, (len(self.breaks) - 1, len(bound)))

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it; it repeats beyond its period.

        Args:
            time: when, shape (N,), s.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        columns = _derivative_columns(time, self.period, self.harmonics, range(3))
        return MotionSample(*(each @ self.coefficients.T for each in columns))


# Sinusoids, a frequency of its own for each joint (Lambert 2023, eq. (4.25)).
#
# $$q_j(t) = \bar q_j + A_j \sin(\omega_j t + \varphi_j)$$
#
# They start and end at speed.


@dataclass(frozen=True, eq=False)
class SinusoidMotion(MotionFamily):
    """One sinusoid for every joint; it goes on beyond its duration.

    Attributes:
        joints: names of the nv joints.
        duration: how long it lasts, s.
        centre: mean positions, shape (nv,), rad or m.
        amplitude: A_j, of either sign, shape (nv,), rad or m.
        frequency: angular frequencies ω_j, zero or more, shape (nv,), rad/s.
        phase: φ_j, shape (nv,), rad.
        robot: digest of the robot it was made for; empty where none is known.
        schema: number of this layout.
    """

    joints: tuple[str, ...]
    duration: float
    centre: Array
    amplitude: Array
    frequency: Array
    phase: Array
    robot: str = ""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        check_schema(self.schema, SCHEMA)
        object.__setattr__(self, "joints", checked_motion_joints(self.joints))
        object.__setattr__(self, "duration", checked_seconds("duration", self.duration))
        keep_checked(self, (len(self.joints),), "centre", "amplitude", "frequency", "phase")
        if (self.frequency < 0.0).any():
            raise InputError(f"must be zero or more, got {self.frequency.min()} rad/s.", place="frequency")

    @property
    def breaks(self) -> Array:
        """Equal parts, 16 in the shortest period, shape (K + 1,), s."""
        periods = float(self.frequency.max()) * self.duration / (2.0 * math.pi)
        return np.linspace(0.0, self.duration, math.ceil(BREAKS_PER_PERIOD * periods) + 2)

    def derivative(self, time: ArrayLike, order: int) -> Array:
        """A derivative of the position in time.

        Args:
            time: when, shape (N,), s.
            order: 0 for the position, 1 for the velocity, 3 for the jerk, and so on.

        Returns:
            The derivative, shape (N, nv), rad or m over the order's power of s.
        """
        check_order(order)
        w = self.frequency
        angle = checked("time", time, ("N",))[:, None] * w + self.phase
        turned = (np.sin(angle), np.cos(angle), -np.sin(angle), -np.cos(angle))[order % 4]
        swing = self.amplitude * w**order * turned
        return self.centre + swing if order == 0 else swing

    def derivative_bounds(self, order: int) -> Array:
        r"""The amplitude $|A_j|\,\omega_j^n$, from zero for a position.

        Args:
            order: n.

        Returns:
            The bound, the same for every piece, shape (K, nv), rad or m over the order's power of s.
        """
        check_order(order)
        bound = np.abs(self.amplitude) * self.frequency**order
        if order == 0:
            bound += np.abs(self.centre)
        return np.broadcast_to(bound, (len(self.breaks) - 1, len(bound)))
