"""The simulated cases of Lambert (2023; Tables 5.1-5.4, 5.6): arms, objects, motions, and what it printed.

Errors are absolute. Where print says "< 1e-3" that is the error; where it says 0.000 it is zero here, the
hardest reading. The arms have no friction, since the paper states none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.estimation import torque_aligned
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.motion import Motion, SinusoidMotion
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import Preparation, prepared
from steelyard.zoo import zoo_robot

LEAST = 1e-6
"""Error below which no more is asked for, SI."""
CYCLE = 1e-3
"""For which the simulated drives hold a torque, s."""
HOME = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.6, 0.8])
"""Of the Panda, rad."""
PLANAR = ("m", "mx", "mz", "Iyy")
"""Numbers of an object that moves in the xz plane."""


@dataclass(frozen=True)
class Printed:
    """A line of a table: the truth, the paper's estimate, and its error."""

    truth: float
    estimate: float
    error: float

    @property
    def allowed(self) -> float:
        """The error that ours may have."""
        return max(self.error, LEAST)


TABLE_5_1 = {
    "link1.mx": Printed(0.0, -1.71e-5, 1.71e-5),
    "link1.mz": Printed(-0.3, -0.300, 1e-3),
    "link1.Iyy": Printed(0.2, 0.201, 1e-3),
}
TABLE_5_2 = {
    ("link2.m",): Printed(0.8, 1.10, 0.30),
    ("link1.Iyy", "link2.Iyy"): Printed(0.8, 0.509, 0.291),
    ("link1.mx",): Printed(0.0, -6.82e-5, 6.82e-5),
    ("link1.mz",): Printed(-0.3, 3.71e-16, 0.300),
    ("link2.mx",): Printed(0.0, -1.84e-4, 1.84e-4),
    ("link2.mz",): Printed(-0.6, -0.600, 0.0),
    ("link2.Iyy",): Printed(0.6, 0.602, 0.002),
}
"""By the standard parameters that a lumped one adds up."""
TABLE_5_3 = {
    "m": Printed(1.0, 1.000, 0.0),
    "mx": Printed(0.025, 0.0250, 0.0),
    "mz": Printed(0.01, 0.00907, 9.3e-4),
    "Iyy": Printed(0.0457, 0.0445, 1.2e-3),
}
TABLE_5_4 = {
    "m": Printed(0.370, 0.370, 1e-3),
    "mx": Printed(0.0, -4.37e-6, 4.37e-6),
    "my": Printed(0.0, 8.15e-6, 8.15e-6),
    "mz": Printed(0.0, 5.65e-6, 5.65e-6),
    "Ixx": Printed(3.17e-4, 3.43e-4, 2.6e-5),
    "Ixy": Printed(0.0, 1.62e-5, 1.62e-5),
    "Iyy": Printed(4.20e-4, 4.33e-4, 1.3e-5),
    "Ixz": Printed(0.0, -6.58e-6, 6.58e-6),
    "Iyz": Printed(0.0, -6.76e-6, 6.76e-6),
    "Izz": Printed(5.33e-4, 5.29e-4, 4.0e-6),
}
TABLE_5_6 = {
    "m": (0.902, 0.9079, 0.9086),
    "mx": (0.0, 1.359e-3, -5.596e-4),
    "my": (0.0, -5.359e-3, -5.166e-3),
    "mz": (0.0, -1.978e-3, 3.031e-4),
    "Ixx": (2.440e-4, -4.882e-3, 5.759e-3),
    "Ixy": (0.0, -3.802e-3, -1.130e-3),
    "Iyy": (2.026e-3, -0.05246, 0.01987),
    "Ixz": (0.0, -2.983e-3, 2.112e-3),
    "Iyz": (0.0, -3.322e-3, 4.765e-3),
    "Izz": (2.026e-3, -9.934e-3, 6.153e-3),
}
"""Truth, and the estimates on hardware without and with filters."""

# Of the numbers that the plane hides any will do with which the body can exist.
BLOCK = Body.from_parameters([1.0, 0.025, 0.0, 0.01, 0.03, 0.0, 0.0457, 0.0, 0.0, 0.03])
"""The object of Table 5.3."""
OBJECT = Body.from_parameters([line.truth for line in TABLE_5_4.values()])
"""That of Table 5.4."""
DUMBBELL = Body.from_parameters([truth for truth, _, _ in TABLE_5_6.values()])
"""That of Table 5.6: three cylinders of one density (tests/inertia/test_inertia_primitives.py)."""


def without_friction(name: str) -> Robot:
    """A robot of the zoo whose joints turn freely."""
    robot = zoo_robot(name)
    return replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))


def planar_sinusoids(robot: Robot, frequencies: Sequence[float], duration: float) -> list[Motion]:
    """Sinusoids of the small arms that start at a standstill; the second joint is a third faster."""
    factors = np.array([1.0, 1.37])[: robot.nv]
    return [_sinusoid(robot, np.full(robot.nv, 0.3), 0.8, w * factors, duration) for w in frequencies]


def panda_sinusoids(robot: Robot, rng: np.random.Generator, count: int, duration: float) -> list[Motion]:
    """The motions of section 5.4: 0.3 rad, 1 to 5 rad/s, each joint its own."""
    return [_sinusoid(robot, HOME, 0.3, rng.uniform(1.0, 5.0, 7), duration) for _ in range(count)]


def _sinusoid(robot: Robot, centre: Array, amplitude: float, frequency: Array, duration: float) -> Motion:
    sizes = np.full(robot.nv, amplitude), frequency, np.full(robot.nv, 0.5 * np.pi)
    return SinusoidMotion(robot.joint_names, duration, centre, *sizes)


def from_positions(logs: Sequence[Recording]) -> list[Recording]:
    """Velocities and accelerations as a real log has them: none, so positions are differentiated."""
    how = Preparation(cutoff=30.0, interval=0.01)
    return [prepared(log.with_channels(v=None, a=None), how).recording for log in logs]


def in_step(robot: Robot, layout: Layout, logs: Sequence[Recording]) -> list[Recording]:
    """Torques moved to the instant that accelerations are of, by half the cycle for which they are held."""
    return list(torque_aligned(problem_of(robot, layout, logs), logs, CYCLE)[0])
