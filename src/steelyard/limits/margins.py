r"""The one definition of safe: every limit as a signed margin that must not be negative.

A limit with two sides has two margins, $x - lower$ and $upper - x$, both smooth in x; for a symmetric limit
the smaller one is $limit - |x|$. A limit that is not stated has an infinite margin, which nothing can change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only, read_only_view
from steelyard.dynamics import Gradient, inverse_dynamics, regressor_adjoint
from steelyard.dynamics.batch import gathered, states
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout
from steelyard.limits.bounds import Bounds, bounds_of
from steelyard.limits.clearance import Clearance
from steelyard.robot import Robot


@dataclass(frozen=True, eq=False)
class Margins:
    """One number for every limit at every sample: margins, or weights on them. Arrays are read-only.

    J counts the degrees of freedom of `robot.untied`; the last axis holds the lower and the upper side. What
    is not checked has no entries.

    Attributes:
        position: shape (N, J, 2), rad or m.
        velocity: shape (N, J, 2), rad/s or m/s.
        acceleration: shape (N, J, 2), rad/s² or m/s².
        torque: shape (N, nv, 2) or (N, 0, 2), N·m or N.
        clearance: signed distances less the one required, shape (N, P), m.
    """

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    clearance: Array

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "acceleration", "torque", "clearance"):
            object.__setattr__(self, name, read_only_view(getattr(self, name)))

    @property
    def smallest(self) -> float:
        """The smallest of all, whatever its unit; infinite where nothing is limited."""
        every = (self.position, self.velocity, self.acceleration, self.torque, self.clearance)
        return min(float(margins.min(initial=np.inf)) for margins in every)


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Everything a motion of a robot must respect.

    Attributes:
        robot: the robot, whose joints state their limits.
        clearance: what must stay apart; None where that is not checked.
        layout: the order of `parameters`; None where torques are not checked.
        parameters: phi, the dynamic model that predicts the torques, shape (p,), SI; None with `layout`.
        distance: how far apart every pair of the clearance must stay, m.
    """

    robot: Robot
    clearance: Clearance | None = None
    layout: Layout | None = None
    parameters: Array | None = None
    distance: float = 0.0

    def __post_init__(self) -> None:
        if (self.layout is None) != (self.parameters is None):
            raise InputError("torques need both a layout and parameters.", place="layout, parameters")
        if not np.isfinite(self.distance):
            raise InputError(f"must be finite, got {self.distance}.", place="distance")
        if self.clearance is not None and self.clearance.robot is not self.robot:
            raise InputError(
                f"belongs to another robot, '{self.clearance.robot.name}'.",
                place="clearance",
                remedy="Make it with clearance_of(robot).",
            )
        if self.layout is not None and self.parameters is not None:
            phi = checked("parameters", self.parameters, (self.layout.size,))
            object.__setattr__(self, "parameters", read_only(phi))

    @cached_property
    def bounds(self) -> Bounds:
        """The limits of the joints."""
        return bounds_of(self.robot)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is not checked, and why."""
        missing = []
        if self.layout is None and np.isfinite(self.bounds.effort).any():
            missing.append(Finding(Severity.WARNING, "unchecked-torque", "no model predicts the torques."))
        if self.clearance is None:
            missing.append(Finding(Severity.WARNING, "unchecked-clearance", "no clearance is checked."))
        own = () if self.clearance is None else self.clearance.findings
        return (*self.bounds.findings, *missing, *own)

    def margins(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Margins:
        """How far a motion stays from every limit.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            The margins; negative where a limit is broken.
        """
        x, u, w = states(self.robot, q=q, v=v, a=a)
        b = self.bounds
        position = np.where(b.coordinates >= 0, x[:, b.coordinates], 0.0)
        torque = np.empty((len(x), 0, 2))
        if self.layout is not None and self.parameters is not None:
            tau = inverse_dynamics(self.robot, self.layout, self.parameters, q, v, a)
            torque = _two_sided(tau, -b.effort, b.effort)
        clearance = np.empty((len(x), 0))
        if self.clearance is not None:
            clearance = self.clearance.distances(q) - self.distance
        return Margins(
            _two_sided(position, b.lower, b.upper),
            _two_sided(u, -b.velocity, b.velocity),
            _two_sided(w, -b.acceleration, b.acceleration),
            torque,
            clearance,
        )

    def adjoint(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, weights: Margins) -> Gradient:
        r"""Gradient of $\sum w \cdot margin$ over all limits in the motion at each sample.

        With $w = \partial f / \partial margin$ it is the gradient of any function f of the margins. Infinite
        margins have none, whatever their weight. Coulomb friction counts with sign(v), whose derivative is
        zero wherever it exists.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².
            weights: w, one for every margin.

        Returns:
            The gradient; along the body's twist where a joint floats or is spherical.
        """
        samples = len(states(self.robot, q=q)[0])
        b = self.bounds
        bars = [
            gathered(self.robot, _net_weight(name, getattr(weights, name), lower, upper, samples))
            for name, lower, upper in (
                ("position", b.lower, b.upper),
                ("velocity", -b.velocity, b.velocity),
                ("acceleration", -b.acceleration, b.acceleration),
            )
        ]
        if self.layout is not None and self.parameters is not None:
            pull = _net_weight("torque", weights.torque, -b.effort, b.effort, samples)
            G = pull[:, :, None] * self.parameters
            through = regressor_adjoint(self.robot, self.layout, G, q, v, a)
            bars = [bar + part for bar, part in zip(bars, (through.q, through.v, through.a), strict=True)]
        if self.clearance is not None:
            bars[0] = bars[0] + self.clearance.adjoint(q, weights.clearance)
        return Gradient(*bars)


def _two_sided(x: Array, lower: Array, upper: Array) -> Array:
    return np.stack([x - lower, upper - x], axis=-1)


def _net_weight(name: str, weights: Array, lower: Array, upper: Array, samples: int) -> Array:
    """Weight on x itself, (N, J): the lower side grows with it, the upper one shrinks."""
    w = checked(f"weights.{name}", weights, (samples, len(lower), 2))
    below = np.where(np.isfinite(lower), w[..., 0], 0.0)
    above = np.where(np.isfinite(upper), w[..., 1], 0.0)
    return np.ascontiguousarray(below - above)
