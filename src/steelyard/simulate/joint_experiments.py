"""A plan of open-loop experiments for every joint: how hard each may be driven, and for how long."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.errors import NoSolutionError, UnknownNameError
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import recursion
from steelyard.simulate.open_loop import open_loop, room_of
from steelyard.simulate.plant import Plant
from steelyard.simulate.presets import sensor_preset
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.torque_inputs import prbs, square_wave

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

    For the CRANE-X7 this is paper 004's Posture A: the fourth joint at -90°, all others at zero.

    Args:
        robot: the robot.

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
