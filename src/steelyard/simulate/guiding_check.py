"""Whether a model is good enough for hand guiding: what drifts without a hand, and what a hand must exert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import checked
from steelyard.control import Admittance
from steelyard.errors import InputError
from steelyard.robot import Robot
from steelyard.simulate.actuation import TorqueLimiter
from steelyard.simulate.guided_run import GuidedRun, guided_run
from steelyard.simulate.hand import Hand
from steelyard.simulate.plant import Plant
from steelyard.simulate.presets import sensor_preset
from steelyard.simulate.sensor import SensorPreset
from steelyard.simulate.specimen import drawn_specimen, effort_limits


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
    r"""Try hand guiding in simulation: the check of paper 003, section V-C, which was done on hardware.

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
    specimen = drawn_specimen(preset, robot, rng)
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
