"""The closed loop of controller and plant: as it is, and as sensors and drives let it be.

The cycles run in compiled code, `cycles`; here they are prepared, and run in stretches short enough for an
interruption to be heard.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np

from steelyard.archive import digest
from steelyard.arrays import Array, read_only_view
from steelyard.control import Controller
from steelyard.dynamics.straight_line import call, specialise
from steelyard.motion import MotionSample
from steelyard.rollout.simulation import law_key
from steelyard.simulation import cycles as template
from steelyard.simulation.cycles import CycleCommands, Log
from steelyard.simulation.plant import Plant
from steelyard.simulation.sensing import JointSensors
from steelyard.simulation.sensor import RobotSample, SensorPreset

# The way of a command to the joints: clipped, late, and held until the next one arrives.

# An arrival this close to the start of a cycle, in cycles, is at it: the rounding of the user's numbers.
_WHOLE = 1e-9


class TorqueLimiter:
    """Clips commands to the effort limits and counts how often.

    Args:
        limits: largest torques, shape (nv,), N·m or N; infinite where there is none.
    """

    def __init__(self, limits: Array) -> None:
        self.limits = limits
        self.counts = np.zeros(len(limits), dtype=np.int64)

    def clipped(self, tau: Array) -> Array:
        """The command within the limits.

        Args:
            tau: commanded torques, shape (nv,), N·m or N.

        Returns:
            The clipped torques, shape (nv,), N·m or N.
        """
        self.counts += np.abs(tau) > self.limits
        return np.clip(tau, -self.limits, self.limits)


def arrivals(delays: Array) -> Array:
    """When the commands of consecutive cycles arrive, the first sent in cycle 0.

    Args:
        delays: how many cycles each takes, shape (n,), dimensionless; they must keep the commands in order.

    Returns:
        Arrivals in cycles, shape (n,), dimensionless.
    """
    arrival = np.arange(len(delays)) + delays
    nearest = np.rint(arrival)
    return np.where(np.abs(arrival - nearest) <= _WHOLE, nearest, arrival)


class CommandLine:
    """The commands that are on their way to the joints; time is counted in cycles.

    Args:
        first: the command of cycle 0, which acts from the beginning, shape (nv,), N·m or N.
    """

    def __init__(self, first: Array) -> None:
        self._acting = first
        self._coming: deque[tuple[float, Array]] = deque()

    def send(self, cycle: int, tau: Array, delay: float) -> None:
        """Send a command; it must not arrive before one sent earlier.

        Args:
            cycle: when it is sent.
            tau: the command, shape (nv,), N·m or N.
            delay: how many cycles it takes.
        """
        arrival = cycle + delay
        nearest = round(arrival)
        self._coming.append((nearest if abs(arrival - nearest) <= _WHOLE else arrival, tau))

    def acting(self, cycle: int) -> Array:
        """The command that acts at the start of a cycle, one that arrives just then included.

        Args:
            cycle: which; they are asked for in order.

        Returns:
            Torques, shape (nv,), N·m or N.
        """
        while self._coming and self._coming[0][0] <= cycle:
            self._acting = self._coming.popleft()[1]
        return self._acting

    def during(self, cycle: int) -> list[tuple[Array, float]]:
        """What acts during a cycle, in order.

        Args:
            cycle: which; they are asked for in order.

        Returns:
            Commands, each shape (nv,), N·m or N, with the share of the cycle, dimensionless, that each acts.
        """
        torque, since = self.acting(cycle), float(cycle)
        parts = []
        for arrival, tau in self._coming:
            if arrival >= cycle + 1:
                break
            parts.append((torque, arrival - since))
            torque, since = tau, arrival
        return [*parts, (torque, cycle + 1 - since)]


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
    specimen: RobotSample,
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
    commands = CycleCommands(
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
    preset: SensorPreset, specimen: RobotSample, rng: np.random.Generator | None, cycles: int
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
