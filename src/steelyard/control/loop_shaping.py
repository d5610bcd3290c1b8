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

from steelyard.arrays import Array, checked, read_only
from steelyard.control.arm_law import positive_number
from steelyard.control.feedback_loop import FILTER, FeedbackLoop
from steelyard.control.feedforward_pd import FeedforwardPD
from steelyard.control.joint_model import JointModel
from steelyard.errors import InputError, NoSolutionError
from steelyard.robot import Robot

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
        for name in ("bandwidth", "largest_bandwidth", "crossover", "phase_margin", "inertia_range"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


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
