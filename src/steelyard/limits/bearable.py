"""What an arm can hold where it stands: the torque that gravity leaves its joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import inverse_dynamics
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.robot import Robot


@dataclass(frozen=True)
class Bearable:
    """The heaviest load that an arm holds still.

    Attributes:
        mass: kg; infinite where no torque is limited.
        joint: index of the joint that decides.
        left: torque that gravity leaves that joint, N·m or N; below zero where the arm cannot hold itself.
    """

    mass: float
    joint: int
    left: float


def bearable(robot: Robot, q: Array, extent: float) -> Bearable:
    r"""Find the heaviest load that takes no joint's whole torque.

    A joint with the torque limit $L$, of which gravity takes $g$, has $L - |g|$ left. A kilogram in a ball of
    radius $r$ about the tool takes $|a| + r\,|b|$ of it, with $a$ for one at its centre and $b$ the change
    per metre that it is held beside it.

    Args:
        robot: the robot, with its tool frame.
        q: where it stands, shape (nv,), rad or m.
        extent: r, m.

    Returns:
        The load.
    """
    own, point = _held_still(robot, q), np.zeros((3, 3))
    a, *beside = (
        _held_still(robot.with_body("load", Body(1.0, com, point)), q) - own
        for com in np.vstack([np.zeros(3), np.eye(3)])
    )
    takes = np.abs(a) + extent * np.linalg.norm([x - a for x in beside], axis=0)
    left = robot.limit_array("effort") - np.abs(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.nan_to_num(left / takes, nan=np.inf, posinf=np.inf, neginf=-np.inf)
    j = int(np.argmin(room))
    return Bearable(float(room[j]), j, float(left[j]))


def _held_still(robot: Robot, q: Array) -> Array:
    """Torques against gravity alone, shape (nv,), N·m or N."""
    layout, still = layout_of(robot), np.zeros((1, robot.nv))
    return np.asarray(inverse_dynamics(robot, layout, layout.complete_nominal(), q[None], still, still)[0])
