"""The closed loop of controller and plant, cycle by cycle: as it is, and as sensors and drives let it be."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, read_only_view
from steelyard.control import Controller
from steelyard.motion import MotionSample
from steelyard.simulate.actuation import CommandLine, TorqueLimiter
from steelyard.simulate.plant import Plant
from steelyard.simulate.sensing import JointSensors
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import Specimen

Command = Callable[[int, Array, Array], Array]
"""From a cycle's number, positions (nv,) and velocities (nv,) to the clipped command (nv,)."""


class Channels(NamedTuple):
    """What a run leaves in the log, and the way it took.

    Attributes:
        path: true positions at every cycle, logged or not, shape (n, nv), rad or m.
        q: positions, shape (N, nv), rad or m.
        v: velocities, shape (N, nv), rad/s or m/s.
        tau: torques, shape (N, nv), N·m or N.
        a: accelerations or None, shape (N, nv), rad/s² or m/s².
        current: motor currents or None, shape (N, nv), A.
    """

    path: Array
    q: Array
    v: Array
    tau: Array
    a: Array | None = None
    current: Array | None = None


def true_loop(
    plant: Plant,
    controller: Controller,
    reference: MotionSample,
    limiter: TorqueLimiter,
    cycle: float,
    every: int,
) -> Channels:
    """Run a controller that sees the truth.

    Args:
        plant: the arm.
        controller: the law.
        reference: what to follow, at every cycle.
        limiter: what clips the commands.
        cycle: length of a cycle, s.
        every: how many cycles from one logged row to the next.

    Returns:
        The log, with accelerations.
    """
    n, nv = reference.q.shape
    path = np.empty((n, nv))
    q, v, a, tau = np.empty((4, (n - 1) // every + 1, nv))
    command = _commander(controller, reference, limiter)
    plant.place(reference.q[0], np.zeros(nv))
    for k in range(n):
        at, speed = plant.q, plant.v
        path[k] = at
        torque = command(k, at, speed)
        if k % every == 0:
            row = k // every
            q[row], v[row], tau[row] = at, speed, torque
            a[row] = plant.acceleration(torque)
        if k + 1 < n:
            plant.advance(torque, cycle)
    return Channels(path, q, v, tau, a=a)


def sensed_loop(
    plant: Plant,
    controller: Controller,
    reference: MotionSample,
    limiter: TorqueLimiter,
    preset: SensorPreset,
    specimen: Specimen,
    rng: np.random.Generator | None,
    every: int,
) -> Channels:
    """Run a controller that sees what the sensors show, through drives that are late and inexact.

    Args:
        plant: the arm, of the specimen's robot.
        controller: the law.
        reference: what to follow, at every cycle.
        limiter: what clips the commands.
        preset: sensors and drives.
        specimen: what was drawn for this run.
        rng: source of noise and jitter; None where there is none.
        every: how many cycles from one logged row to the next.

    Returns:
        The log, with currents where there is an ammeter.
    """
    n, nv = reference.q.shape
    path = np.empty((n, nv))
    q, v, tau, currents = np.empty((4, (n - 1) // every + 1, nv))
    current: Array | None = None
    sensors = JointSensors(preset, plant.robot, specimen, rng)
    command = _commander(controller, reference, limiter)
    plant.place(reference.q[0], np.zeros(nv))
    line: CommandLine | None = None
    for k in range(n):
        path[k] = plant.q
        at, speed = sensors.state(plant.encoder)
        torque = command(k, at, speed)
        line = line or CommandLine(torque)
        line.send(k, torque, preset.rate * command_delay(preset, rng))
        measured, current = sensors.torque(line.acting(k))
        if k % every == 0:
            row = k // every
            q[row], v[row], tau[row] = at, speed, measured
            currents[row] = np.nan if current is None else current
        if k + 1 < n:
            for held, share in line.during(k):
                plant.advance(specimen.gain * held, share / preset.rate)
    return Channels(path, q, v, tau, current=None if current is None else currents)


def _commander(controller: Controller, reference: MotionSample, limiter: TorqueLimiter) -> Command:
    """The law with its memory, its reference and its limits."""
    model = (controller.tree, controller.numbers, controller.gains)
    memory = np.array(controller.memory)

    def command(k: int, q: Array, v: Array) -> Array:
        torque = np.empty(len(q))
        state = read_only_view(q), read_only_view(v)
        controller.step(*model, memory, *state, reference.q[k], reference.v[k], reference.a[k], torque)
        return limiter.clipped(torque)

    return command


def command_delay(preset: SensorPreset, rng: np.random.Generator | None) -> float:
    """How long the command of one cycle takes to the joints.

    Args:
        preset: sensors and drives.
        rng: source of the jitter; None where there is none.

    Returns:
        The delay, s.
    """
    if rng is None or preset.jitter == 0.0:
        return preset.delay
    return preset.delay + preset.jitter * rng.uniform(-1.0, 1.0)
