"""What a reading is worth: steps of encoders and meters, and the torque of an ampere."""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import effort_limits


def encoder_steps(preset: SensorPreset, robot: Robot) -> Array:
    """The step of every encoder.

    Args:
        preset: the sensors.
        robot: the robot.

    Returns:
        Steps, shape (nv,), rad or m; zero for exact encoders.
    """
    turning = np.array([joint.kind.rotates for joint in robot.joints])
    return preset.encoder * np.where(turning, 1.0, preset.travel_per_radian)


def torque_steps(preset: SensorPreset, robot: Robot) -> Array:
    """The quantum of every torque meter.

    Args:
        preset: the sensors.
        robot: the robot.

    Returns:
        Steps, shape (nv,), N·m or N; zero for exact meters.

    Raises:
        DescriptionError: the quantum is a share of an effort limit that a joint does not state.
    """
    if preset.torque_quantum == 0.0:
        return np.zeros(robot.nv)
    return preset.torque_quantum * effort_limits(robot, f"sensor preset '{preset.name}'")


def torque_constants(preset: SensorPreset, robot: Robot) -> Array | None:
    """The torque that every drive takes an ampere for.

    Args:
        preset: the sensors.
        robot: the robot.

    Returns:
        K, shape (nv,), N·m/A or N/A; None where there is no ammeter.

    Raises:
        InputError: the preset states them for another number of joints.
        DescriptionError: they follow from an effort limit that a joint does not state.
    """
    if preset.torque_constants:
        stated = len(preset.torque_constants)
        if stated != robot.nv:
            raise InputError(
                f"states torque constants of {stated} joints, '{robot.name}' has {robot.nv}.",
                place=f"sensor preset '{preset.name}'",
                remedy="Choose a preset that scales with the robot, such as 'low-cost'.",
            )
        return np.array(preset.torque_constants)
    if preset.current_at_limit == 0.0:
        return None
    return effort_limits(robot, f"sensor preset '{preset.name}'") / preset.current_at_limit
