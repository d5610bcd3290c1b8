"""The closed loop of controller and plant: as it is, and as sensors and drives let it be.

The cycles run in compiled code, `cycles`; here they are prepared, and run in stretches short enough for an
interruption to be heard.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steelyard.archive import digest
from steelyard.arrays import Array, read_only_view
from steelyard.control import Controller
from steelyard.dynamics.straight_line import call, specialise
from steelyard.motion import MotionSample
from steelyard.rollout.simulation import law_key
from steelyard.simulate import cycles as template
from steelyard.simulate.actuation import TorqueLimiter, arrivals
from steelyard.simulate.cycles import Commands, Log
from steelyard.simulate.plant import Plant
from steelyard.simulate.sensing import JointSensors
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import Specimen

STRETCH = 0.5
"""Simulated time between two chances to interrupt a run, s."""


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


def closed_loop(
    plant: Plant,
    controller: Controller,
    reference: MotionSample,
    limiter: TorqueLimiter,
    preset: SensorPreset,
    specimen: Specimen,
    rng: np.random.Generator | None,
    cycle: float,
    every: int,
) -> Channels:
    """Run a controller that sees what the sensors show, through drives that are late and inexact.

    With a preset of the truth it sees the true state, and its commands act at once.

    Args:
        plant: the arm, of the specimen's robot.
        controller: the law.
        reference: what to follow, at every cycle.
        limiter: what clips the commands.
        preset: sensors and drives.
        specimen: what was drawn for this run.
        rng: source of noise and jitter; None where there is none.
        cycle: length of a cycle, s.
        every: how many cycles from one logged row to the next.

    Returns:
        The log, with accelerations where it is the truth, and currents where there is an ammeter.

    Raises:
        NoSolutionError: the simulation diverged; names joint and time.
    """
    n, nv = reference.q.shape
    delays, noise = drawn(preset, specimen, rng, n)
    sensors = JointSensors(preset, plant.robot, specimen, None)
    encoders = sensors.encoders._replace(cycle=cycle)
    commands = Commands(
        np.array(limiter.limits),
        limiter.counts,
        arrivals(preset.rate * delays),
        np.array(specimen.gain),
        np.empty((n, nv)),
        np.zeros(2, dtype=np.int64),
    )
    q, v, tau = np.empty((3, (n - 1) // every + 1, nv))
    log = Log(every, np.empty((n, nv)), q, v, tau)
    code = specialise(template, digest(law_key(controller)), control_step=controller.step)
    law = (controller.tree, controller.numbers, read_only_view(controller.gains))
    memory = np.array(controller.memory)
    desired = tuple(read_only_view(x) for x in (reference.q, reference.v, reference.a))
    given = (plant.arm, plant.dof, law, memory, *desired, preset.truth, encoders, commands, log)
    stretch = max(1, math.ceil(STRETCH / cycle))
    plant.place(reference.q[0], np.zeros(nv))
    for first in range(0, n, stretch):
        plant.refuse(call(code, "run", *given, first, min(first + stretch, n)))
    if preset.truth:
        return Channels(log.path, q, v, tau, a=plant.accelerations(q, v, tau))
    measured, current = sensors.noisy_torque(tau, noise[::every])
    return Channels(log.path, q, v, measured, current=current)


def drawn(
    preset: SensorPreset, specimen: Specimen, rng: np.random.Generator | None, cycles: int
) -> tuple[Array, Array]:
    """Draw what differs from cycle to cycle, in the order of the cycles: first the delay, then the noise.

    Args:
        preset: sensors and drives.
        specimen: what was drawn for the run.
        rng: source of noise and jitter; None where there is none.
        cycles: how many.

    Returns:
        How long each command takes to the joints, shape (cycles,), s; and the noise of the torque meter,
        shape (cycles, nv), N·m or N.
    """
    nv = len(specimen.noise)
    delays, noise = np.full(cycles, preset.delay), np.zeros((cycles, nv))
    if rng is None:
        return delays, noise
    late, noisy = preset.jitter > 0.0, bool(specimen.noise.any())
    if late and noisy:
        for k in range(cycles):
            delays[k] = command_delay(preset, rng)
            noise[k] = rng.standard_normal(nv)
    elif late:
        delays = preset.delay + preset.jitter * rng.uniform(-1.0, 1.0, cycles)
    elif noisy:
        noise = rng.standard_normal((cycles, nv))
    return delays, specimen.noise * noise


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
