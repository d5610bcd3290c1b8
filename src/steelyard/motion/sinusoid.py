r"""Sinusoids, a frequency of its own for each joint (paper 001, (4.25)).

$$q_j(t) = \bar q_j + A_j \sin(\omega_j t + \varphi_j)$$

They start and end at speed.
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
from steelyard.motion.fields import check_order, check_schema, checked_joints, checked_seconds
from steelyard.motion.fourier import BREAKS_PER_PERIOD
from steelyard.motion.motion import MotionSample

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class SinusoidMotion:
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
        object.__setattr__(self, "joints", checked_joints(self.joints))
        object.__setattr__(self, "duration", checked_seconds("duration", self.duration))
        for name in ("centre", "amplitude", "frequency", "phase"):
            values = checked(name, getattr(self, name), (len(self.joints),))
            object.__setattr__(self, name, read_only(values))
        if (self.frequency < 0.0).any():
            raise InputError(f"must be zero or more, got {self.frequency.min()} rad/s.", place="frequency")

    @property
    def breaks(self) -> Array:
        """Equal parts, 16 in the shortest period, shape (K + 1,), s."""
        periods = float(self.frequency.max()) * self.duration / (2.0 * math.pi)
        return np.linspace(0.0, self.duration, math.ceil(BREAKS_PER_PERIOD * periods) + 2)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return digest(self)

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

    def sample(self, time: ArrayLike) -> MotionSample:
        """Evaluate it.

        Args:
            time: when, shape (N,), s.

        Returns:
            Position, velocity and acceleration, each shape (N, nv), SI.
        """
        return MotionSample(*(self.derivative(time, order) for order in range(3)))
