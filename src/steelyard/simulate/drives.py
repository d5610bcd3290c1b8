"""The drives of a robot as arrays: what friction is at a velocity, and its parts that a step takes apart."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import stribeck_column
from steelyard.robot import Robot


class JointDrives:
    """Friction and offset of every joint; terms that the description does not state are absent.

    Args:
        robot: the robot, every joint with one degree of freedom.
    """

    def __init__(self, robot: Robot) -> None:
        self._viscous, self._coulomb, self.offset, self.rotor, self._stribeck, self._asymmetric, self.load = (
            np.array([joint.drive.value(term) or 0.0 for joint in robot.joints])
            for term in ("viscous", "coulomb", "offset", "rotor", "stribeck", "asymmetric", "load")
        )
        shapes = [joint.drive.stribeck_shape for joint in robot.joints]
        self._velocity = np.array([1.0 if shape is None else shape.velocity for shape in shapes])
        self._exponent = np.array([1.0 if shape is None else shape.exponent for shape in shapes])
        self.depends_on_load = bool(self.load.any())

    def dry(self, v: Array) -> Array:
        r"""What dry friction can hold or brake with: $F_c + F_s\,e^{-(|v|/v_s)^\delta}$; at rest $F_c + F_s$.

        Args:
            v: velocities, shape (nv,), rad/s or m/s.

        Returns:
            Levels, shape (nv,), N·m or N.
        """
        if not self._stribeck.any():
            return self._coulomb
        moving = np.where(v == 0.0, 1.0, np.abs(stribeck_column(v, self._velocity, self._exponent)))
        return np.asarray(self._coulomb + self._stribeck * moving)

    def slope(self, v: Array) -> Array:
        r"""Viscous friction per velocity in the direction of motion: $F_v + F_a \operatorname{sign}(v)$.

        Args:
            v: velocities, shape (nv,), rad/s or m/s.

        Returns:
            Slopes, shape (nv,), N·m·s/rad or N·s/m.
        """
        return np.asarray(self._viscous + self._asymmetric * np.sign(v))

    def torque(self, v: Array) -> Array:
        """Friction and offset at a velocity, without what depends on the load, sign(0) = 0.

        Args:
            v: velocities, shape (nv,), rad/s or m/s.

        Returns:
            Torques that the motor must overcome, shape (nv,), N·m or N.
        """
        return np.asarray(self.slope(v) * v + self.dry(v) * np.sign(v) + self.offset)
