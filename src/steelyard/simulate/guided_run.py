"""An arm under hand guiding, alone or led: the loop of law, drives, sensors and hand."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from steelyard.arrays import Array, IntArray, read_only, read_only_view
from steelyard.control import Admittance
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.simulate.actuation import CommandLine, TorqueLimiter
from steelyard.simulate.hand import Hand
from steelyard.simulate.loop import command_delay
from steelyard.simulate.plant import Plant
from steelyard.simulate.sensing import JointSensors
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import Specimen


@dataclass(frozen=True, eq=False)
class GuidedRun:
    """What an arm did under hand guiding, cycle by cycle.

    Attributes:
        time: since the start, shape (N,), s.
        q: true joint positions, shape (N, nv), rad or m.
        tau: measured torques, shape (N, nv), N·m or N.
        external: what the law takes for a push from outside, shape (N, nv), N·m or N.
        twist: how the law's virtual mass moves, in the tool's axes, shape (N, 6), m/s and rad/s.
        tool: true poses of the tool in the base, shape (N, 4, 4), dimensionless and m.
        force: of the hand on the tool in the axes of the base, shape (N, 3), N; zero without a hand.
        clipped: in how many cycles a command was clipped at its effort limit, shape (nv,), dimensionless.
    """

    time: Array
    q: Array
    tau: Array
    external: Array
    twist: Array
    tool: Array
    force: Array
    clipped: IntArray

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, read_only(getattr(self, item.name)))

    @property
    def distance(self) -> Array:
        """How far the tool is from where it started, shape (N,), m."""
        p = self.tool[:, :3, 3]
        return np.asarray(np.linalg.norm(p - p[0], axis=1))

    @property
    def turn(self) -> Array:
        """The angle by which the tool is turned from where it started, shape (N,), rad."""
        R = self.tool[0, :3, :3].T @ self.tool[:, :3, :3]
        # Of R - R^T and the trace together: each alone is blind, at a half turn or at none.
        axis = np.stack((R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]), axis=1)
        return np.asarray(np.arctan2(np.linalg.norm(axis, axis=1), np.trace(R, axis1=1, axis2=2) - 1.0))


def guided_run(
    plant: Plant,
    law: Admittance,
    start: Array,
    cycles: int,
    hand: Hand | None,
    limiter: TorqueLimiter,
    preset: SensorPreset,
    specimen: Specimen,
    rng: np.random.Generator | None,
) -> GuidedRun:
    """Run the law from rest.

    Args:
        plant: the arm, of the specimen's robot.
        law: the law, made for the preset's cycles.
        start: joint positions, shape (nv,), rad or m.
        cycles: how many.
        hand: what takes the tool at the start; None for no contact.
        limiter: what clips the commands.
        preset: sensors and drives.
        specimen: what was drawn for this arm.
        rng: source of noise and jitter; None where there is none.

    Returns:
        The run, `cycles` + 1 rows.
    """
    nv, h, name = plant.robot.nv, 1.0 / preset.rate, law.tool.name
    model, memory, unused = (law.tree, law.numbers, law.gains), np.array(law.memory), read_only(np.zeros(nv))
    sensors = JointSensors(preset, plant.robot, specimen, rng)
    rows = cycles + 1
    q, tau, external = np.empty((3, rows, nv))
    twist, force = np.empty((rows, 6)), np.zeros((rows, 3))
    plant.place(start, np.zeros(nv))
    p_0 = _point(plant, name)
    line: CommandLine | None = None
    for k in range(rows):
        q[k] = plant.q
        at, speed = (plant.q, plant.v) if preset.truth else sensors.state(plant.encoder)
        command = np.empty(nv)
        law.step(*model, memory, read_only_view(at), read_only_view(speed), unused, unused, unused, command)
        external[k], twist[k] = law.external_torque(memory), law.twist(memory)
        command = limiter.clipped(command)
        line = line or CommandLine(command)
        line.send(k, command, preset.rate * command_delay(preset, rng))
        tau[k], _ = sensors.torque(line.acting(k))
        law.tell_torque(memory, tau[k])
        push = np.zeros(nv)
        if hand is not None:
            J = frame_jacobian(plant.robot, plant.q[None], name)[0, :3]
            force[k] = hand.force(k * h, p_0, _point(plant, name), J @ plant.v)
            push = J.T @ force[k]
        if k + 1 < rows:
            for held, share in line.during(k):
                plant.advance(specimen.gain * held + push, share * h)
    poses = forward_kinematics(plant.robot, q, [name])[:, 0]
    time = np.arange(rows, dtype=np.float64) * h
    return GuidedRun(time, q, tau, external, twist, poses, force, limiter.counts)


def _point(plant: Plant, name: str) -> Array:
    """Where a frame of the arm has its origin now."""
    return np.array(forward_kinematics(plant.robot, plant.q[None], [name])[0, 0, :3, 3])
