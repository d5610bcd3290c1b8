"""Monte Carlo studies: sensors × noise × motions × methods, each tried several times on a simulated robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.audit import error_along, torque_error
from steelyard.campaigns.spec import CampaignPlan, Section, Spec, described_robot, robot_of
from steelyard.campaigns.task import Failure, Inputs, Task, TaskGraph, task_seed
from steelyard.consistency import sane_prior
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, SteelyardError, UnknownNameError
from steelyard.estimation import METHODS
from steelyard.identification import (
    WINDOWS,
    IdentificationData,
    identification_data,
    identification_fit,
    identification_problem,
)
from steelyard.inertia import drawn_near
from steelyard.layout import layout_of
from steelyard.motion import FourierMotion, MotionSample, in_sequence, random_fourier
from steelyard.problem import Estimate
from steelyard.recording import Recording, Step
from steelyard.robot import Robot
from steelyard.simulation import SENSORS, SensorPreset, simulate_motion
from steelyard.uncertainty import ACCURACY

# The study: every combination of named axes, several times, as tasks

Axes = Mapping[str, Mapping[str, Any]]
"""By axis, such as `noise` or `method`: labels, each with the JSON value it stands for."""


@dataclass(frozen=True)
class TrialCondition:
    """One combination of the axes.

    Attributes:
        labels: by axis.
        values: JSON values by axis.
    """

    labels: Mapping[str, str]
    values: Mapping[str, Any]


def conditions(axes: Axes) -> Iterator[TrialCondition]:
    """Every combination, the last axis fastest.

    Args:
        axes: labels with values, by axis.

    Yields:
        The combinations.

    Raises:
        InputError: an axis has no value.
    """
    if empty := [axis for axis, choices in axes.items() if not choices]:
        raise InputError(f"the axis '{empty[0]}' has no value.", place="axes")
    for chosen in product(*(choices.items() for choices in axes.values())):
        labels = {axis: label for axis, (label, _) in zip(axes, chosen, strict=True)}
        values = {axis: value for axis, (_, value) in zip(axes, chosen, strict=True)}
        yield TrialCondition(labels, values)


def trials(
    stage: str,
    function: str,
    axes: Axes,
    *,
    count: int,
    seed: int,
    version: str = "1",
    parameters: Mapping[str, Any] | None = None,
    inputs: Callable[[TrialCondition], Inputs] | None = None,
) -> tuple[Task, ...]:
    """The tasks of a study: every combination of the axes, `count` times.

    A task is named `stage.label.….trial`, and called with the value of each axis, the number of its `trial`
    and its own `seed`. More trials, labels or axes' values leave the other tasks, and their keys, as they
    are.

    Args:
        stage: kind of the tasks, and the beginning of their names.
        function: `package.module:function`.
        axes: labels with values, by axis, which is an argument of the function.
        count: trials of each combination.
        seed: of the campaign.
        version: of the function.
        parameters: further arguments, the same for all.
        inputs: gives the tasks whose results a combination takes; None for none.

    Raises:
        InputError: there are no trials, an axis has no value, or a label cannot be part of a name.
    """
    if count < 1:
        raise InputError(f"must be at least 1, got {count}.", place="trials")
    tasks = []
    for condition in conditions(axes):
        for trial in range(count):
            name = ".".join([stage, *condition.labels.values(), str(trial)])
            arguments = {**(parameters or {}), **condition.values}
            tasks.append(
                Task(
                    name=name,
                    function=function,
                    parameters={**arguments, "trial": trial, "seed": task_seed(seed, name)},
                    inputs={} if inputs is None else inputs(condition),
                    kind=stage,
                    version=version,
                )
            )
    return tuple(tasks)


# One trial: two random motions on a simulated robot, the first identified from, the second held out.

RATE = 100.0
"""Samples in a second at which an estimate is compared with the truth, Hz."""
_SCALED = ("encoder", "torque_noise", "torque_bias", "torque_quantum", "current_quantum", "gain_error")
"""What the axis `noise` multiplies: all by which a reading is off. Timing and friction stay the preset's."""
_HELD_OUT = "the motion held out"
_CHANNELS = ("q", "v", "a", "tau")

Document = Mapping[str, Any]


def motion_of_seed(robot: Robot, seed: int, duration: float, part: int) -> FourierMotion:
    """A random motion of a study.

    Args:
        robot: the robot.
        seed: of the motion.
        duration: s.
        part: 0 for the one to identify from, 1 for the one held out.

    Returns:
        The motion, at rest at both ends.
    """
    return random_fourier(robot, np.random.default_rng([seed, part]), period=duration)


def scaled_preset(sensor: str, noise: float) -> SensorPreset:
    """A preset with its imperfections multiplied.

    Args:
        sensor: name of the preset.
        noise: factor on encoder steps, noise, bias and quanta of torque and current, and gain error,
            dimensionless.

    Returns:
        The preset; delay, jitter, hidden friction and the lag of the velocity are as they were.

    Raises:
        InputError: there are no such imperfections, as with a gain error of one.
    """
    preset = SENSORS[sensor]
    changed = {name: noise * getattr(preset, name) for name in _SCALED}
    return replace(preset, name=f"{sensor} × {noise:g}", **changed)


