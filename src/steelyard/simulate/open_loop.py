"""An experiment on one joint of the simulated robot: torques that nothing corrects, the other joints held."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.control import COMMAND_COLUMN, Controller
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.recording import Recording, Step
from steelyard.robot import Robot
from steelyard.simulate.actuation import TorqueLimiter
from steelyard.simulate.held_arm import HeldArm, Reading, default_holding
from steelyard.simulate.plant import Plant
from steelyard.simulate.presets import sensor_preset
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import drawn_specimen, effort_limits

SETTLING = 0.5
"""How long all joints are held before one is let go, unless stated, s."""
_SAFE = 0.1
"""Share of the travel that is kept from the joint's limits."""
_FEWEST = 20
"""Cycles that an experiment must last."""


def open_loop(
    robot: Robot,
    joint: str,
    torque: ArrayLike,
    *,
    posture: ArrayLike,
    sensor: str | SensorPreset = "low-cost",
    rng: np.random.Generator | None = None,
    backlash: ArrayLike = 0.0,
    travel: float = 0.5,
    holding: Controller | None = None,
    settling: float = SETTLING,
) -> Recording:
    """Command a torque to one joint, cycle by cycle and whatever it does, while the others are held.

    First all joints are held at the posture. What this takes on average at the joint, in the second half of
    that time, goes on as a constant, to which the given torque is added: gravity is balanced where the joint
    starts, without a model. The experiment ends early once the encoder has moved by `travel`, or has come as
    near to the joint's limit as a tenth of that; the log ends there too.

    Args:
        robot: the robot; every moving link must state a possible inertial.
        joint: name of the joint.
        torque: what is added to the constant, one value for each cycle of the preset, shape (N,), N·m or N.
        posture: where the arm starts, at rest, shape (nv,), rad or m.
        sensor: name of a preset of `SENSORS`, or a preset.
        rng: source of everything random.
        backlash: play between each joint and its encoder, see `PlayGear`, one for all or one each, shape ()
            or (nv,), rad or m.
        travel: how far the joint may go to either side, rad or m.
        holding: what holds the joints; None for `default_holding`.
        settling: how long all are held at first, s.

    Returns:
        The recording from the first cycle of the given torque on: q, v and tau as the sensors show them,
        current where there is an ammeter, and in the extra column `command_` with the joint's name the
        torque that was commanded, without the constant. Its history tells the constant and why it ended.

    Raises:
        UnknownNameError: no such joint or preset.
        InputError: an option is out of range, the posture leaves no room, or a random preset has no
            generator.
        NoSolutionError: the joint left its room at once, or the simulation diverged.
    """
    preset = sensor_preset(sensor)
    robot.require_arm()
    if joint not in robot.joint_names:
        raise UnknownNameError("joint", joint, robot.joint_names)
    j = robot.joint_names.index(joint)
    u = checked("torque", torque, ("N",))
    start = checked("posture", posture, (robot.nv,))
    low, high = room_of(robot, j, start, travel)
    if not (math.isfinite(settling) and settling > 0.0):
        raise InputError(f"must be positive and finite, got {settling} s.", place="settling")
    seed = None if rng is None else getattr(rng.bit_generator.seed_seq, "entropy", None)
    specimen = drawn_specimen(preset, robot, rng)
    plant = Plant(specimen.robot, backlash=backlash)
    plant.place(start, np.zeros(robot.nv))
    held = default_holding(robot, start, 1.0 / preset.rate) if holding is None else holding
    limits = effort_limits(robot, "an experiment") if preset.torque_limits else np.full(robot.nv, np.inf)
    arm = HeldArm(plant, held, preset, specimen, TorqueLimiter(limits), rng)
    before = [float(arm.next().command[j]) for _ in range(max(round(settling * preset.rate), 2))]
    constant = float(np.mean(before[len(before) // 2 :]))
    rows: list[Reading] = []
    for torque_now in u:
        row = arm.next(j, constant + float(torque_now))
        if not low <= row.q[j] <= high:
            break
        rows.append(row)
    if len(rows) < min(_FEWEST, len(u)):
        raise NoSolutionError(
            f"joint '{joint}' left its room, {low:.3g} to {high:.3g} {robot.joints[j].position_unit}, after "
            f"{len(rows)} cycles.",
            place="experiment",
            remedy="Allow more travel (--travel), or choose another --posture.",
        )
    detail = {
        "robot": robot.digest,
        "joint": joint,
        "posture": start.tolist(),
        "constant": constant,
        "holding": dict(held.settings),
        "settling": float(settling),
        "sensor": preset.name,
        "preset": preset.settings,
        "backlash": np.broadcast_to(np.asarray(backlash, dtype=float), (robot.nv,)).tolist(),
        "travel": float(travel),
        "asked_cycles": len(u),
        "ended": "whole" if len(rows) == len(u) else "left its room",
        "seed": list(seed) if isinstance(seed, tuple | list) else seed,
        "mujoco": mujoco.__version__,
    }
    return Recording(
        robot.joint_names,
        np.arange(len(rows)) / preset.rate,
        q=np.array([row.q for row in rows]),
        v=np.array([row.v for row in rows]),
        tau=np.array([row.tau for row in rows]),
        current=None if rows[0].current is None else np.array([row.current for row in rows]),
        extra={COMMAND_COLUMN + joint: u[: len(rows)]},
        provenance=(Step("open_loop", detail),),
    )


def room_of(robot: Robot, joint: int, posture: ArrayLike, travel: float) -> tuple[float, float]:
    """Where a joint may be in an experiment.

    Args:
        robot: the robot.
        joint: index of the joint.
        posture: where the arm starts, shape (nv,), rad or m.
        travel: how far the joint may go to either side, rad or m.

    Returns:
        Least and most position, rad or m; a tenth of the travel is kept from the joint's limits.

    Raises:
        InputError: the travel is not positive, or the joint starts outside.
    """
    if not (math.isfinite(travel) and travel > 0.0):
        raise InputError(f"must be positive and finite, got {travel}.", place="travel")
    limits, at = robot.joints[joint].limits, float(checked("posture", posture, (robot.nv,))[joint])
    # A joint whose whole range is shorter than the travel keeps a tenth of that range.
    safe = _SAFE * min(travel, limits.upper - limits.lower)
    low, high = max(at - travel, limits.lower + safe), min(at + travel, limits.upper - safe)
    if not low < at < high:
        raise InputError(
            f"joint '{robot.joint_names[joint]}' stands at {at:.4g}, too near to its limits "
            f"{limits.lower:.4g} and {limits.upper:.4g} {robot.joints[joint].position_unit}.",
            place="posture",
            remedy="Choose a --posture farther from them.",
        )
    return low, high
