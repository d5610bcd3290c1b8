r"""Gains of `FeedforwardPD` from joint models: as fast as asked, with a margin that is computed.

Both poles of the ideal error, $\ddot e + K_V \dot e + K_P e = 0$, are put at the bandwidth ω:
$K_P = \omega^2$, $K_V = 2 \omega$. The loop then crosses over near $\hat M K_V / M$, and turns by that times
the sum of dead time, half a cycle for holding, half a cycle for the difference, and the filter: where the
product nears π/2 it is unstable. A joint that is lighter than $\hat M$ at some pose is the dangerous one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, ComplexArray, checked, keep_read_only
from steelyard.control.controller import positive_number
from steelyard.control.joint_model import JointModel
from steelyard.control.pd import FeedforwardPD
from steelyard.errors import InputError, NoSolutionError
from steelyard.robot import Robot

# The feedback of `FeedforwardPD` on one joint, as the sampled loop that it is.
#
# Feedback of eq. (2) of Oaki et al. (2026) on a joint with inertia M and friction D is a sampled loop.
# Everything in it is known in closed form: the torque that arrives T_d after the reading and is held for a
# cycle h, the lag, the encoder read once per cycle, and the pseudo-differentiation as `FeedforwardPD`
# computes it,
#
# $$L(z) = \hat M \Big[K_P + K_V \frac{z - 1}{(T_f + h)\,z - T_f}\Big]\; \frac{K h\,\bar V(z)}{z - 1}.$$

FILTER = 0.002
"""Time constant of the pseudo-differentiation in Oaki et al. (2026), s."""
_FREQUENCIES, _LOWEST, _SECANTS = 300, 1e-2, 3


@dataclass(frozen=True)
class FeedbackLoop:
    """The feedback on one joint.

    Attributes:
        joint: the joint as it is; its inertia may differ from the controller's.
        inertia: M̂, kg·m² or kg.
        kp: K_P, 1/s².
        kv: K_V, 1/s.
        cycle: h, s.
        filter: T_f, s.
    """

    joint: JointModel
    inertia: float
    kp: float
    kv: float
    cycle: float
    filter: float = FILTER

    def response(self, frequency: ArrayLike) -> ComplexArray:
        """L at z = exp(jωh), the loop cut open at the torque.

        Args:
            frequency: ω, between 0 and π/h, shape (n,), rad/s.

        Returns:
            Complex gains, shape (n,), dimensionless.
        """
        h, T_f = self.cycle, self.filter
        z = np.exp(1j * checked("frequency", frequency, ("n",)) * h)
        C = self.inertia * (self.kp + self.kv * (z - 1.0) / ((T_f + h) * z - T_f))
        return np.asarray(
            C * self.joint.gain * h * self.joint.held_response(h).mean_velocity_at(z) / (z - 1.0)
        )

    @property
    def poles(self) -> ComplexArray:
        """Poles of the closed loop, stable inside the unit circle, shape (n,), dimensionless."""
        h, T_f = self.cycle, self.filter
        held = self.joint.held_response(h)
        slope = np.array([T_f + h, -T_f])
        law = self.inertia * (self.kp * slope + self.kv * np.array([1.0, -1.0]))
        open_loop = np.convolve(np.convolve([1.0, -held.pole], [1.0, -1.0]), slope)
        late = np.concatenate([open_loop, np.zeros(held.lag + 1)])
        return np.asarray(np.roots(np.polyadd(late, self.joint.gain * h * np.convolve(held.numerator, law))))

    @property
    def crossover(self) -> float:
        """Highest frequency at which the loop's gain is one, rad/s; NaN where there is none."""
        crossings = self._crossings()
        return float(crossings[-1]) if len(crossings) else math.nan

    @property
    def phase_margin(self) -> float:
        """How far the phase is from -180° where the gain is one, the worst such frequency, rad.

        Negative where the closed loop is unstable; infinite where the gain stays below one.
        """
        crossings = self._crossings()
        angles = np.angle(-self.response(crossings)) if len(crossings) else np.array([math.inf])
        worst = float(angles[np.argmin(np.abs(angles))])
        stable = bool((np.abs(self.poles) < 1.0).all())
        return abs(worst) if stable else -abs(worst)

    def _crossings(self) -> Array:
        """Frequencies at which the gain is one, shape (n,), rad/s."""
        highest = math.pi / self.cycle
        lowest = min(_LOWEST * math.sqrt(self.kp), 0.5 * highest)
        # The integrator's gain only grows towards low frequencies: start where it is above one.
        while abs(self.response([lowest])[0]) < 1.0:
            lowest *= 0.1
        w = np.geomspace(lowest, highest, _FREQUENCIES)
        size = np.log(np.abs(self.response(w)))
        changes = np.flatnonzero(np.sign(size[:-1]) != np.sign(size[1:]))
        low, high = np.log(w[changes]), np.log(w[changes + 1])
        above, below = size[changes], size[changes + 1]
        for _ in range(_SECANTS if len(changes) else 0):
            at = low + (high - low) * above / (above - below)
            new = np.log(np.abs(self.response(np.exp(at))))
            first = np.sign(new) == np.sign(above)
            low, above = np.where(first, at, low), np.where(first, new, above)
            high, below = np.where(first, high, at), np.where(first, below, new)
        return np.asarray(np.exp(low + (high - low) * above / (above - below)))


PHASE_MARGIN = math.radians(45.0)
"""Least phase margin unless stated, rad."""
_INERTIAS = 9
"""Inertias looked at between the least and the most, in equal ratios."""
_BANDWIDTHS, _SLOWEST, _HALVINGS = 16, 1e-3, 14


