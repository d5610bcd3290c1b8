"""One trial: two random motions on a simulated robot, the first identified from, the second held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.audit import error_along, torque_error
from steelyard.campaign.robot_document import robot_of
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics
from steelyard.estimation import fit_by_name, torque_aligned
from steelyard.inertia import drawn_near
from steelyard.layout import layout_of
from steelyard.motion import FourierMotion, MotionSample, in_sequence, random_fourier
from steelyard.problem import Estimate, problem_of
from steelyard.recording import Recording, Step
from steelyard.robot import Robot
from steelyard.signals import prepared, without_turning
from steelyard.simulate import SENSORS, SensorPreset, simulate

RATE = 100.0
"""Samples in a second at which an estimate is compared with the truth, Hz."""
_SCALED = ("encoder", "torque_noise", "torque_bias", "torque_quantum", "current_quantum", "gain_error")
"""What the axis `noise` multiplies: all by which a reading is off. Timing and friction stay the preset's."""
_PARTS = ("train", "held_out")
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


def record(
    robot: Document,
    sensor: str,
    noise: float,
    motion: int,
    duration: float,
    prior_error: float,
    trial: int,
    seed: int,
) -> dict[str, Any]:
    """Run both motions on a simulated robot, one after the other, and make the logs ready.

    It is one run: bias, gain error and hidden friction are drawn once, and hold for both motions.

    Args:
        robot: document of the robot.
        sensor: name of the preset.
        noise: factor on its imperfections, dimensionless.
        motion: seed of the motions.
        duration: of each motion, s.
        prior_error: relative error of the links that are believed beforehand, dimensionless.
        trial: number of the trial.
        seed: of all that is random in this run.

    Returns:
        `train` and `held_out`, each with `time`, `q`, `v`, `a`, `tau` and its `history`; `prior`, the links
        believed beforehand, shape (10 L,), SI; `interval` of the log as it was recorded, s, zero where it is
        the truth and needs no preparation.
    """
    arm, preset = robot_of(robot), scaled_preset(sensor, noise)
    both = in_sequence([motion_of_seed(arm, motion, duration, part) for part in range(2)])
    log = simulate(arm, both, sensor=preset, rng=np.random.default_rng(seed))
    seam = int(np.searchsorted(log.time, duration))
    halves = (log.rows(slice(0, seam)), log.rows(slice(seam, None)))
    ready = [half if preset.truth else prepared(half).recording for half in halves]
    parts: dict[str, Any] = {part: _kept(half) for part, half in zip(_PARTS, ready, strict=True)}
    believed = _believed(arm, prior_error, np.random.default_rng([seed, 1]))
    return parts | {"prior": believed, "interval": 0.0 if preset.truth else 1.0 / preset.rate}


def fit(
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

    As `steelyard identify` does: torques are moved by their lag where sampling explains it, samples near
    which a joint turns are left out, and links are believed beforehand that are not the true ones.

    Args:
        recorded: result of `record`.
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
    train, held_out = (_log(arm, recorded[part]) for part in _PARTS)
    planned = motion_of_seed(arm, motion, duration, 0)
    layout = layout_of(arm, list(drive))
    prior = np.full(layout.size, np.nan)
    prior[: 10 * len(layout.links)] = recorded["prior"]
    if recorded["interval"] > 0.0:
        (train,), _ = torque_aligned(problem_of(arm, layout, [train]), [train], recorded["interval"])
        train = without_turning(train)
    at = planned.sample(train.time)
    instruments = (at.q, at.v, at.a) if method == "iv" else None
    problem = problem_of(arm, layout, [train], prior=prior)
    estimate = fit_by_name(problem, method, instruments=instruments)
    return {
        "sensor": sensor,
        "noise": noise,
        "motion": motion,
        "method": method,
        "trial": trial,
        "error": _off_the_truth(arm, estimate, planned.sample(np.arange(0.0, duration, 1.0 / RATE))),
        "held_out": float(error_along([held_out], [estimate.torque(arm, held_out)]).overall),
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
