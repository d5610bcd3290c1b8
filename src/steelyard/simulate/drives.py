"""The drives of a robot as arrays: what friction is at a velocity, and its parts that a step takes apart."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray
from steelyard.compiled import kernel
from steelyard.robot import Robot


class JointDrives(NamedTuple):
    """Friction, offset and rotor of every joint; terms that the description does not state are zero.

    Attributes:
        viscous: F_v, shape (nv,), N·m·s/rad or N·s/m.
        coulomb: F_c, shape (nv,), N·m or N.
        offset: F_o, shape (nv,), N·m or N.
        rotor: I_a, shape (nv,), kg·m² or kg.
        stribeck: F_s, shape (nv,), N·m or N.
        asymmetric: F_a, shape (nv,), N·m·s/rad or N·s/m.
        load: F_l, shape (nv,), dimensionless.
        velocity: v_s of Stribeck friction, shape (nv,), rad/s or m/s.
        exponent: δ of Stribeck friction, shape (nv,), dimensionless.
        depends_on_load: whether any F_l is not zero.
    """

    viscous: Array
    coulomb: Array
    offset: Array
    rotor: Array
    stribeck: Array
    asymmetric: Array
    load: Array
    velocity: Array
    exponent: Array
    depends_on_load: bool


def joint_drives(robot: Robot, order: IntArray) -> JointDrives:
    """The drives that a description states.

    Args:
        robot: the robot, every joint with one degree of freedom.
        order: the robot's joints in the order that is wanted, shape (nv,), dimensionless.

    Returns:
        The drives in that order.
    """
    drives = [robot.joints[j].drive for j in order]
    terms = ("viscous", "coulomb", "offset", "rotor", "stribeck", "asymmetric", "load")
    Fv, Fc, Fo, Ia, Fs, Fa, Fl = (np.array([drive.value(term) or 0.0 for drive in drives]) for term in terms)
    shapes = [drive.stribeck_shape for drive in drives]
    velocity = np.array([1.0 if shape is None else shape.velocity for shape in shapes])
    exponent = np.array([1.0 if shape is None else shape.exponent for shape in shapes])
    return JointDrives(Fv, Fc, Fo, Ia, Fs, Fa, Fl, velocity, exponent, bool(Fl.any()))


@kernel
def dry_friction(drives: JointDrives, j: int, v: float) -> float:
    r"""What dry friction can hold or brake with: $F_c + F_s\,e^{-(|v|/v_s)^\delta}$; at rest $F_c + F_s$."""
    level: float = drives.coulomb[j]
    if drives.stribeck[j] != 0.0:
        level += drives.stribeck[j] * math.exp(-((abs(v) / drives.velocity[j]) ** drives.exponent[j]))
    return level


@kernel
def viscous_slope(drives: JointDrives, j: int, v: float) -> float:
    r"""Viscous friction per velocity in the direction of motion: $F_v + F_a \operatorname{sign}(v)$."""
    slope: float = drives.viscous[j] + drives.asymmetric[j] * np.sign(v)
    return slope


@kernel
def drive_torque(drives: JointDrives, v: Array, tau: Array) -> None:
    """Write friction and offset at a velocity, without what depends on the load, sign(0) = 0."""
    for j in range(v.size):
        dry = dry_friction(drives, j, v[j]) * np.sign(v[j])
        tau[j] = viscous_slope(drives, j, v[j]) * v[j] + dry + drives.offset[j]
