"""Open-loop experiments on joints of the simulated robot: torques that nothing corrects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.control import COMMAND_COLUMN, Controller, GravityPID, control_command
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.recording import Recording, Step
from steelyard.robot import Robot
from steelyard.signals import recursion
from steelyard.simulation.closed_loop import CommandLine, TorqueLimiter
from steelyard.simulation.plant import Plant
from steelyard.simulation.sensing import JointSensors
from steelyard.simulation.sensor import (
    RobotSample,
    SensorPreset,
    effort_limits,
    sensor_preset,
)

# Torques for open-loop experiments on one joint: square wave and pseudo-random binary sequence.

# Feedback taps of registers with the longest period (primitive polynomials over GF(2)).
_TAPS = {
    3: (3, 2),
    4: (4, 3),
    5: (5, 3),
    6: (6, 5),
    7: (7, 6),
    8: (8, 6, 5, 4),
    9: (9, 5),
    10: (10, 7),
    11: (11, 9),
    12: (12, 11, 10, 4),
    13: (13, 12, 11, 8),
    14: (14, 13, 12, 2),
    15: (15, 14),
}


def square_wave(amplitude: float, period: float, periods: int, rate: float) -> Array:
    """A square wave that begins with a quarter of its period, so that a joint swings about where it starts.

    Args:
        amplitude: of the torque, N·m or N.
        period: length of a period, a multiple of four cycles, s.
        periods: how many.
        rate: cycles per second, Hz.

    Returns:
        The torque of every cycle, shape (N,), N·m or N.

    Raises:
        InputError: a number is out of range.
    """
    _positive(amplitude=amplitude, period=period, periods=periods, rate=rate)
    quarter = _whole("period", period * rate / 4.0, f"a multiple of {4.0 / rate:g} s")
    one = np.repeat([1.0, -1.0, -1.0, 1.0], quarter)
    return np.asarray(amplitude * np.tile(one, periods))


def shift_register(order: int, rng: np.random.Generator | None = None) -> Array:
    r"""One period of a maximum-length sequence of ±1, $2^n - 1$ long, from a shift register with feedback.

    Its circular autocorrelation is $2^n - 1$ at no shift and -1 at every other one.

    Args:
        order: n, number of places of the register, 3 to 15.
        rng: draws where in its period the sequence starts; None for a register of ones.

    Returns:
        The sequence, shape (2ⁿ - 1,), dimensionless.

    Raises:
        InputError: there is no register of this order.
    """
    if order not in _TAPS:
        raise InputError(f"must be one of {min(_TAPS)} to {max(_TAPS)}, got {order}.", place="order")
    full = (1 << order) - 1
    state = full if rng is None else int(rng.integers(1, full + 1))
    taps = [1 << (order - tap) for tap in _TAPS[order]]
    sequence = np.empty(full)
    for k in range(full):
        sequence[k] = 1.0 if state & 1 else -1.0
        back = sum(1 for tap in taps if state & tap) & 1
        state = state >> 1 | back << (order - 1)
    return sequence


def prbs(
    amplitude: float, clock: float, order: int, rate: float, rng: np.random.Generator | None = None
) -> Array:
    """A pseudo-random binary torque: one period of a shift register, each bit held for a clock.

    Args:
        amplitude: of the torque, N·m or N.
        clock: how long a bit is held, a multiple of a cycle, s. The spectrum is flat to about 0.44 / clock,
            Hz.
        order: number of places of the register; the sequence has 2ⁿ - 1 bits.
        rate: cycles per second, Hz.
        rng: draws where in its period the sequence starts; None for a register of ones.

    Returns:
        The torque of every cycle, shape (N,), N·m or N.

    Raises:
        InputError: a number is out of range.
    """
    _positive(amplitude=amplitude, clock=clock, rate=rate)
    cycles = _whole("clock", clock * rate, f"a multiple of {1.0 / rate:g} s")
    return np.asarray(amplitude * np.repeat(shift_register(order, rng), cycles))


def _positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"must be positive and finite, got {value}.", place=name)


def _whole(name: str, cycles: float, wanted: str) -> int:
    nearest = round(cycles)
    if nearest < 1 or abs(cycles - nearest) > 1e-6 * nearest:
        raise InputError(f"must be {wanted}.", place=name)
    return nearest


# A simulated arm that is held at a posture, cycle by cycle, until one of its joints is let go.

HOLDING = 40.0
"""Natural frequency of the default holding, critically damped, rad/s."""


class HeldArmReading(NamedTuple):
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
        specimen: RobotSample,
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

    def next(self, joint: int | None = None, torque: float = 0.0) -> HeldArmReading:
        """Live through one cycle.

        Args:
            joint: index of a joint that is not held, or None.
            torque: what is commanded to it instead, N·m or N.

        Returns:
            What was read at the beginning of the cycle, and the commands.
        """
        q, v = self._sensors.state(self._plant.encoder)
        tau = control_command(self._holding, self._memory, q, v, self._posture, self._still, self._still)
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
        return HeldArmReading(q, v, measured, current, tau)

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


# One joint at a time, the others held

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
    specimen = preset.drawn(robot, rng)
    plant = Plant(specimen.robot, backlash=backlash)
    plant.place(start, np.zeros(robot.nv))
    held = default_holding(robot, start, 1.0 / preset.rate) if holding is None else holding
    limits = effort_limits(robot, "an experiment") if preset.torque_limits else np.full(robot.nv, np.inf)
    arm = HeldArm(plant, held, preset, specimen, TorqueLimiter(limits), rng)
    before = [float(arm.next().command[j]) for _ in range(max(round(settling * preset.rate), 2))]
    constant = float(np.mean(before[len(before) // 2 :]))
    rows: list[HeldArmReading] = []
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


# A plan of open-loop experiments for every joint: how hard each may be driven, and for how long.

PERIOD, PERIODS = 0.4, 4
"""Of the square wave: length, s, and number."""
CLOCK, ORDER, SEQUENCES, DRAWS = 0.02, 6, 2, 8
"""Of the binary sequences: length of a bit, s, places of the register, how many are tried out on the arm, and
how many starting points are compared for each."""
_OF_TRAVEL, _OF_SPEED, _OF_EFFORT = 0.6, 0.8, 0.5
"""Shares of travel, speed limit and effort limit that the description may predict."""
_PACES, _OF_DRY = (1, 2, 4), 4.0
"""How much faster the torques may change, and the amplitude over dry friction that asks for it."""
_HALVINGS = 12
_GENTLER, _ATTEMPTS = 0.6, 4
"""Factor by which torques fall where a joint leaves its room at once, and how often."""


def nominal_posture(robot: Robot) -> Array:
    """Every turning joint at the right angle nearest to the middle of its limits, others in the middle.

    For the CRANE-X7 this is Posture A of Oaki et al. (2026): the fourth joint at -90°, all others at zero.

    Returns:
        Positions, shape (nv,), rad or m.
    """
    posture = np.zeros(robot.nv)
    for j, joint in enumerate(robot.joints):
        lower, upper = joint.limits.lower, joint.limits.upper
        if not (math.isfinite(lower) and math.isfinite(upper)):
            continue
        middle, quarter = 0.5 * (lower + upper), 0.25 * (upper - lower)
        right = round(middle / (0.5 * math.pi)) * 0.5 * math.pi
        posture[j] = right if joint.kind.rotates and abs(right - middle) <= quarter else middle
    return posture


def joint_experiments(
    robot: Robot,
    *,
    posture: ArrayLike,
    rng: np.random.Generator,
    sensor: str | SensorPreset = "low-cost",
    backlash: ArrayLike = 0.0,
    travel: float = 0.5,
    joints: Sequence[str] | None = None,
) -> Iterator[Recording]:
    """Drive one joint after the other with a square wave and binary sequences, see `open_loop`.

    Torques are as large as lets each joint, by the description, use most of its travel without nearing its
    speed or effort limit. Where a joint leaves its room at once, because gravity pulls it away, they are made
    smaller.

    Args:
        robot: the robot.
        posture: where the arm is held, shape (nv,), rad or m.
        rng: source of everything random, starting points of the sequences included.
        sensor: name of a preset, or a preset.
        backlash: play between each joint and its encoder, one for all or one each, shape () or (nv,), rad or
            m.
        travel: how far a joint may go to either side, rad or m.
        joints: names of those to drive, in this order; None for all.

    Yields:
        One recording after the other, those of one joint together.

    Raises:
        NoSolutionError: a joint cannot be kept within its room.
    """
    preset = sensor_preset(sensor)
    start = checked("posture", posture, (robot.nv,))
    for name in robot.joint_names if joints is None else joints:
        if name not in robot.joint_names:
            raise UnknownNameError("joint", name, robot.joint_names, place="joints")
        j = robot.joint_names.index(name)
        low, high = room_of(robot, j, start, travel)
        reach = min(high - start[j], start[j] - low)
        answers = _Answers(robot, j, start, 1.0 / preset.rate, reach)
        for shape in _shapes(answers, preset.rate, rng):
            amplitude = answers.amplitude(shape)
            for attempt in range(_ATTEMPTS):
                try:
                    yield open_loop(
                        robot,
                        name,
                        amplitude * _GENTLER**attempt * shape,
                        posture=start,
                        sensor=preset,
                        rng=rng,
                        backlash=backlash,
                        travel=travel,
                    )
                except NoSolutionError:
                    if attempt + 1 == _ATTEMPTS:
                        raise
                else:
                    break


class _Answers:
    """What the description says a joint does, the others held and gravity balanced."""

    def __init__(self, robot: Robot, j: int, posture: Array, cycle: float, travel: float) -> None:
        plant = Plant(robot)
        plant.place(posture, np.zeros(robot.nv))
        joint = robot.joints[j]
        self._inertia, self._cycle = float(plant.mass_matrix()[j, j]), cycle
        self._pole = math.exp(-(joint.drive.viscous or 0.0) * cycle / self._inertia)
        self.dry = joint.drive.coulomb or 0.0
        self._travel, self._speed = _OF_TRAVEL * travel, _OF_SPEED * joint.limits.velocity
        self._most = _OF_EFFORT * joint.limits.effort

    def ease(self, shape: Array) -> float:
        """Torque for each travel, without dry friction: the larger, the harder it can be driven."""
        v = recursion([-self._pole], self._cycle / self._inertia * shape)
        return 1.0 / float(np.abs(np.cumsum(v)).max() * self._cycle)

    def amplitude(self, shape: Array) -> float:
        """Largest amplitude of a torque of this shape that keeps travel, speed and effort, N·m or N."""
        low, high = self.dry, self.dry + self._travel * self.ease(shape)
        while high < self._most and self._kept(high * shape):
            low, high = high, 2.0 * high
        high = min(high, self._most)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._kept(middle * shape) else (low, middle)
        return low

    def _kept(self, torque: Array) -> bool:
        """Whether a joint that sticks and slips stays within its travel and speed."""
        q = v = 0.0
        h, pole, slope, grip = self._cycle, self._pole, self._cycle / self._inertia, self.dry
        for u in torque.tolist():
            free = pole * v + slope * u
            v = math.copysign(max(abs(free) - slope * grip, 0.0), free)
            q += h * v
            if abs(q) > self._travel or abs(v) > self._speed:
                return False
        return True


def _shapes(answers: _Answers, rate: float, rng: np.random.Generator) -> Iterator[Array]:
    """A square wave, and of some binary sequences those that let the joint be driven hardest.

    Where dry friction would take most of the torque, everything goes faster: the torque for a travel grows.
    """

    def strong(shape: Array) -> bool:
        return answers.amplitude(shape) >= _OF_DRY * answers.dry

    paces = [
        (square_wave(1.0, 4.0 * round(PERIOD * rate / pace / 4.0) / rate, pace * PERIODS, rate), pace)
        for pace in _PACES
    ]
    square, pace = next((item for item in paces if strong(item[0])), paces[-1])
    yield square
    clock = max(round(CLOCK * rate / pace), 1) / rate
    for _ in range(SEQUENCES):
        drawn = [prbs(1.0, clock, ORDER + round(math.log2(pace)), rate, rng) for _ in range(DRAWS)]
        yield max(drawn, key=answers.ease)
