"""One joint as a first-order lag with dead time, and what it does to torques that are held in cycles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, ComplexArray, checked
from steelyard.control.controller import described_model, positive_number
from steelyard.dynamics import mass_matrix
from steelyard.robot import Robot

COMMAND_COLUMN = "command_"
"""How a log's extra column begins that holds what was commanded to the joint whose name follows, N·m or N."""


@dataclass(frozen=True)
class JointModel:
    r"""Velocity of a joint against its torque (Oaki et al. 2026, eq. (1)).

    $$G(s) = \frac{K}{1 + T s}\,e^{-s T_d}, \qquad M \dot v + D\,v = u(t - T_d), \quad
      M = T / K, \quad D = 1 / K$$

    Attributes:
        gain: K, rad/s per N·m or m/s per N.
        time_constant: T, s.
        dead_time: T_d, from the reading that a torque answers to its arrival at the joint, s. That the torque
            is then held for a cycle is no part of it; half a cycle comes on top where holding is counted as
            lateness, as Oaki et al. (2026) do.
    """

    gain: float
    time_constant: float
    dead_time: float = 0.0

    def __post_init__(self) -> None:
        positive_number("gain", self.gain, "rad/s per N·m")
        positive_number("time_constant", self.time_constant, "s")
        positive_number("dead_time", self.dead_time, "s", zero=True)

    @classmethod
    def of_inertia(cls, inertia: float, viscous: float, dead_time: float = 0.0) -> JointModel:
        """The joint with an inertia and a viscous friction.

        Args:
            inertia: M, kg·m² or kg.
            viscous: D, positive, N·m·s/rad or N·s/m.
            dead_time: T_d, s.
        """
        positive_number("viscous", viscous, "N·m·s/rad")
        return cls(1.0 / viscous, inertia / viscous, dead_time)

    @property
    def inertia(self) -> float:
        """M = T / K, kg·m² or kg."""
        return self.time_constant / self.gain

    @property
    def viscous(self) -> float:
        """D = 1 / K, N·m·s/rad or N·s/m."""
        return 1.0 / self.gain

    def frequency_response(self, frequency: ArrayLike) -> ComplexArray:
        """G(jω), from torque to velocity in continuous time.

        Args:
            frequency: ω, shape (n,), rad/s.

        Returns:
            Complex gains, shape (n,), rad/s per N·m or m/s per N.
        """
        s = 1j * checked("frequency", frequency, ("n",))
        return np.asarray(self.gain / (1.0 + self.time_constant * s) * np.exp(-s * self.dead_time))

    def sampled_response(self, frequency: ArrayLike, cycle: float) -> ComplexArray:
        """From commands, each held for a cycle, to the encoder's differences per cycle: exact, not a fit.

        Args:
            frequency: ω, below π over the cycle, shape (n,), rad/s.
            cycle: h, s.

        Returns:
            Complex gains, shape (n,), rad/s per N·m or m/s per N.
        """
        z = np.exp(1j * checked("frequency", frequency, ("n",)) * cycle)
        return np.asarray(self.gain * self.held_response(cycle).mean_velocity_at(z) / z)

    def held_response(self, cycle: float) -> HeldResponse:
        """Solve the lag over one cycle.

        Args:
            cycle: h, s.

        Returns:
            The coefficients.
        """
        h, T = positive_number("cycle", cycle, "s"), self.time_constant
        # A dead time that is a whole number of cycles but for rounding is one: both sides give the same
        # response.
        n = math.floor(self.dead_time / h)
        a = self.dead_time - n * h
        b = h - a
        E, e_b = math.exp(-h / T), math.exp(-b / T)
        rise, rise_b = -math.expm1(-h / T), -math.expm1(-b / T)
        return HeldResponse(
            n, E, rise_b, e_b - E, T * rise / h, (b - T * rise_b) / h, (a - T * (rise - rise_b)) / h
        )


@dataclass(frozen=True)
class HeldResponse:
    r"""How a lag of gain 1 answers torques $u_k$, each held from $t_k + T_d$ for a cycle h; closed form.

    With $T_d = (n + f)\,h$, n whole and $0 \le f < 1$, the torque changes once within a cycle, at $f h$:

    $$v_{k+1} = E\,v_k + s_1 u_{k-n-1} + s_0 u_{k-n}, \qquad
      \bar v_k = \frac1h \int_{t_k}^{t_{k+1}} v\,dt = \alpha\,v_k + \beta_1 u_{k-n-1} + \beta_0 u_{k-n}.$$

    The mean velocity is what the encoder's difference over the cycle shows; it has a continuous derivative in
    T_d, which the velocity at an instant has not.

    Attributes:
        lag: n.
        pole: E, dimensionless.
        velocity_new: s_0, dimensionless.
        velocity_old: s_1, dimensionless.
        mean_start: α, dimensionless.
        mean_new: β_0, dimensionless.
        mean_old: β_1, dimensionless.
    """

    lag: int
    pole: float
    velocity_new: float
    velocity_old: float
    mean_start: float
    mean_new: float
    mean_old: float

    def mean_velocity_at(self, z: ComplexArray) -> ComplexArray:
        """The transfer function from u_k to the mean velocity of the cycle that starts at t_k.

        Args:
            z: where, shape (n,), dimensionless.

        Returns:
            Values, shape (n,), dimensionless.
        """
        return np.asarray(np.polyval(self.numerator, z) / (z - self.pole) * z ** -(self.lag + 1))

    @property
    def numerator(self) -> Array:
        """Of the transfer function without its delay of n + 1 cycles, highest power first, shape (3,), SI."""
        start = self.mean_start * np.array([0.0, self.velocity_new, self.velocity_old])
        return np.asarray(start + np.convolve([self.mean_new, self.mean_old], [1.0, -self.pole]))


# How much a joint's inertia changes with the pose of the arm.


def inertia_range(robot: Robot, poses: ArrayLike) -> Array:
    r"""Least and most inertia that each joint shows at some poses, by the robot's description.

    What a joint's drive has to move is $1 / (M^{-1})_{jj}$ where all other joints give way, and $M_{jj}$
    where they are held; feedback on the others is between the two.

    Args:
        robot: the robot, with rotor inertias where they are known.
        poses: joint positions, shape (N, nv), rad or m.

    Returns:
        The least $1 / (M^{-1})_{jj}$ and the most $M_{jj}$ of each joint, shape (nv, 2), kg·m² or kg.

    Raises:
        DescriptionError: a link states no inertial.
    """
    robot.require_arm()
    layout, phi = described_model(robot)
    M = mass_matrix(robot, layout, phi, checked("poses", poses, ("N", robot.nv)))
    held = np.diagonal(M, axis1=1, axis2=2)
    # Equal for a joint that stands alone, where rounding must not put them out of order.
    free = np.minimum(1.0 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2), held)
    return np.stack([free.min(axis=0), held.max(axis=0)], axis=1)
