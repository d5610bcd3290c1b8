"""What a Monte Carlo study is asked to do, read from its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from steelyard.campaign.monte_carlo.trial import motion_of_seed, scaled_preset
from steelyard.campaign.robot_document import described_robot, robot_of
from steelyard.campaign.section import Section
from steelyard.campaign.spec import Spec
from steelyard.drive import DRIVE_TERMS
from steelyard.errors import InputError, SteelyardError, UnknownNameError
from steelyard.estimation import METHODS
from steelyard.robot import Robot
from steelyard.simulate import SENSORS, simulate
from steelyard.uncertainty import ACCURACY

MOST_FITS = 100_000
"""Largest number of fits: more is a slip of the pen."""
LONGEST = 600.0
"""Longest motion, s."""
LARGEST_NOISE = 1e12
"""Largest factor on a sensor's imperfections: beyond it nothing is measured."""
LARGEST_ERROR = 1.0
"""Largest relative error of a prior: beyond it nothing is believed."""
T = TypeVar("T")


@dataclass(frozen=True)
class Study:
    """A Monte Carlo study.

    Attributes:
        robot: zoo name or path of the description.
        sensors: names of presets.
        noise: factors on their imperfections, dimensionless.
        motions: seeds of random motions.
        methods: names of estimators.
        drive: drive terms of the model.
        duration: of each motion, s.
        prior_error: relative error of the links that are believed beforehand, dimensionless.
        trials: how often each combination is tried.
    """

    robot: str
    sensors: tuple[str, ...]
    noise: tuple[float, ...]
    motions: tuple[int, ...]
    methods: tuple[str, ...]
    drive: tuple[str, ...]
    duration: float
    prior_error: float
    trials: int


def read_study(spec: Spec) -> Study:
    """Read what is asked, and refuse what cannot run before anything does.

    Args:
        spec: the file: `[robot]`, see `described_robot`, and `[study]` with the other fields of `Study`.

    Returns:
        The study.

    Raises:
        InputError: something is missing, unknown, out of range or said twice; the message has the line.
    """
    described, asked = spec.content.section("robot"), spec.content.section("study")
    study = Study(
        robot=described.text("name"),
        sensors=_names(asked, "sensors", tuple(SENSORS), ("industrial",)),
        noise=_each_once(asked, "noise", asked.numbers("noise", (1.0,))),
        motions=_seeds(asked),
        methods=_names(asked, "methods", METHODS, ("ols", "wls")),
        drive=_names(asked, "drive", [term.name for term in DRIVE_TERMS], ("viscous", "coulomb", "rotor")),
        duration=asked.number("duration", 10.0, least=1.0),
        prior_error=asked.number("prior_error", ACCURACY, least=0.0),
        trials=asked.integer("trials", 3, least=1),
    )
    try:
        robot = robot_of(described_robot(spec))
    except SteelyardError as error:
        if error.place.startswith(described.place("limits")):
            raise
        raise _at(described.place("name"), error) from error
    spec.content.refuse_others()
    if min(study.noise) < 0.0:
        raise InputError(f"must not be negative, got {min(study.noise):g}.", place=asked.place("noise"))
    if max(study.noise) > LARGEST_NOISE:
        raise InputError(
            f"must be at most {LARGEST_NOISE:g}, got {max(study.noise):g}.", place=asked.place("noise")
        )
    if study.duration > LONGEST:
        raise InputError(
            f"must be at most {LONGEST:g} s, got {study.duration:g} s.", place=asked.place("duration")
        )
    if study.prior_error > LARGEST_ERROR:
        raise InputError(
            f"must be at most {LARGEST_ERROR:g}, got {study.prior_error:g}.", place=asked.place("prior_error")
        )
    axes = (study.sensors, study.noise, study.motions, study.methods)
    count = int(np.prod([len(axis) for axis in axes], dtype=object)) * study.trials
    if count > MOST_FITS:
        raise InputError(f"asks for {count} fits, at most {MOST_FITS} are run.", place=asked.place("trials"))
    _require_runnable(study, robot, described, asked)
    return study


def _require_runnable(study: Study, robot: Robot, described: Section, asked: Section) -> None:
    """Run the robot with every sensor for two cycles."""
    try:
        motion = motion_of_seed(robot, study.motions[0], study.duration, 0)
    except SteelyardError as error:
        raise _at(described.place("name"), error) from error
    for sensor in study.sensors:
        try:
            presets = [scaled_preset(sensor, factor) for factor in study.noise]
        except SteelyardError as error:
            raise _at(asked.place("noise"), error) from error
        try:
            rng, two_cycles = np.random.default_rng(0), 2.0 / presets[0].rate
            simulate(robot, motion, sensor=presets[0], rng=rng, duration=two_cycles)
        except SteelyardError as error:
            raise _at(asked.place("sensors"), error) from error


def _at(place: str, error: SteelyardError) -> InputError:
    within = f"{error.place}: " if error.place else ""
    return InputError(f"{within}{error.message}", place=place, remedy=error.remedy, evidence=error.evidence)


def _names(asked: Section, key: str, known: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
    given = asked.texts(key, default)
    for name in given:
        if name not in known:
            raise UnknownNameError(key.removesuffix("s"), name, known, place=asked.place(key))
    return given if key == "drive" and not given else _each_once(asked, key, given)


def _seeds(asked: Section) -> tuple[int, ...]:
    given = _each_once(asked, "motions", asked.numbers("motions", (1.0,)))
    if any(x < 0.0 or x != int(x) or x >= 2.0**53 for x in given):
        raise InputError("must be seeds: whole numbers, not negative.", place=asked.place("motions"))
    return tuple(int(x) for x in given)


def _each_once(asked: Section, key: str, given: tuple[T, ...]) -> tuple[T, ...]:
    if not given:
        raise InputError("must have at least one entry.", place=asked.place(key))
    if len({_label(x) for x in given}) < len(given):
        raise InputError("has an entry twice.", place=asked.place(key))
    return given


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
