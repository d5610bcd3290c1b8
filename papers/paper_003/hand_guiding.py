"""An arm under hand guiding, alone or led, and whether its model is good enough for that."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only, read_only_view
from steelyard.control import Admittance
from steelyard.dynamics import forward_kinematics, frame_jacobian
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.simulation import Plant, SensorPreset, sensor_preset
from steelyard.simulation.closed_loop import CommandLine, TorqueLimiter, command_delay
from steelyard.simulation.sensing import JointSensors
from steelyard.simulation.sensor import RobotSample, effort_limits

# A hand that takes an arm by its tool.


@dataclass(frozen=True, eq=False)
class Hand:
    r"""Leads a point of the tool along a straight line, from rest to rest, through a spring and a damper.

    It goes the way Δ in the time T with the least jerk and then stays, and holds the point at p by the force

    $$f = k\,(p_h - p) + d\,(\dot p_h - \dot p), \qquad p_h = p_0 + s(t/T)\,\Delta, \qquad
      s(x) = 10 x^3 - 15 x^4 + 6 x^5.$$

    It does not turn the tool. The defaults, a firm grip that yields a little, are assumed.

    Attributes:
        way: Δ in the axes of the base, shape (3,), m.
        seconds: T, s.
        stiffness: k, N/m.
        damping: d, N·s/m.
    """

    way: Array
    seconds: float
    stiffness: float = 500.0
    damping: float = 20.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "way", read_only(checked("way", self.way, (3,))))
        for name in ("seconds", "stiffness", "damping"):
            number = float(checked(name, getattr(self, name), ()))
            if number <= 0.0 and not (name == "damping" and number == 0.0):
                raise InputError(f"must be positive, got {number:g}.", place=f"{name} of the hand")
            object.__setattr__(self, name, number)

    def force(self, time: float, start: Array, position: Array, velocity: Array) -> Array:
        """What the hand exerts on the tool.

        Args:
            time: since it took hold, s.
            start: p_0, where it took hold, shape (3,), m.
            position: p, shape (3,), m.
            velocity: the point's velocity, shape (3,), m/s.

        Returns:
            f in the axes of the base, shape (3,), N.
        """
        x = min(time / self.seconds, 1.0)
        there = start + x**3 * (10.0 - 15.0 * x + 6.0 * x * x) * self.way
        speed = 30.0 * (x * (1.0 - x)) ** 2 / self.seconds * self.way
        return np.asarray(self.stiffness * (there - position) + self.damping * (speed - velocity))


# The loop of law, drives, sensors and hand


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
    specimen: RobotSample,
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


# Whether a model is good enough for hand guiding: what drifts without a hand, and what a hand must exert.


@dataclass(frozen=True, eq=False)
class GuidingCheck:
    """An arm under one law, alone and then led by a hand.

    Attributes:
        alone: the run without contact.
        led: the run with the hand.
        hand: what led the tool.
    """

    alone: GuidedRun
    led: GuidedRun
    hand: Hand

    @property
    def drift(self) -> float:
        """The farthest that the tool moved without contact, m."""
        return float(self.alone.distance.max())

    @property
    def turn(self) -> float:
        """The most that the tool turned without contact, rad."""
        return float(self.alone.turn.max())

    @property
    def mean_force(self) -> float:
        """Mean size of the hand's force while it leads, N."""
        return float(np.linalg.norm(self.led.force[self._leading], axis=1).mean())

    @property
    def peak_force(self) -> float:
        """Largest size of the hand's force while it leads, N."""
        return float(np.linalg.norm(self.led.force[self._leading], axis=1).max())

    @property
    def _leading(self) -> slice:
        return slice(0, int(np.searchsorted(self.led.time, self.hand.seconds * (1.0 + 1e-9))))


def guiding_check(
    robot: Robot,
    law: Admittance,
    start: ArrayLike,
    hand: Hand,
    *,
    seconds: float = 10.0,
    sensor: str | SensorPreset = "ideal",
    rng: np.random.Generator | None = None,
) -> GuidingCheck:
    r"""Try hand guiding in simulation: the hardware check of Tian et al. (2024), section V-C.

    What the torque meters show and the law's model does not explain, $\tau_{raw} - \tau_m$, moves the tool
    where it exceeds the dead zone. A wrong model therefore moves it without a hand, and makes a hand push
    against the error on top of the dead zone and the law's damping. The same arm, that is the same draw of
    what is constant in its sensors and drives, runs from rest twice: alone, then led.

    A joint that friction holds hides a push or an error smaller than its friction: the torque is measured
    between motor and friction. The plant knows no joint limits and no contact but the hand.

    Args:
        robot: the arm as it is; every moving link must state a possible inertial.
        law: the law with the model that is tried, for an arm of the same joints and frames.
        start: joint positions, shape (nv,), rad or m.
        hand: what leads the tool, the law's, in the second run.
        seconds: how long the arm is alone, s.
        sensor: name of a preset of `SENSORS`, or a preset; law and meters run at its rate.
        rng: source of everything random; the constant part is drawn first, as `simulate` does, so that a
            generator from the same seed gives the arm that a log was recorded on.

    Returns:
        Both runs, with drift and forces.

    Raises:
        UnknownNameError: no such preset, or the arm lacks the law's tool frame.
        InputError: the law is for other joints or another cycle, an option is out of range, or a random
            preset has no generator.
        DescriptionError: the robot cannot be simulated, or lacks an effort limit that is needed.
        NoSolutionError: the simulation diverged.
    """
    preset = sensor_preset(sensor)
    q = checked("start", start, (robot.nv,))
    _check_law(robot, law, preset)
    alone, led = (_cycles(preset, name, s) for name, s in (("seconds", seconds), ("hand", hand.seconds)))
    specimen = preset.drawn(robot, rng)
    limits = np.full(robot.nv, np.inf)
    if preset.torque_limits:
        limits = effort_limits(robot, "a run within torque limits")

    def run(cycles: int, who: Hand | None) -> GuidedRun:
        plant = Plant(specimen.robot)
        return guided_run(plant, law, q, cycles, who, TorqueLimiter(limits), preset, specimen, rng)

    return GuidingCheck(run(alone, None), run(led, hand), hand)


def _check_law(robot: Robot, law: Admittance, preset: SensorPreset) -> None:
    if law.joints != robot.joint_names:
        raise InputError(
            f"it is for the joints {list(law.joints)}, but '{robot.name}' has {list(robot.joint_names)}.",
            place="law",
        )
    robot.frame(law.tool.name)
    if abs(law.cycle * preset.rate - 1.0) > 1e-9:
        raise InputError(
            f"it is made for cycles of {law.cycle:g} s, but '{preset.name}' runs it every "
            f"{1.0 / preset.rate:g} s.",
            place="law",
        )


def _cycles(preset: SensorPreset, name: str, seconds: float) -> int:
    cycles = float(checked(name, seconds, ())) * preset.rate
    if cycles < 1.0:
        raise InputError(f"must last at least one cycle of {1.0 / preset.rate:g} s.", place=name)
    return int(np.floor(cycles * (1.0 + 1e-12)))