def record_trial(
    robot: Document,
    sensor: str,
    noise: float,
    motion: int,
    duration: float,
    prior_error: float,
    drive: Sequence[str],
    every_sample: bool,
    trial: int,
    seed: int,
) -> dict[str, Any]:
    """Run both motions on a simulated robot, one after the other, and make the logs ready as `identify` does.

    It is one run: bias, gain error and hidden friction are drawn once, and hold for both motions.

    Args:
        robot: document of the robot.
        sensor: name of the preset.
        noise: factor on its imperfections, dimensionless.
        motion: seed of the motions.
        duration: of each motion, s.
        prior_error: relative error of the links that are believed beforehand, dimensionless.
        drive: drive terms of the model, by which the cut-off of the positions is chosen.
        every_sample: whether `momentum` is tried, which needs the first log at its own rate.
        trial: number of the trial.
        seed: of all that is random in this run.

    Returns:
        `train` and `held_out`, each with `time`, `q`, `v`, `a`, `tau` and its `history`; `every_sample`, the
        first at its own rate, or nothing; `prior`, the links believed beforehand, shape (10 L,), SI;
        `interval` of the log as it was recorded, s, None where it is the truth and is taken as it is.
    """
    arm, preset = robot_of(robot), scaled_preset(sensor, noise)
    both = in_sequence([motion_of_seed(arm, motion, duration, part) for part in range(2)])
    log = simulate_motion(arm, both, sensor=preset, rng=np.random.default_rng(seed))
    seam = int(np.searchsorted(log.time, duration))
    train, held_out = log.rows(slice(0, seam)), log.rows(slice(seam, None))
    layout = layout_of(arm, list(drive))
    if preset.truth:
        every = (train,) if every_sample else ()
        data = IdentificationData(arm, layout, (train,), held_out, _HELD_OUT, every_sample=every)
    else:
        method = WINDOWS if every_sample else "auto"
        data = identification_data(arm, layout, [train], held_out, method=method)
    return {
        "train": _kept(data.train[0]),
        "held_out": _kept(data.holdout),
        "every_sample": [_kept(one) for one in data.every_sample],
        "prior": _believed(arm, prior_error, np.random.default_rng([seed, 1])),
        "interval": data.interval,
    }


def fit_trial(
    recorded: Document,
    robot: Document,
    sensor: str,
    noise: float,
    motion: int,
    duration: float,
    trial: int,
    method: str,
    drive: Sequence[str],
) -> dict[str, Any]:
    """Identify the robot from one log and compare with the truth, which the simulation knows.

    It is the fit of `steelyard identify` with links believed beforehand that are not the true ones. What is
    compared is the method's own answer: links for those that ask for none, such as `ols`, are found
    afterwards by the same means for all, and would say nothing of the method.

    Args:
        recorded: result of `record_trial`.
        robot: document of the robot.
        sensor: name of the preset.
        noise: factor on its imperfections, dimensionless.
        motion: seed of the motions.
        duration: of each motion, s.
        trial: number of the trial.
        method: name of the estimator.
        drive: drive terms of the model.

    Returns:
        The condition; `error`, torques of the estimate off those of the description, along the planned motion
        it was identified from, percent; `held_out`, off those measured on the motion held out, percent;
        `cond`, dimensionless.
    """
    arm = robot_of(robot)
    planned = motion_of_seed(arm, motion, duration, 0)
    layout = layout_of(arm, list(drive))
    believed = np.full(layout.size, np.nan)
    believed[: 10 * len(layout.links)] = recorded["prior"]
    data = IdentificationData(
        arm,
        layout,
        (_log(arm, recorded["train"]),),
        _log(arm, recorded["held_out"]),
        _HELD_OUT,
        interval=recorded["interval"],
        every_sample=tuple(_log(arm, one) for one in recorded["every_sample"]),
        motion=planned,
    ).believing(sane_prior(arm, layout, believed))
    estimate = identification_fit(identification_problem(data), method).estimate
    return {
        "sensor": sensor,
        "noise": noise,
        "motion": motion,
        "method": method,
        "trial": trial,
        "error": _off_the_truth(arm, estimate, planned.sample(np.arange(0.0, duration, 1.0 / RATE))),
        "held_out": float(error_along([data.holdout], [estimate.torque(arm, data.holdout)]).overall),
        "cond": float(estimate.condition),
    }


def _off_the_truth(arm: Robot, estimate: Estimate, at: MotionSample) -> float:
    """In percent of the rms of the true torque."""
    truth = layout_of(arm, [term.name for term in DRIVE_TERMS])
    wanted = inverse_dynamics(arm, truth, truth.complete_nominal(), at.q, at.v, at.a)
    found = inverse_dynamics(arm, estimate.layout, estimate.representative, at.q, at.v, at.a)
    return float(torque_error(wanted, found).overall)