@dataclass(frozen=True, eq=False)
class LoopDesign:
    """A controller and how far each of its joints is from instability.

    Attributes:
        controller: the law, with gains per joint.
        bandwidth: ω, shape (nv,), rad/s.
        largest_bandwidth: beyond it the margin is less than asked for, shape (nv,), rad/s.
        crossover: highest within the range of inertia, shape (nv,), rad/s.
        phase_margin: least within the range of inertia, shape (nv,), rad.
        inertia_range: least and most inertia that it holds for, shape (nv, 2), kg·m² or kg.
    """

    controller: FeedforwardPD
    bandwidth: Array
    largest_bandwidth: Array
    crossover: Array
    phase_margin: Array
    inertia_range: Array

    def __post_init__(self) -> None:
        keep_read_only(self, "bandwidth", "largest_bandwidth", "crossover", "phase_margin", "inertia_range")


def shaped_controller(
    robot: Robot,
    joints: Sequence[JointModel],
    *,
    bandwidth: ArrayLike,
    cycle: float,
    inertia_range: ArrayLike | None = None,
    phase_margin: float = PHASE_MARGIN,
    filter: float = FILTER,
    at_most: bool = False,
) -> LoopDesign:
    r"""Feedforward and PD from models: $\hat M = T/K$, $\hat D = 1/K$, $K_P = \omega^2$, $K_V = 2\omega$.

    Args:
        robot: the robot to command.
        joints: one model per joint.
        bandwidth: ω, one for all joints or one each, shape () or (nv,), rad/s.
        cycle: h, s.
        inertia_range: least and most inertia that each joint shows at any pose, shape (nv, 2), kg·m² or kg;
            None for that of its model alone. Friction and dead time count as the model's.
        phase_margin: least phase margin over the range, rad.
        filter: T_f, s.
        at_most: whether a joint that cannot have the bandwidth gets the largest that it can.

    Returns:
        The controller and its margins.

    Raises:
        InputError: the bandwidth leaves a joint less margin, which names it and the largest allowed; or a
            number is out of range.
        NoSolutionError: no bandwidth has the margin, because the range of inertia is too wide.
    """
    if len(joints) != robot.nv:
        raise InputError(f"{len(joints)} are given for {robot.nv} joints.", place="joints")
    own = np.array([joint.inertia for joint in joints])
    span = np.stack([own, own], axis=1) if inertia_range is None else inertia_range
    span = checked("inertia_range", span, (robot.nv, 2))
    asked = np.broadcast_to(checked("bandwidth", bandwidth, np.shape(bandwidth)), (robot.nv,))
    chosen, most, crossover, margin = np.empty((4, robot.nv))
    for j, joint in enumerate(joints):
        positive_number("bandwidth", asked[j], "rad/s")
        inertias = _within(span[j], own[j], robot.joint_names[j])
        family = [JointModel.of_inertia(M, joint.viscous, joint.dead_time) for M in inertias]
        most[j] = _largest_bandwidth(family, own[j], cycle, filter, phase_margin, robot.joint_names[j])
        chosen[j] = min(asked[j], most[j]) if at_most else asked[j]
        loops = _loops(family, own[j], float(chosen[j]), cycle, filter)
        margin[j] = min(loop.phase_margin for loop in loops)
        crossover[j] = max(loop.crossover for loop in loops)
        if margin[j] < phase_margin and not at_most:
            raise InputError(
                f"of {asked[j]:.4g} rad/s leaves joint '{robot.joint_names[j]}' a phase margin of "
                f"{math.degrees(margin[j]):.1f}°, less than the {math.degrees(phase_margin):.1f}° asked for.",
                place="bandwidth",
                remedy=f"The largest allowed is {most[j]:.4g} rad/s.",
                evidence={"joint": robot.joint_names[j], "largest": float(most[j])},
            )
    viscous = np.array([joint.viscous for joint in joints])
    controller = FeedforwardPD(robot, own, viscous, chosen**2, 2.0 * chosen, cycle=cycle, filter=filter)
    return LoopDesign(controller, chosen, most, crossover, margin, span)


def _within(span: Array, own: float, name: str) -> Array:
    low, high = span
    if not 0.0 < low <= high:
        raise InputError(
            f"must be positive and in order, got {low:g} to {high:g} at joint '{name}'.",
            place="inertia_range",
        )
    return np.append(np.geomspace(low, high, _INERTIAS), own)


def _loops(
    family: Sequence[JointModel], inertia: float, bandwidth: float, cycle: float, filter: float
) -> list[FeedbackLoop]:
    return [FeedbackLoop(joint, inertia, bandwidth**2, 2.0 * bandwidth, cycle, filter) for joint in family]


def _largest_bandwidth(
    family: Sequence[JointModel], inertia: float, cycle: float, filter: float, margin: float, name: str
) -> float:
    """Highest bandwidth up to which the worst of a family of joints keeps a margin, rad/s."""

    def kept(bandwidth: float) -> bool:
        loops = _loops(family, inertia, bandwidth, cycle, filter)
        return all(loop.phase_margin >= margin for loop in loops)

    grid = [float(w) for w in np.geomspace(_SLOWEST, 0.5, _BANDWIDTHS) * math.pi / cycle]
    first = next((k for k, w in enumerate(grid) if not kept(w)), None)
    if first is None:
        return grid[-1]
    if first == 0:
        raise NoSolutionError(
            f"no bandwidth of joint '{name}' has a phase margin of {math.degrees(margin):.1f}° for inertias "
            f"from {min(j.inertia for j in family):.3g} to {max(j.inertia for j in family):.3g} kg·m².",
            place="phase_margin",
            remedy="Ask for less margin (--margin), or for a narrower range of inertia (--inertia-range).",
            evidence={"joint": name},
        )
    low, high = grid[first - 1], grid[first]
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
