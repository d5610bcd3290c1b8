"""One robot of a series: what the imperfections of a preset amount to at its joints."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array, read_only
from steelyard.errors import DescriptionError, InputError
from steelyard.robot import Robot
from steelyard.simulate.sensor import SensorPreset


@dataclass(frozen=True, eq=False)
class Specimen:
    """What is constant over a run, and drawn for it; known to the plant, told to nobody.

    Attributes:
        robot: as described, with the hidden Coulomb friction added.
        noise: standard deviation of the torque's noise, shape (nv,), N·m or N.
        bias: of the torque, shape (nv,), N·m or N.
        gain: torque at the joint over the torque that its drive believes in, shape (nv,), dimensionless.
    """

    robot: Robot
    noise: Array
    bias: Array
    gain: Array


def drawn_specimen(preset: SensorPreset, robot: Robot, rng: np.random.Generator | None) -> Specimen:
    """Draw a specimen; what is zero draws nothing.

    Args:
        preset: the imperfections.
        robot: the robot as described.
        rng: source of the randomness; None where nothing is drawn.

    Returns:
        The specimen.

    Raises:
        InputError: the preset is random, but there is no generator.
        DescriptionError: the preset has shares of an effort limit that a joint does not state.
    """
    if preset.random and rng is None:
        raise InputError(
            f"sensor preset '{preset.name}' is random and needs a generator.",
            place="rng",
            remedy="Pass numpy.random.default_rng(seed).",
        )
    n = len(robot.joints)
    L = effort_limits(robot, f"sensor preset '{preset.name}'") if preset.scaled else np.zeros(n)
    bias = preset.torque_bias * L * _uniform(rng, preset.torque_bias > 0.0, n)
    gain = 1.0 + preset.gain_error * _uniform(rng, preset.gain_error > 0.0, n)
    least, most = preset.coulomb_least, preset.coulomb_most
    share = 0.5 * (least + most) + 0.5 * (most - least) * _uniform(rng, most > least, n)
    noise = preset.torque_noise * L
    return Specimen(_rougher(robot, share * L), read_only(noise), read_only(bias), read_only(gain))


def effort_limits(robot: Robot, why: str) -> Array:
    """The effort limit of every joint.

    Args:
        robot: the robot.
        why: what needs them, for the message.

    Returns:
        Largest torques, shape (nj,), N·m or N.

    Raises:
        DescriptionError: a joint states none, or zero.
    """
    for joint in robot.joints:
        if not 0.0 < joint.limits.effort < np.inf:
            stated = "a zero" if joint.limits.effort == 0.0 else "no"
            raise DescriptionError(
                f"it states {stated} effort limit, which {why} needs.",
                place=f"joint '{joint.name}' of '{robot.name}'",
                remedy="State its largest torque or force with --torque or --limits, or in the description.",
            )
    return np.array([joint.limits.effort for joint in robot.joints])


def _uniform(rng: np.random.Generator | None, wanted: bool, n: int) -> Array:
    """Numbers in ±1, or zeros where none are wanted."""
    return rng.uniform(-1.0, 1.0, n) if wanted and rng is not None else np.zeros(n)


def _rougher(robot: Robot, coulomb: Array) -> Robot:
    """The robot with more Coulomb friction."""
    if not coulomb.any():
        return robot
    drives = [
        replace(joint.drive, coulomb=(joint.drive.coulomb or 0.0) + float(extra))
        for joint, extra in zip(robot.joints, coulomb, strict=True)
    ]
    joints = [replace(joint, drive=drive) for joint, drive in zip(robot.joints, drives, strict=True)]
    return replace(robot, joints=tuple(joints))