def _believed(arm: Robot, error: float, rng: np.random.Generator) -> Array:
    """The description's links with a relative error."""
    layout = layout_of(arm)
    links = np.array(layout.nominal[: 10 * len(layout.links)])
    for k in range(0, len(links), 10):
        links[k : k + 10] = drawn_near(links[k : k + 10], error, rng)
    return links


def _kept(log: Recording) -> dict[str, Any]:
    signals: dict[str, Array] = {name: log.channels[name] for name in _CHANNELS}
    history = [{"action": step.action, "detail": to_document(step.detail)} for step in log.provenance]
    return {"time": log.time, "history": history, **signals}


def _log(arm: Robot, kept: Document) -> Recording:
    history = tuple(Step(step["action"], step["detail"]) for step in kept["history"])
    signals = {name: kept[name] for name in _CHANNELS}
    return Recording(arm.joint_names, kept["time"], provenance=history, **signals)


# What a Monte Carlo study is asked to do, read from its file.

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
            simulate_motion(robot, motion, sensor=presets[0], rng=rng, duration=two_cycles)
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


# The answer of a Monte Carlo study: what the trials of every combination came to.

FIGURES = ("error", "held_out", "cond")
"""What a trial is judged by."""
_QUARTILES = {"lower_quartile": 25, "median": 50, "upper_quartile": 75}


def trial_table(tried: Mapping[str, Mapping[str, Any] | Failure], axes: Mapping[str, Any]) -> dict[str, Any]:
    """Medians and quartiles of every combination.

    Args:
        tried: all trials, by task.
        axes: values by axis.

    Returns:
        `rows`, one for each combination: its values, how many `trials` gave a result, and of each figure the
        median and the quartiles, None where no trial gave one; `trials`, all that gave a result; `failed`,
        reasons by task.
    """
    done = [dict(result) for result in tried.values() if not isinstance(result, Failure)]
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in done:
        alike.setdefault(tuple(one[axis] for axis in axes), []).append(one)
    rows = []
    for values in product(*axes.values()):
        mine = alike.get(values, [])
        rows.append(
            dict(zip(axes, values, strict=True))
            | {"trials": len(mine)}
            | {figure: _spread([one[figure] for one in mine]) for figure in FIGURES}
        )
    failed = {name: result.reason for name, result in tried.items() if isinstance(result, Failure)}
    return {"rows": rows, "trials": done, "failed": failed}


def _spread(values: list[float]) -> dict[str, float] | None:
    if not values:
        return None
    with np.errstate(invalid="ignore"):
        found = np.percentile(values, list(_QUARTILES.values()))
    # Between two infinities, as of the condition number of blind data, interpolation knows no value.
    return {name: float(np.inf if np.isnan(x) else x) for name, x in zip(_QUARTILES, found, strict=True)}


# The tasks of a Monte Carlo study: every log once, every method on every log, and one table.

VERSION = "4"
"""Of the tasks: raised when what one of them computes changes."""
_ROOM = "steelyard.campaigns.monte_carlo"
"""Where the stages are."""


def monte_carlo(spec: Spec) -> CampaignPlan:
    """Turn the file of a Monte Carlo study into tasks.

    All methods are tried on the same logs, so that what they differ by is not chance; logs of different
    sensors, noise, motions and trials are independent.

    Args:
        spec: the file, see `Study`.

    Returns:
        The tasks, and the one that answers.

    Raises:
        InputError: something is missing, unknown or cannot run; the message says the line.
    """
    study, robot = read_study(spec), described_robot(spec)
    runs: dict[str, dict[str, Any]] = {
        "sensor": {name: name for name in study.sensors},
        "noise": {f"{factor:g}": factor for factor in study.noise},
        "motion": {str(seed): seed for seed in study.motions},
    }
    common = {
        "robot": robot,
        "duration": study.duration,
        "prior_error": study.prior_error,
        "drive": list(study.drive),
        "every_sample": WINDOWS in study.methods,
    }
    logs = trials(
        "record",
        f"{_ROOM}:record_trial",
        runs,
        count=study.trials,
        seed=spec.seed,
        version=VERSION,
        parameters=common,
    )
    fits = [_fit(log, method) for method in study.methods for log in logs]
    axes = {axis: list(values.values()) for axis, values in runs.items()} | {"method": list(study.methods)}
    answer = Task(
        "answer",
        f"{_ROOM}:trial_table",
        {"axes": axes},
        {"tried": tuple(task.name for task in fits)},
        "answer",
        VERSION,
        accepts_failed=True,
    )
    return CampaignPlan(TaskGraph([*logs, *fits, answer]), "answer")


def _fit(log: Task, method: str) -> Task:
    """One method on one log, named `fit.sensor.noise.motion.method.trial`."""
    condition, _, trial = log.name.removeprefix("record.").rpartition(".")
    names = ("robot", "sensor", "noise", "motion", "duration", "trial", "drive")
    parameters = {name: log.parameters[name] for name in names} | {"method": method}
    name = f"fit.{condition}.{method}.{trial}"
    return Task(name, f"{_ROOM}:fit_trial", parameters, {"recorded": log.name}, "fit", VERSION)
