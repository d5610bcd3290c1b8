"""A simulated arm that is held at a posture, cycle by cycle, until one of its joints is let go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Controller, GravityPID, command
from steelyard.robot import Robot
from steelyard.simulate.actuation import CommandLine, TorqueLimiter
from steelyard.simulate.plant import Plant
from steelyard.simulate.sensing import JointSensors
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import Specimen

HOLDING = 40.0
"""Natural frequency of the default holding, critically damped, rad/s."""


class Reading(NamedTuple):
    """What the sensors show in one cycle, and what is commanded in answer.

    Attributes:
        q: positions, shape (nv,), rad or m.
        v: velocities, shape (nv,), rad/s or m/s.
        tau: torques, shape (nv,), N·m or N.
        current: motor currents or None, shape (nv,), A.
        command: torques on their way to the joints, shape (nv,), N·m or N.
    """

    q: Array
    v: Array
    tau: Array
    current: Array | None
    command: Array


class HeldArm:
    """An arm with its sensors and drives, and the controller that holds it where it stands.

    Args:
        plant: the arm, of the specimen's robot, placed at rest.
        holding: what holds it.
        preset: sensors and drives.
        specimen: what was drawn for this run.
        limiter: what clips the commands.
        rng: source of noise and jitter; None where there is none.
    """

    def __init__(
        self,
        plant: Plant,
        holding: Controller,
        preset: SensorPreset,
        specimen: Specimen,
        limiter: TorqueLimiter,
        rng: np.random.Generator | None,
    ) -> None:
        self._plant, self._holding, self._preset, self._specimen = plant, holding, preset, specimen
        self._limiter, self._rng = limiter, rng
        self._sensors = JointSensors(preset, plant.robot, specimen, rng)
        self._memory = np.array(holding.memory)
        self._posture, self._still = plant.q, np.zeros(plant.robot.nv)
        self._line: CommandLine | None = None
        self._cycle = 0

    def next(self, joint: int | None = None, torque: float = 0.0) -> Reading:
        """Live through one cycle.

        Args:
            joint: index of a joint that is not held, or None.
            torque: what is commanded to it instead, N·m or N.

        Returns:
            What was read at the beginning of the cycle, and the commands.
        """
        q, v = self._sensors.state(self._plant.encoder)
        tau = command(self._holding, self._memory, q, v, self._posture, self._still, self._still)
        if joint is not None:
            tau[joint] = torque
        tau = self._limiter.clipped(tau)
        k, rate = self._cycle, self._preset.rate
        self._line = self._line or CommandLine(tau)
        self._line.send(k, tau, rate * self._delay())
        measured, current = self._sensors.torque(self._line.acting(k))
        for acting, share in self._line.during(k):
            self._plant.advance(self._specimen.gain * acting, share / rate)
        self._cycle += 1
        return Reading(q, v, measured, current, tau)

    def _delay(self) -> float:
        """How long the command of this cycle takes to the joints, s."""
        if self._rng is None or self._preset.jitter == 0.0:
            return self._preset.delay
        return self._preset.delay + self._preset.jitter * self._rng.uniform(-1.0, 1.0)


def default_holding(robot: Robot, posture: Array, cycle: float) -> GravityPID:
    """Hold every joint with both poles at `HOLDING` for its own inertia at the posture, its weight known.

    Args:
        robot: the robot; its description is the model.
        posture: where, shape (nv,), rad or m.
        cycle: length of the control cycle, s.

    Returns:
        The controller, without an integral.
    """
    model = Plant(robot)
    model.place(posture, np.zeros(robot.nv))
    M = np.diag(model.mass_matrix())
    none = np.zeros(robot.nv)
    return GravityPID.nominal(robot, M * HOLDING**2, none, 2.0 * M * HOLDING, none, cycle=cycle)
