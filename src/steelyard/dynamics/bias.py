"""Torques of a motion without acceleration: gravity, velocity products and friction, over many samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.dynamics.friction import refuse_load
from steelyard.dynamics.inverse_dynamics import inverse_dynamics
from steelyard.layout import Layout
from steelyard.robot import Robot


def bias(robot: Robot, layout: Layout, parameters: ArrayLike, q: ArrayLike, v: ArrayLike) -> Array:
    r"""What is left of the torques when nothing accelerates: $b = C(q, v)\,v + g(q) + \tau_{drive}(v, 0)$.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.

    Returns:
        b, shape (N, nv), N·m or N; $\tau = H a + b$.

    Raises:
        InputError: the layout has a load term, with which torque is not linear in the acceleration.
    """
    refuse_load(layout, "the torque is not linear in the acceleration")
    still = np.zeros_like(checked("v", v, ("...", robot.nv)))
    return inverse_dynamics(robot, layout, parameters, q, v, still)
