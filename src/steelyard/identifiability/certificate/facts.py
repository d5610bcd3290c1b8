"""What joints do in a motion that a reader should know when something does not show."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.robot import Robot

STILL = 1e-3
"""Range and speed below which a joint counts as still, rad or m and rad/s or m/s."""
STEADY = 1e-3
"""Spread of a speed relative to the speed below which it counts as constant."""


def joint_facts(robot: Robot, q: Array, v: Array, a: Array) -> dict[str, str]:
    """Say what is special about the motion of each joint, where something is.

    Args:
        robot: the robot.
        q: positions, shape (N, nq), rad or m.
        v: velocities, shape (N, nv), rad/s or m/s.
        a: accelerations, shape (N, nv), rad/s² or m/s².

    Returns:
        A clause by joint, such as `joint4 stays at 0 rad`; joints that move freely are left out.
    """
    facts = {}
    at_q = at_v = 0
    for joint in robot.joints:
        mine, rates = slice(at_q, at_q + joint.nq), slice(at_v, at_v + joint.nv)
        at_q, at_v = mine.stop, rates.stop
        if joint.nv == 0:
            continue
        place, speed = q[:, mine], v[:, rates]
        span, top = float(np.ptp(place, axis=0).max()), float(np.abs(speed).max())
        if span < STILL and top < STILL and float(np.abs(a[:, rates]).max()) < STILL:
            unit = "rad" if joint.kind.rotates else "m"
            where = f"stays at {_rounded(float(place.mean())):g} {unit}" if joint.nv == 1 else "never moves"
            facts[joint.name] = f"{joint.name} {where}"
        elif joint.nv == 1 and float(np.ptp(speed)) < STEADY * top:
            facts[joint.name] = f"{joint.name} moves at one speed"
        elif joint.nv == 1 and (speed > 0.0).all() | (speed < 0.0).all():
            facts[joint.name] = f"{joint.name} never turns back"
    return facts


def _rounded(x: float) -> float:
    """Three decimals, without a negative zero."""
    return round(x, 3) + 0.0
