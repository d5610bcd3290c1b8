r"""What measured torques say of the body a tool holds: their equations in its ten numbers and in nuisances.

Each torque, over the standard deviation of its noise, is one equation

$$\tau = Y_L(q, v, a)\,T(X_{LT})\,\varphi_T + N\eta + \varepsilon, \qquad \varepsilon \sim (0, 1),$$

with the ten numbers $\varphi_T$ of the body in the tool frame T, moved to the link L that carries it, and the
nuisances $\eta$: drive terms of every joint that are not known while the body is held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import compress
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import change_of_frame
from steelyard.layout import layout_of
from steelyard.motion import MotionSample
from steelyard.robot import Robot

DEPENDENT = 1e-10
"""Share of the largest singular value of the nuisances' unit columns below which they repeat each other."""


@dataclass(frozen=True, eq=False)
class TorqueMeter:
    """How torques are measured. The array is read-only.

    Attributes:
        noise: standard deviation of each joint's torque noise, independent from sample to sample, shape
            (nv,), N·m or N. Noise that lasts n samples counts as √n times as large.
        rate: samples per second, Hz.
        unknown: drive terms of every joint that are not known while the body is held: `offset`, `viscous`,
            `coulomb`, `rotor`.
    """

    noise: Array
    rate: float = 1000.0
    unknown: tuple[str, ...] = ("offset",)

    def __post_init__(self) -> None:
        noise = checked("noise", self.noise, ("nv",))
        if not (noise > 0.0).all():
            raise InputError(f"must be positive, got {noise.min():g}.", place="noise")
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise InputError(f"must be positive and finite, got {self.rate}.", place="rate")
        terms = tuple(term.name for term in DRIVE_TERMS)
        for name in self.unknown:
            if name not in terms:
                raise UnknownNameError("drive term", name, terms, place="unknown")
        object.__setattr__(self, "noise", read_only(noise))
        object.__setattr__(self, "unknown", tuple(self.unknown))


@dataclass(frozen=True, eq=False)
class PayloadEquations:
    """Torque equations over their noise, or as many rows with the same Gram matrix. Arrays are read-only.

    Attributes:
        payload: columns of the ten numbers in the tool frame, shape (M, 10), SI.
        nuisance: columns of the unknown drive terms, shape (M, n), SI.
    """

    payload: Array
    nuisance: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "payload", read_only(self.payload))
        object.__setattr__(self, "nuisance", read_only(self.nuisance))

    def unconfounded(self) -> Array:
        """What is left of the ten columns outside the span of the nuisances, shape (M, 10), SI.

        Its Gram matrix is the information about the ten numbers whatever the nuisances are.
        """
        W, N = self.payload, self.nuisance
        lengths = np.linalg.norm(N, axis=0)
        # Friction of a joint that stands still shows nowhere, and confounds nothing.
        N = N[:, lengths > 0.0] / lengths[lengths > 0.0]
        U, s, _ = np.linalg.svd(N, full_matrices=False)
        U = U[:, s > DEPENDENT * s.max(initial=0.0)]
        return np.asarray(W - U @ (U.T @ W))


def payload_equations(robot: Robot, at: MotionSample, meter: TorqueMeter) -> PayloadEquations:
    """The equations of a motion's samples, compressed to as many rows as there are parameters.

    Args:
        robot: an arm.
        at: the samples that are measured; the meter's rate does not count.
        meter: how.

    Returns:
        The equations.

    Raises:
        InputError: an array does not fit the robot.
    """
    robot.require_arm()
    noise = checked("noise", meter.noise, (robot.nv,))
    layout = layout_of(robot, meter.unknown)
    # Compression takes whole equations; the torques do not matter here.
    R = compress(robot, layout, [(at.q, at.v, at.a, np.zeros_like(at.v))]).factor(1.0 / noise)
    tool = robot.tool_frame
    of_link = R[:, layout.of_link(robot.link_names[tool.link])]
    return PayloadEquations(of_link @ change_of_frame(tool.placement), R[:, 10 * len(layout.links) : -1])


def measured_times(duration: float, rate: float) -> Array:
    """When samples fall in a motion, from its start on.

    Args:
        duration: of the motion, s.
        rate: samples per second, Hz.

    Returns:
        Times up to the duration, shape (N,), s.
    """
    # A duration of whole sampling times has a sample at its end, whatever its last bit says.
    return np.asarray(np.arange(int(np.floor(duration * rate * (1.0 + 1e-12))) + 1) / rate)
