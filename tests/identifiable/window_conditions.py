"""Appendix D of Zhang et al. (2025): how well the payload is seen in torques, and in momentum over windows.

Used by the test and by the study in bench/studies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import momentum_rate_regressor, momentum_regressor, torque_regressor
from steelyard.layout import layout_of
from steelyard.motion import FourierMotion, random_fourier
from steelyard.robot import Robot

TABLE_IV = {1: 1.0, 5: 1.0, 10: 0.9994, 20: 0.9934, 50: 0.954, 100: 0.6709, 200: 0.3537, 500: 0.2789}
"""Window in samples, and the printed correlation of the two condition numbers."""
STEP, DURATION = 1e-3, 10.0
Rule = Literal["Euler", "trapezoid"]


@dataclass(frozen=True, eq=False)
class PayloadRows:
    """The ten columns of the last link and its payload along a motion, each (N + 1, nv, 10)."""

    torque: Array
    momentum: Array
    rate: Array
    step: float

    def in_torques(self) -> float:
        """The condition number of (30), with the torque at every sample."""
        return condition(self.torque[:-1])

    def in_windows(self, window: int, rule: Rule = "Euler") -> float:
        """The condition number of (23): windows of so many samples that follow each other.

        Of (21) the sum has the h terms of the corrected equation.
        """
        C = self.rate[:-1] if rule == "Euler" else 0.5 * (self.rate[:-1] + self.rate[1:])
        impulse = np.concatenate((np.zeros_like(C[:1]), np.cumsum(self.step * C, axis=0)))
        at_edges = (self.momentum - impulse)[::window]
        return condition(np.diff(at_edges, axis=0))


def payload_rows(robot: Robot, motion: FourierMotion, step: float = STEP) -> PayloadRows:
    """Sample a motion and evaluate the three regressors."""
    layout = layout_of(robot)
    held = layout.of_link(robot.link_names[robot.tool_frame.link])
    s = motion.sample(step * np.arange(round(motion.duration / step) + 1))
    # Copies: a view would keep the columns of all links in memory.
    return PayloadRows(
        torque_regressor(robot, layout, s.q, s.v, s.a)[:, :, held].copy(),
        momentum_regressor(robot, layout, s.q, s.v)[:, :, held].copy(),
        momentum_rate_regressor(robot, layout, s.q, s.v)[:, :, held].copy(),
        step,
    )


def condition(rows: Array) -> float:
    """Largest singular value over the smallest."""
    sizes = np.linalg.svd(np.linalg.qr(rows.reshape(-1, rows.shape[-1]), mode="r"), compute_uv=False)
    return float(sizes[0] / sizes[-1])


def slow_motion(robot: Robot, rng: np.random.Generator) -> FourierMotion:
    """Five harmonics up to 0.5 Hz that keep the robot's limits of position, speed and acceleration."""
    return random_fourier(robot, rng, period=DURATION)


def wild_motion(robot: Robot, rng: np.random.Generator, harmonics: int = 15) -> FourierMotion:
    """Harmonics up to 1.5 Hz, each of up to 1 rad: as fast as no joint of the robot can be."""
    speeds = 2.0 * np.pi / DURATION * np.arange(1, harmonics + 1)
    sine, cosine = speeds * rng.uniform(-1.0, 1.0, (2, robot.nv, harmonics))
    return FourierMotion(robot.joint_names, DURATION, rng.uniform(-np.pi, np.pi, robot.nv), sine, cosine)


def correlations(torque: Array, windows: Array) -> Array:
    """Pearson's, of the condition numbers (M,) with those of every window (M, H)."""
    return np.array([np.corrcoef(torque, column)[0, 1] for column in windows.T])
