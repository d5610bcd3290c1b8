"""The method `clie`: logs at the control cycle become runs of a closed loop, by which links are refined.

A run begins with the arm at rest, just before the motion that the log is learnt from, or with the log; and it
ends where that motion ends, or where what is kept apart begins. Torques are compared as means over blocks, so
many to a period of the highest frequency at which torques are compared at all.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.control import LoopSettings
from steelyard.errors import InputError
from steelyard.estimation.closed_loop import (
    CommandMatch,
    LoopRun,
    command_match,
    fit_closed_loop,
    loop_run,
)
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.motion import Motion
from steelyard.problem import Estimate, Problem
from steelyard.progress import say
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop
from steelyard.signals import band_of, sampling_of

BLOCKS_A_PERIOD = 4.0
"""Blocks to a period of the highest frequency at which torques are compared."""
REST = 0.2
"""Rest before the motion with which a run begins, s; a shorter one is no pause of the log."""
DOUBTFUL, REFUSED = 0.1, 0.5
"""Shares of a joint's torque, as rms, that the controller's commands may leave before it is told, and before
the controller is refused."""
_FIRST = 10
_SAME = 1e-3
_REFERENCES = ("q_ref", "v_ref", "a_ref")


@dataclass(frozen=True, eq=False)
class LoopLog:
    """A log as it was recorded, and the time of it that may be learnt from.

    Attributes:
        name: of its file.
        recording: at the control cycle, with torques.
        begin: when the motion begins, s.
        end: last time that may be learnt from, s.
    """

    name: str
    recording: Recording
    begin: float
    end: float


def fitted_by_loop(
    problem: Problem,
    logs: Sequence[LoopLog],
    train: Sequence[Recording],
    controller: LoopSettings | FilePath | None,
    motion: Motion | None,
) -> Estimate:
    """Refine by what the controller commanded in all logs together.

    Args:
        problem: the question, with the samples that give the start.
        logs: as they were recorded, at the control cycle.
        train: the same made ready.
        controller: the control law, or its file.
        motion: what it was told to follow; None for the references of the logs.

    Returns:
        The estimate, with the blocks and shifts of torques in its detail.

    Raises:
        InputError: there is no controller, it made other logs, or a log has no references.
    """
    if controller is None:
        raise InputError(
            "clie simulates the closed loop, so it needs the controller.",
            place="--controller",
            remedy="Give the file of the controller that moved the robot; `steelyard joints` designs one.",
        )
    settings, name = _settings(controller, problem.robot)
    loop = _loop(settings, name)
    loop.commands(problem.robot)
    average = _cycles_in_a_block(train, loop.cycle)
    runs, findings, shifts = [], [], []
    for log in logs:
        followed = _followed(log, loop.cycle, motion)
        match = command_match(settings.controller, followed, average)
        findings += _doubts(log, match, settings, problem, name)
        shifts.append(match.cycles)
        runs.append(_run(log, match.aligned(followed), average * loop.cycle))
    say(
        f"   the loop is simulated in cycles of {1e3 * loop.cycle:g} ms with a delay of "
        f"{1e3 * loop.delay:g} ms; torques are compared in blocks of {1e3 * average * loop.cycle:g} ms"
    )
    estimate = fit_closed_loop(problem, runs, loop)
    detail = {**estimate.detail, "block": average * loop.cycle, "torque_shifts": shifts}
    return replace(estimate, findings=(*findings, *estimate.findings), detail=detail)


def _settings(controller: LoopSettings | FilePath, robot: Robot) -> tuple[LoopSettings, str]:
    """The controller with its timing, and what to call it."""
    if isinstance(controller, LoopSettings):
        return controller, "the controller given"
    return LoopSettings.read(controller, robot), os.fspath(controller)


def _loop(settings: LoopSettings, place: str) -> ClosedLoop:
    if settings.cycle is None:
        raise InputError("states no cycle.", place=place, remedy="State the control cycle, in s.")
    return ClosedLoop(settings.controller, settings.cycle, settings.delay)


def _cycles_in_a_block(train: Sequence[Recording], cycle: float) -> int:
    bands = [band for log in train if (band := band_of(log)) is not None]
    return max(1, math.floor(1.0 / (BLOCKS_A_PERIOD * max(bands) * cycle)))


def _followed(log: LoopLog, cycle: float, motion: Motion | None) -> Recording:
    """The log with its references, one row for each control cycle."""
    recording, sampling = log.recording, sampling_of(log.recording)
    if not sampling.is_uniform or abs(sampling.interval - cycle) > _SAME * cycle:
        even = "even" if sampling.is_uniform else "uneven"
        raise InputError(
            f"has {even} intervals of {1e3 * sampling.interval:.6g} ms, but the controller's cycle is "
            f"{1e3 * cycle:g} ms.",
            place=log.name,
            remedy="Log one row for each control cycle, with even time; or choose a method without "
            "--controller.",
        )
    if motion is not None:
        asked = motion.sample(recording.time)
        return recording.with_channels(q_ref=asked.q, v_ref=asked.v, a_ref=asked.a)
    if missing := [name for name in _REFERENCES if name not in recording.channels]:
        raise InputError(
            f"has no references {', '.join(missing)}, which the controller followed.",
            place=log.name,
            remedy="Log them (qref_…, vref_…, aref_…), or give the planned --motion.",
        )
    return recording


def _doubts(
    log: LoopLog, match: CommandMatch, settings: LoopSettings, problem: Problem, controller: str
) -> list[Finding]:
    """Whether this controller made this log: its commands, its delay, and the limits of the drives."""
    joints, found, h = problem.robot.joint_names, [], float(settings.cycle or 0.0)
    j = int(np.argmax(match.unexplained))
    words = (
        f"its commands, computed again from {log.name}, leave {100 * match.unexplained[j]:.0f} % of the "
        f"torque of joint '{joints[j]}'."
    )
    if match.unexplained[j] > REFUSED:
        raise InputError(
            words,
            place=f"--controller {controller}",
            remedy="Give the controller that made this log, with its gains, and the references it followed.",
        )
    if match.unexplained[j] > DOUBTFUL:
        found.append(Finding(Severity.WARNING, "other-controller", words, Path(controller).name))
    late = settings.delay / h
    if match.cycles and not match.cycles - 1 - _SAME < late <= match.cycles + _SAME:
        message = (
            f"states a delay of {1e3 * settings.delay:g} ms, but in {log.name} torques follow commands after "
            f"{match.cycles} cycles of {1e3 * h:g} ms."
        )
        found.append(Finding(Severity.WARNING, "other-delay", message, Path(controller).name))
    most = np.array([joint.limits.effort for joint in problem.robot.joints])
    if (cut := np.abs(match.commands) > most).any():
        share = 100.0 * float(cut.any(axis=1).mean())
        message = (
            f"commands exceed the torque limits in {share:.2g} % of the cycles; the simulation has none."
        )
        found.append(Finding(Severity.WARNING, "beyond-torque-limits", message, log.name))
    return found


def _run(log: LoopLog, recording: Recording, interval: float) -> LoopRun:
    h = interval * 1e-6
    part = recording.window(log.begin - REST - h, log.end + h)
    run = loop_run(part, interval)
    # A straight line through the first cycles: one reading may be half a step of the encoder off.
    k = np.arange(min(_FIRST, part.n), dtype=float)
    slope, start = np.polyfit(k * (part.time[1] - part.time[0]), part.q[: k.size], 1)
    return replace(run, q_start=start, v_start=slope)
